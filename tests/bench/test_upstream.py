"""The interpreter's seconds for a large grid, from programs spread over it."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from triton.runtime import interpreter

from bench import library_kernels, upstream
from bench.upstream import Sample
from tests.wordings import Wording

MILLISECOND = 1e-3


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 1, 1), (7, 5, 3), (64, 1, 1), (1000, 1, 1), (3, 1, 500)])
def test_each_program_has_its_turn_and_the_first_ones_lie_all_over_the_grid(grid: tuple[int, int, int]) -> None:
    ordered = [(x, y, z) for x in range(grid[0]) for y in range(grid[1]) for z in range(grid[2])]
    assert upstream._spread(grid, apart=False) == ordered
    spread = upstream._spread(grid, apart=True)
    assert sorted(spread) == ordered
    if len(ordered) >= 64:
        numbers = [ordered.index(program) for program in spread[:16]]
        assert all(
            any(low <= each < low + len(ordered) // 4 for each in numbers) for low in range(0, len(ordered) // 2)
        )


@pytest.fixture
def launch(monkeypatch: pytest.MonkeyPatch):
    """A launch whose programs take a millisecond, those in the second half of the grid three: as the interpreter's."""
    ran: list[tuple[int, ...]] = []
    builder = interpreter.interpreter_builder
    extents: list[tuple[int, ...]] = []
    monkeypatch.setattr(builder, "set_grid_dim", lambda *grid: extents.append(grid))
    monkeypatch.setattr(builder, "set_grid_idx", lambda *ids: ran.append(ids))

    def call(self) -> None:
        grid = self.grid({}) if callable(self.grid) else self.grid
        grid = (*grid, *(1,) * (3 - len(grid)))
        builder.set_grid_dim(*grid)
        for x in range(grid[0]):
            builder.set_grid_idx(x, 0, 0)
            end = time.process_time() + (3 if ran[-1][0] >= 100 else 1) * MILLISECOND
            while time.process_time() < end:
                pass

    monkeypatch.setattr(interpreter.GridExecutor, "__call__", call)
    return SimpleNamespace(
        ran=ran, extents=extents, start=lambda grid: interpreter.GridExecutor.__call__(SimpleNamespace(grid=grid))
    )


@pytest.mark.parametrize("grid", [(200,), lambda arguments: (200, 1)], ids=["extents", "function"])
def test_what_a_part_of_the_programs_takes_is_scaled_to_all(launch, grid) -> None:
    sample = Sample()
    start = time.process_time()
    with upstream._sampled(0.06, sample):
        launch.start(grid)
    seconds = time.process_time() - start
    assert sample.programs == 200
    assert sample.ran == len(launch.ran) < 100
    assert launch.extents == [(200, 1, 1)]
    assert 0.3 < seconds + sample.missing < 0.6  # 0.4, and what the clock takes


def test_where_programs_wait_all_of_them_run_in_order(launch) -> None:
    sample = Sample()
    with upstream._sampled(float("inf"), sample):
        launch.start((20,))
    assert launch.ran == [(x, 0, 0) for x in range(20)]
    assert (sample.ran, sample.programs, sample.missing) == (20, 20, 0)


def test_a_library_that_is_not_here_is_told(monkeypatch: pytest.MonkeyPatch, wording: Wording) -> None:
    monkeypatch.setattr(library_kernels, "MODULES", {"liger-kernel": "no_such_package"})
    told = library_kernels.engines_of("liger-kernel")
    assert list(told) == ["missing"]
    wording(told["missing"], library="liger-kernel")
