"""`lab.layout`: who holds an element, what a thread holds, and where in shared memory it lies."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings

import triton_lab as lab
from tests.compiled.layouts.random_layouts import Asked, register_layouts
from tests.wordings import Wording
from triton_lab.compiled.layouts import Layout, layouts

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"


@settings(max_examples=12, deadline=None)
@given(register_layouts())
def test_owners_and_elements_are_each_others_inverse(asked: Asked) -> None:
    layout = lab.layout(asked.spelled, asked.shape)
    assume(layout.linear.table().size <= 1 << 14)  # all places are walked
    held: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    names = layout.linear.names
    places = np.ndindex(*(layout.linear.size(name) for name in names))
    table = layout.linear.table()
    for place in places:
        packed = layout.linear.inputs(dict(zip(names, place, strict=True)))
        held.setdefault(layout.linear.unpack(int(table[packed])), []).append(place)
    assert len(held) == np.prod(asked.shape)
    for element in list(held)[:: max(1, len(held) // 8)]:
        owners = [tuple(getattr(place, name) for name in names) for place in layout.owner(*element)]
        assert sorted(owners) == sorted(held[element])
        assert len(owners) == layout.copies
    warp, lane = layout.linear.size("warp") - 1, layout.linear.size("lane") // 2
    wanted = [
        layout.linear.at(register=register, lane=lane, warp=warp, block=0)
        for register in range(layout.linear.size("register"))
    ]
    assert layout.elements(warp=warp, lane=lane, block=0) == wanted


def test_a_layout_by_text_by_alias_and_by_keywords_is_the_same() -> None:
    text = lab.layout(BLOCKED, (32, 16))
    assert text == lab.layout(f"#blocked = {BLOCKED}\n#blocked", (32, 16)) == lab.layout(f"#b = {BLOCKED}", (32, 16))
    python = lab.layout(
        "blocked", (32, 16), size_per_thread=[1, 4], threads_per_warp=[8, 4], warps_per_cta=[4, 1], order=[1, 0]
    )
    ttgir = lab.layout(
        "blocked", (32, 16), sizePerThread=[1, 4], threadsPerWarp=[8, 4], warpsPerCTA=[4, 1], order=[1, 0]
    )
    assert text == python == ttgir and hash(text) == hash(ttgir)
    assert lab.layout("slice", (16,), dim=0, parent=text) == lab.layout(
        f"#ttg.slice<{{dim = 0, parent = {BLOCKED}}}>", (16,)
    )
    assert lab.layout("slice", (16,), dim=0, parent=BLOCKED) != text


def test_equality_is_of_places_not_of_spelling() -> None:
    bases = (
        "#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], "
        "warp = [[8, 0], [16, 0]], block = []}>"
    )
    assert lab.layout(bases) == lab.layout(BLOCKED, (32, 16))
    assert lab.layout(bases).shape == (32, 16)


def test_a_tensor_smaller_than_the_tile_is_held_in_copies() -> None:
    small = lab.layout(BLOCKED, (8, 16))
    assert small.copies == 4
    assert [place.warp for place in small.owner(3, 5)] == [0, 1, 2, 3]
    assert small.bases["warp"] == ((0, 0), (0, 0))
    assert "each element 4 times" in str(small)


def test_a_layout_tells_itself_in_words(wording: Wording) -> None:
    told = str(lab.layout(BLOCKED, (32, 16)))
    wording(
        told.splitlines()[0],
        shape="32 x 16",
        bits="32 bits",
        registers="4 registers",
        threads="32 threads",
        warps="4 warps",
    )
    assert "lane: [0, 4] [0, 8] [1, 0] [2, 0] [4, 0]" in told
    assert str(lab.layout(BLOCKED, (32, 16)).owner(1, 5)[0]) == "warp 0, thread 5, register 1"


def test_shared_memory_tells_addresses_and_banks(wording: Wording) -> None:
    swizzled = lab.layout("swizzled_shared", (64, 64), bits=16, vec=8, perPhase=1, maxPhase=8, order=[1, 0])
    for row, column in np.ndindex(64, 64):
        group = column // 8 ^ row % 8
        assert swizzled.owner(row, column)[0].offset == row * 64 + group * 8 + column % 8
    assert swizzled.address(1, 0) == 2 * (64 + 8) and swizzled.bank(1, 0) == 4
    assert swizzled.addresses()[1, 0] == swizzled.address(1, 0)
    padded = lab.layout("#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [64, 64]}>", bits=16)
    assert padded.address(2, 3) == 2 * (2 * 68 + 3) == padded.addresses()[2, 3]
    with wording.raises(lab.LayoutError):
        lab.layout(BLOCKED, (32, 16)).address(0, 0)


def test_the_layouts_of_a_module_are_found_with_their_shapes() -> None:
    found = layouts(
        "#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
        "#loc = loc(unknown)\n"
        "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
        "#smem = #ttg.shared_memory\n"
        "  %0 = tt.splat %x : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>, #blocked> loc(#loc)\n"
        "  %1 = tt.load %0 : tensor<512xbf16, #blocked>\n"
        "  %2 = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x64x32xf32, #shared, #smem, mutable> -> "
        "!ttg.memdesc<64x32xf32, #shared, #smem, mutable>\n"
        "  %3 = ttg.what %a : tensor<4xf32, #ttg.unheard_of<{}>>\n"
    )
    assert {key: (each.shape, each.bits) for key, each in found.items()} == {
        "tensor<512x!tt.ptr<f16>, #blocked>": ((512,), 64),
        "tensor<512xbf16, #blocked>": ((512,), 16),
        "memdesc<64x32xf32, #shared>": ((64, 32), 32),
    }
    assert all(isinstance(each, Layout) for each in found.values())


def test_what_is_plain_from_the_shape_need_not_be_said() -> None:
    line = lab.layout("blocked", 1024, size_per_thread=4, threads_per_warp=32, warps_per_cta=4)
    assert line == lab.layout(
        "blocked", (1024,), size_per_thread=[4], threads_per_warp=[32], warps_per_cta=[4], order=[0]
    )
    padded = lab.layout("padded_shared", (32, 64), pairs=[(64, 4)], bits=16)
    assert padded == lab.layout("#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [32, 64]}>", bits=16)


def test_rows_and_columns_of_tensor_memory_that_hold_nothing_are_no_copies() -> None:
    half = lab.layout("tensor_memory_encoding", (64, 32), blockM=64, blockN=32, colStride=1)
    assert half.copies == 1 and [place.row for place in half.owner(17, 3)] == [33]
    assert half.kept().sum() == 64 * 32 == len(half.elements())
    strided = lab.layout("tensor_memory_encoding", (128, 32), blockM=128, blockN=32, colStride=2)
    assert strided.bits == 16 and strided.copies == 1
    assert {place.column for column in range(32) for place in strided.owner(0, column)} == set(range(0, 64, 2))
    scales = lab.layout("tensor_memory_scales_encoding", (32, 4), bits=8)
    assert scales.copies == 4 and [place.row for place in scales.owner(1, 0)] == [1, 33, 65, 97]
