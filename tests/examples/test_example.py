"""The list of examples: one list for notebooks, tests and benchmarks."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from triton_lab.examples import Example, all_examples, example

by_name = pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)


def tensors(inputs: dict[str, object]) -> list[torch.Tensor]:
    flat = [value if isinstance(value, list) else [value] for value in inputs.values()]
    return [value for values in flat for value in values if isinstance(value, torch.Tensor)]


@by_name
def test_example_agrees_with_torch(each: Example) -> None:
    each.check()


@by_name
def test_equal_seeds_give_equal_inputs_and_other_seeds_others(each: Example) -> None:
    first, again, other = (tensors(each.inputs("small", seed, "cpu")) for seed in (3, 3, 4))
    torch.testing.assert_close(first, again, rtol=0, atol=0)
    assert any(a.shape != b.shape or (a != b).any() for a, b in zip(first, other, strict=True))


@by_name
def test_reference_leaves_its_inputs_alone(each: Example) -> None:
    given = each.inputs("small", 0, "cpu")
    each.reference(**given)
    torch.testing.assert_close(tensors(given), tensors(each.inputs("small", 0, "cpu")), rtol=0, atol=0)


def test_names_are_unique() -> None:
    names = [each.name for each in all_examples()]
    assert len(names) == len(set(names))


def test_an_example_is_found_by_its_name() -> None:
    assert example("softmax").title == "Fused softmax"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"'soft_max'.* vector_add, .*softmax"):
        example("soft_max")


def test_the_list_is_light() -> None:
    """A gallery or a command line can list pages without paying for torch and Triton."""
    script = "import sys, triton_lab.examples; print(sorted({'torch', 'triton'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
