"""Where tensors lie in memory, against torch and brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wordings import Wording
from triton_lab.launch.maps.tensor_storage import arithmetic, cover, is_contiguous, memories, stored, traits


def test_the_split_demo_has_the_offsets_and_strides_that_torch_has() -> None:
    original = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    left, right = torch.split(original, [2, 4], dim=1)
    a, b = stored(left, "left"), stored(right, "right")
    assert (a.shape, a.strides, a.offset) == ((4, 2), (6, 1), 0)
    assert (b.shape, b.strides, b.offset) == ((4, 4), (6, 1), 2)
    assert (b.offset - a.offset) * a.itemsize == 8
    assert not is_contiguous(a) and not is_contiguous(b)
    assert [(m.letter, m.nbytes, m.tensors) for m in memories([a, b])] == [("A", 96, (0, 1))]
    found = cover([a, b], memories([a, b])[0])
    assert found.sets.reshape(4, 6).tolist() == [[1, 1, 2, 2, 2, 2]] * 4
    assert found.overlap(0, 1) == 0
    assert arithmetic(b, (1, 3)) == "2 + 1·6 + 3·1 = 11"


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_covers_agree_with_brute_force(data: st.DataObject) -> None:
    """Several as_strided views of one storage, some of them reinterpreted as bytes."""
    base = torch.zeros(40, dtype=torch.float32)
    tensors = []
    for number in range(data.draw(st.integers(1, 3))):
        shape = data.draw(st.lists(st.integers(0, 4), max_size=3))
        strides = data.draw(st.lists(st.integers(0, 4), min_size=len(shape), max_size=len(shape)))
        view = torch.as_strided(base, shape, strides, data.draw(st.integers(0, 3)))
        if data.draw(st.booleans()) and shape and strides[-1] == 1 and shape[-1] > 0:
            view = view.view(torch.uint8)
        tensors.append(stored(view, f"t{number}"))
    (memory,) = memories(tensors)
    found = cover(tensors, memory)
    expected = np.zeros((len(tensors), memory.nbytes), dtype=int)
    for number, tensor in enumerate(tensors):
        for index in itertools.product(*map(range, tensor.shape)):
            place = tensor.offset + sum(i * s for i, s in zip(index, tensor.strides, strict=True))
            expected[number, place * tensor.itemsize : (place + 1) * tensor.itemsize] += 1
    counts = np.repeat(found.counts, found.unit, axis=1)
    assert counts.tolist() == expected.tolist()
    bits = (expected > 0).astype(int) << np.arange(len(tensors))[:, None]
    assert np.repeat(found.sets, found.unit).tolist() == bits.sum(axis=0).tolist()
    common = ((expected[0] > 0) & (expected[-1] > 0)).sum()
    assert found.overlap(0, len(tensors) - 1) == common


def test_only_the_covered_stretch_of_a_large_storage_is_told() -> None:
    view = torch.zeros(1 << 20)[500_000:500_100]
    tensor = stored(view, "view")
    found = cover([tensor], memories([tensor])[0], slack=16)
    assert found.first == 499_984 and len(found.sets) == 132


def test_tensors_that_share_memory_without_sharing_a_storage_share_a_letter() -> None:
    array = np.zeros(16, dtype=np.float32)
    a, b = torch.from_numpy(array[:12]), torch.from_numpy(array[4:])
    other = torch.zeros(3)
    tensors = [stored(t, n) for t, n in ((other, "other"), (a, "a"), (b, "b"))]
    found = memories(tensors)
    assert [(m.letter, m.tensors) for m in found] == [("A", (0,)), ("B", (1, 2))]
    assert cover(tensors, found[1]).overlap(1, 2) == 8 * 4


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.zeros(3, 4), ["contiguous"]),
        (torch.zeros(()), ["contiguous"]),
        (torch.zeros(0, 3), ["no elements"]),
        (torch.zeros(3, 4).t(), ["transposed"]),
        (torch.zeros(4, 6)[:, 2:], ["gaps: 16 of 22 places used"]),
        (torch.zeros(6, 4).t()[1:], ["transposed", "gaps: 18 of 23 places used"]),
        (torch.zeros(8).as_strided((3, 4), (2, 1)), ["overlaps itself"]),
    ],
)
def test_traits(tensor: torch.Tensor, expected: list[str]) -> None:
    assert traits(stored(tensor, "x")) == expected
    assert ("contiguous" in expected or "no elements" in expected) == tensor.is_contiguous()


def test_an_expanded_tensor_says_how_often_it_reads_a_place(wording: Wording) -> None:
    for times in (3, 7):
        (trait,) = traits(stored(torch.zeros(4).expand(times, 4), "x"))
        wording(trait, "expanded", times=times)


def test_what_has_no_strides_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"^x .* ndarray.*torch.as_tensor\(x\)"):
        stored(np.zeros(3), "x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^s .* sparse_coo"):
        stored(torch.eye(3).to_sparse(), "s")


def test_letters_go_on_after_z() -> None:
    tensors = [stored(torch.zeros(1), str(number)) for number in range(28)]
    kept = [torch.zeros(1) for _ in range(28)]
    tensors = [stored(tensor, "x") for tensor in kept]
    assert [memory.letter for memory in memories(tensors)][24:] == ["Y", "Z", "AA", "AB"]


@pytest.mark.parametrize("count", [62, 63, 64, 70])
def test_a_set_has_a_bit_for_each_tensor_and_none_is_its_sign(count: int) -> None:
    base = torch.zeros(80)
    tensors = [stored(base[number : number + 2], f"t{number}") for number in range(count)]
    (memory,) = memories(tensors)
    found = cover(tensors, memory)
    assert found.tensors == tuple(range(min(count, 63)))
    told = [0] * 80
    for number in found.tensors:
        told[number] |= 1 << number
        told[number + 1] |= 1 << number
    assert found.sets.tolist() == told


@pytest.mark.parametrize(("units", "whole"), [(4096, True), (4097, False)])
def test_bare_memory_is_left_out_of_large_storages_alone(units: int, whole: bool) -> None:
    tensor = stored(torch.zeros(units)[100:110], "t")
    found = cover([tensor], memories([tensor])[0], slack=3)
    assert (found.first, found.units) == ((0, units) if whole else (97, 16))
    # Of which a quarter is covered, too.
    tensor = stored(torch.zeros(units)[: units // 4 + 1], "t")
    assert cover([tensor], memories([tensor])[0], slack=3).units == units
