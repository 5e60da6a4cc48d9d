"""The first step at which a kernel and its reference part is that of the planted mistake, or a later one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.reference.kernels import Case, cases
from triton_lab.launch.reference.parting_search import parting

CASES = {case.name: case for case in cases()}


@triton.jit
def summed_in_steps(a_ptr, b_ptr, o_ptr, K, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, 16)
    total = tl.zeros((16, 16), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        total += tl.dot(tl.load(a_ptr + i[:, None] * K + k[None, :]), tl.load(b_ptr + k[:, None] * 16 + i[None, :]))
    tl.store(o_ptr + i[:, None] * 16 + i[None, :], total * SCALE)


def recorded(case: Case, folder: Path, mistake: int | None = None) -> tuple[lab.Launch, int]:
    kernel, line = case.build(folder, None if mistake is None else case.mistakes[mistake])
    return case.record(kernel), line


@pytest.mark.parametrize("name", CASES)
def test_a_right_kernel_does_not_part(name: str, tmp_path: Path) -> None:
    launch, _ = recorded(CASES[name], tmp_path)
    assert parting(launch, CASES[name].reference) is None


@pytest.mark.parametrize(
    ("name", "mistake"), [(case.name, k) for case in CASES.values() for k in range(len(case.mistakes))]
)
def test_they_part_at_the_mistake_or_after_it(name: str, mistake: int, tmp_path: Path) -> None:
    launch, line = recorded(CASES[name], tmp_path, mistake)
    found = parting(launch, CASES[name].reference)
    assert found is not None and found.line is not None
    # A mistake shows in the first value that it changes: where its line assigns none, that is a later one.
    assert line <= found.line <= line + 3
    assert all((one.kernel.line or 0) <= found.line for one in found.matches)


def test_a_missing_scale_is_a_factor(tmp_path: Path) -> None:
    launch, _ = recorded(CASES["scores"], tmp_path, 1)
    found = parting(launch, CASES["scores"].reference)
    assert found is not None and found.reference is not None
    assert found.factor == pytest.approx(4.0)
    assert found.reference.operation == "mul"
    (before,) = found.matches
    assert before.kernel.name == "acc" and before.reference.text == "q_ptr @ k_ptr.T"


def test_the_steps_of_a_sum_that_is_right_do_not_part() -> None:
    a, b = (torch.randn(*shape, generator=torch.Generator().manual_seed(3)) for shape in ((16, 64), (64, 16)))
    with lab.record() as launches:
        summed_in_steps[(1,)](a, b, torch.empty(16, 16), 64, SCALE=1.0, BLOCK=16)
    found = parting(launches[0], lambda a_ptr, b_ptr, **_: (a_ptr @ b_ptr) * 0.125)
    assert found is not None and found.instead is not None and found.reference is not None
    assert (found.instead.reference.operation, found.reference.operation) == ("mm", "mul")


def test_a_transposed_tile_is_found(tmp_path: Path) -> None:
    launch, _ = recorded(CASES["scores"], tmp_path, 0)

    def reference(q_ptr: torch.Tensor, k_ptr: torch.Tensor, scale: float, **_: object) -> torch.Tensor:
        transposed = k_ptr @ q_ptr.T
        return torch.relu(transposed.T * scale)

    found = parting(launch, reference)
    assert found is not None and found.kernel is not None and found.kernel.name == "scaled"
    (before,) = [one for one in found.matches if one.kernel.name == "acc"]
    assert before.found.is_transposed


def test_a_function_that_was_compared_is_the_reference(tmp_path: Path) -> None:
    launch, line = recorded(CASES["gelu"], tmp_path, 0)
    comparison = lab.compare(launch, CASES["gelu"].reference)
    assert comparison.parting is not None and comparison.parting.line == line
    assert lab.compare(launch, torch.zeros(30, 30)).parting is None
    explanation = lab.explain(launch, CASES["gelu"].reference)
    assert explanation.parting is not None and explanation.parting.line == line


def test_the_picture_has_both_sides_in_all_forms(tmp_path: Path) -> None:
    launch, line = recorded(CASES["layer_norm"], tmp_path, 3)
    found = parting(launch, CASES["layer_norm"].reference)
    assert found is not None
    view = found.plot()
    words = [item["text"] for item in view.scene()["items"] if item["what"] == "words"]
    assert any(text.startswith(f"line {line}") for text in words) and "≠" in words
    assert str(line) in view.text()
    assert view.figure().get_size_inches().min() > 1


def test_it_ends_when_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launch, _ = recorded(CASES["gelu"], tmp_path, 0)
    monkeypatch.setattr("triton_lab.launch.reference.parting_search.SECONDS", -1.0)
    with pytest.raises(lab.CannotReplay):
        parting(launch, CASES["gelu"].reference)


def test_a_reference_that_takes_too_much_memory_is_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launch, _ = recorded(CASES["gelu"], tmp_path, 0)
    monkeypatch.setattr("triton_lab.launch.reference.reference_trace.MOST_STEPS", 3)
    with pytest.raises(lab.CannotReplay):
        parting(launch, CASES["gelu"].reference)
