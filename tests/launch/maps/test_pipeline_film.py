"""The film of a pipeline: who works when on which buffer, and what a wait waits for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import triton_lab
from tests.gluon import cases, partitioned, pipelines
from triton_lab.launch.launch import Launch
from triton_lab.launch.maps.pipeline_film import PipelineFilm, has_film


def launched(run: Any, kernel: Any, depth: int) -> Launch:
    with triton_lab.record() as launches:
        run(kernel, depth)
    return launches[0]


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_copies_fill_a_ring_as_deep_as_the_kernel_says(depth: int) -> None:
    launch = launched(cases.lines, pipelines.copies, depth)
    assert has_film(launch)
    film = PipelineFilm(launch)
    assert film.buffers == [f"buffers[{k}]" for k in range(depth + 1)] and not film.barriers
    work = sorted((one for one in film.spans if one.kind == "work"), key=lambda one: one.first)
    assert len(work) == 8 + depth  # 1,000 elements in blocks of 128, and as many as run ahead
    under_way = [sum(one.first <= moment < one.last for one in work) for moment in range(len(film.events))]
    assert max(under_way) == depth + 1
    # Each wait of the loop lets one copy land: the oldest.
    waits = [one.works for one in film.spans if one.kind == "wait"]
    assert waits == [(number,) for number in range(1, 9)]


def test_no_buffer_is_read_while_it_is_filled() -> None:
    film = PipelineFilm(launched(cases.multiplied, partitioned.fed_product, 3))
    for name in film.buffers:
        spans = sorted(
            (one for one in film.spans if one.row == name and one.kind != "reads"), key=lambda one: one.first
        )
        assert all(one.last <= other.first for one, other in pairwise(spans))
        reads = [one for one in film.spans if one.row == name and one.kind == "reads"]
        fills = [one for one in spans if one.kind == "fills"]
        assert not any(one.first < other.last and other.first < one.last for one in reads for other in fills)


def test_a_wait_for_a_barrier_waits_for_all_loads_that_report_to_it() -> None:
    film = PipelineFilm(launched(cases.multiplied, partitioned.fed_product, 3), 1)
    loads = {one.works[0]: one.text for one in film.spans if one.row == film.rows[2]}
    waits = [one for one in film.spans if one.kind == "wait" and one.text.startswith("full")]
    assert len(waits) == 9
    for one in waits:
        place = one.text.removeprefix("full")
        assert [loads[work] for work in one.works] == [f"a{place}", f"b{place}"]
    phases = [one.text for one in film.spans if one.row == "full[0]"]
    assert phases == ["0", "1", "0", "1"]


def test_a_buffer_is_called_as_the_kernel_calls_it_though_a_helper_allocates_it() -> None:
    film = PipelineFilm(launched(cases.tiled, partitioned.three_partitions, 2))
    assert film.buffers == ["ring[0]", "ring[1]", "out"]
    assert film.barriers == ["full[0]", "full[1]", "empty[0]", "empty[1]", "ends[0]", "ends[1]"]
    assert len(film.rows) == 5 and not film.cut


def test_a_kernel_without_shared_memory_has_no_film() -> None:
    from triton_lab.examples import example
    from triton_lab.views.launch.gallery import launches_of

    assert not has_film(launches_of(example("vector_add"))[0])


def test_a_wait_that_an_arrival_ends_says_whose_it_was() -> None:
    film = PipelineFilm(launched(cases.tiled, partitioned.three_partitions, 2))
    ended = [one for one in film.moments if one.touches.startswith("empty") and one.after]
    arrivals = {one.line for one in film.moments if one.touches.startswith("empty") and "arrives" in one.told}
    assert ended and all(any(str(line) in one.after for line in arrivals) for one in ended)


def test_a_buffer_that_the_warps_fill_holds_what_they_stored() -> None:
    film = PipelineFilm(launched(cases.tiled, partitioned.three_partitions, 2))
    full = [one for one in film.spans if one.row == "out" and one.kind == "full"]
    assert len(full) == 9 and all(one.last == other.first for one, other in pairwise(full))


def test_a_wait_that_loads_end_says_which_was_the_last() -> None:
    film = PipelineFilm(launched(cases.multiplied, pipelines.product_from_registers, 1))
    ended = [one for one in film.moments if one.touches == "bar" and one.after]
    assert ended and all(one.after.endswith(" b") for one in ended)
    phases = [one for one in film.moments if one.touches == "bar" and "TMA" in one.told]
    assert len(phases) == len(ended) and not any(one.acts for one in phases)


def test_a_buffer_that_only_warps_use_is_there_too() -> None:
    film = PipelineFilm(launched(cases.parted_lines, partitioned.handed_over, 2))
    assert film.buffers == ["buffers[0]", "buffers[1]"]
    held = [one for one in film.spans if one.kind == "full"]
    reads = [k for k, one in enumerate(film.moments) if one.touches in film.buffers and one.told.endswith("reads")]
    assert held and all(any(one.first < k < one.last for one in held) for k in reads)
