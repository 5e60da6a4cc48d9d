"""What the CPU target promises of every example: nothing to find in it, and equal bits in batches of any size."""

from __future__ import annotations

import dataclasses

import pytest
import torch

import triton_lab
from triton_lab.backend.plugin import launcher
from triton_lab.examples import Example, all_examples
from triton_lab.native import engine

by_name = pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)

# Float sums whose order is that in which programs come: atomics, and a sum under locks.
ORDER_OF_ARRIVAL = {"split_k_matmul"}

# What NumPy's engine may be left, and why.
LEFT = {
    "producer_consumer": "a program waited for a later one",
    "grouped_gemm": "it reaches memory that none of its arguments vouches for",
}


@by_name
def test_example_has_no_error_and_no_warning(each: Example) -> None:
    with triton_lab.record() as launches:
        each.run(**each.inputs("small", 0, "cpu"))
    assert launches
    found = [found for launch in launches for found in launch.findings if found.severity != "note"]
    assert not found, "\n\n".join(map(str, found))


@by_name
def test_example_has_equal_bits_in_batches_of_any_size(each: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    if each.name in ORDER_OF_ARRIVAL:
        pytest.skip("its additions happen in the order of arrival")
    results = []
    for batch in (1, 7, None):
        # Batches are NumPy's: a kernel that turns native between two of them may differ in a sum's last bit.
        chosen = dataclasses.replace(launcher.limits, batch=batch, engine="numpy")
        monkeypatch.setattr(launcher, "limits", chosen)
        result = each.run(**each.inputs("small", 0, "cpu"))
        results.append(result if isinstance(result, tuple) else (result,))
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], rtol=0, atol=0)


@by_name
def test_example_agrees_with_torch_on_the_native_engine(each: Example) -> None:
    engine.lately.clear()
    with triton_lab.limits(engine="native"):
        each.check_on(**each.inputs("small", 0, "cpu"))
    # Launches of this grid in other tests may have been put back, too: then the reason says so.
    left = LEFT.get(each.name)
    assert engine.lately and all(not ran.why or (left and ran.why.startswith(left)) for ran in engine.lately)
