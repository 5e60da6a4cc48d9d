"""The program that a hash without donors gets wrong, and the one that puts it right."""

from __future__ import annotations

import pytest
import torch

from triton_lab import lazy


def program(first: list[int], second: list[int]) -> tuple[lazy.Step, lazy.Step, list[int], list[int]]:
    t0, t1 = lazy.tensor(first, name="t0"), lazy.tensor(second, name="t1")
    t1.add_(t0)
    in_place = lazy.mark_step()
    t2 = t1 + t0
    not_in_place = lazy.mark_step()
    assert in_place is not None and not_in_place is not None
    return in_place, not_in_place, t1.tolist(), t2.tolist()


def eager(first: list[int], second: list[int]) -> tuple[list[int], list[int]]:
    t0, t1 = torch.tensor(first), torch.tensor(second)
    t1.add_(t0)
    t2 = t1 + t0
    return t1.tolist(), t2.tolist()


def test_with_donors_in_the_hash_the_results_are_torchs() -> None:
    *_, t1, t2 = program([1], [2])
    assert (t1, t2) == eager([1], [2]) == ([3], [4])


def test_without_donors_in_the_hash_the_addition_overwrites_its_operand() -> None:
    with lazy.hash_includes_donors(False):
        *_, t1, t2 = program([1], [2])
    assert (t1, t2) == ([4], [4])


def test_the_wrong_result_is_whatever_the_addition_makes() -> None:
    with lazy.hash_includes_donors(False):
        *_, t1, t2 = program([10, -3, 7], [5, 5, 5])
    assert t1 == t2 == eager([10, -3, 7], [5, 5, 5])[1]


def test_the_in_place_executable_itself_is_reused() -> None:
    with lazy.hash_includes_donors(False):
        first, second, *_ = program([1], [2])
    assert second.hit and second.executable is first.executable
    assert first.donors == (0,) and second.donors == ()
    assert second.stale and not first.stale
    output = [sight for sight in second.after if sight.role == "out0"]
    assert output[0].place == second.before[0].place


def test_with_donors_in_the_hash_the_miss_says_that_donors_differ() -> None:
    _, second, *_ = program([1], [2])
    assert not second.hit and not second.stale
    assert second.nearest is not None
    assert second.nearest.differences == (("donors", "none", "in0"),)


def test_the_graphs_of_both_steps_are_equal_but_for_the_donors() -> None:
    first, second, *_ = program([1], [2])
    assert first.graph == second.graph
    assert first.ingredients.differing(second.ingredients) == ("donors",)


def test_executables_found_without_donors_are_never_used_with_them() -> None:
    with lazy.hash_includes_donors(False):
        program([1], [2])
    first, second, t1, t2 = program([1], [2])
    assert not first.hit and not second.hit
    assert (t1, t2) == eager([1], [2])


def test_the_switch_ends_with_its_block_and_refuses_what_is_no_bool() -> None:
    from triton_lab.lazy.hashing import donors_included

    with lazy.hash_includes_donors(False) as included:
        assert included is False and not donors_included()
    assert donors_included()
    with pytest.raises(TypeError, match="True or False"):
        lazy.hash_includes_donors("no")  # type: ignore[arg-type]
