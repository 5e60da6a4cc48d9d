"""The message of an access that is out of bounds, through a null pointer, or misaligned."""

from __future__ import annotations

import itertools

import pytest

from tests.wordings import Wording
from triton_lab.access_fault_message import AccessGuard, FaultingLane, TensorText, owner_of


def test_only_a_write_into_its_own_tensor_meets_what_may_not_be_written() -> None:
    x = TensorText("x", "float32", (4,), (1,), 0, 4, 1000, 1000, 16)
    for access, kind, address, owner in itertools.product(
        ("load", "store", "atomic"), ("out-of-bounds", "misaligned", "null-pointer"), (1000, 1012, 1016), (x, None)
    ):
        found = FaultingLane(access, kind, 4, address, "program (0, 0, 0)", "", 1, owner, [x], AccessGuard("mask"))
        inside = owner is x and address < 1016
        expected = access != "load" and kind == "out-of-bounds" and inside
        assert bool(found.read_only) == expected
        assert (".clone()" in found.hint) == expected


X = TensorText("x", "float32", (2, 5), (6, 1), 3, 4, 1012, 1000, 64)
DENSE = TensorText("d", "float32", (2, 5), (5, 1), 0, 4, 2000, 2000, 40)
EMPTY = TensorText("e", "float32", (0,), (1,), 0, 4, 0, 0, 0)
BESIDE = TensorText("beside", "int8", (64,), (1,), 0, 1, 1064, 1064, 64)


OUT = "out-of-bounds"


def lane(kind: str, at: int, owner: TensorText | None, guard: AccessGuard, access: str = "load") -> FaultingLane:
    return FaultingLane(access, kind, 4, at, "program (1, 0, 0)", "lane 3", 42, owner, [X, DENSE, BESIDE], guard)


NONE, MASK = AccessGuard(""), AccessGuard("mask")


@pytest.mark.parametrize(
    ("label", "found", "facts"),
    [
        ("beyond, beside", lane(OUT, 1064, X, NONE), {"element": 13, "last": 12, "other": "beside"}),
        ("beyond", lane(OUT, 1128, X, NONE), {"element": 29, "last": 12}),
        ("before", lane(OUT, 996, X, NONE), {"element": -4, "first": -3}),
        ("beyond", lane(OUT, 2040, DENSE, NONE), {"element": 10, "last": 9}),
        ("before, beside", lane(OUT, 1070, DENSE, NONE), {"element": -233, "first": 0, "other": "beside"}),
        ("misaligned", lane("misaligned", 1014, X, NONE), {"byte": 2, "size": "4 bytes"}),
        ("empty", lane(OUT, 8, EMPTY, NONE), {"element": 2}),
        ("read-only", lane(OUT, 1012, X, NONE, "store"), {"element": 0}),
        ("null", lane("null-pointer", 0, None, NONE), {"address": "0x0"}),
    ],
)
def test_a_faulting_lane_is_described_with_what_it_touches(
    wording: Wording, label: str, found: FaultingLane, facts: dict[str, object]
) -> None:
    owner = {} if found.owner is None else {"name": found.owner.name}
    where = {"lane": "lane 3", "program": "program (1, 0, 0)", "lanes": "42 lanes"}
    wording(found, label, access=found.access, **owner, **where, **facts)


@pytest.mark.parametrize(
    ("label", "found", "facts"),
    [
        ("misaligned", lane("misaligned", 1014, X, MASK), {}),
        ("null", lane("null-pointer", 0, None, MASK), {}),
        ("nowhere", lane(OUT, 7, None, MASK), {}),
        ("negative", lane(OUT, -7, None, MASK), {}),
        ("read-only", lane(OUT, 1012, X, MASK, "store"), {"name": "x"}),
        ("read-only", lane(OUT, 1012, X, MASK, "atomic"), {"name": "x"}),
        ("descriptor", lane(OUT, 1064, X, AccessGuard("descriptor")), {}),
        ("beyond", lane(OUT, 1064, X, NONE), {"name": "x"}),
        ("before", lane(OUT, 996, X, NONE), {"name": "x"}),
        ("condition", lane(OUT, 1064, X, AccessGuard("", "at", "", "n")), {"mask": "at < n"}),
        ("condition", lane(OUT, 996, X, AccessGuard("", "at", "", "n")), {"mask": "at >= 0"}),
        ("beyond", lane(OUT, 1064, X, AccessGuard("", "at")), {"name": "x"}),
        ("beyond", lane(OUT, 1064, X, AccessGuard("", "", "", "n")), {"name": "x"}),
        ("low", lane(OUT, 996, X, AccessGuard("mask", "at", "at < n")),
         {"mask": "at < n", "missing": "at >= 0"}),
        ("wide, size", lane(OUT, 2040, DENSE, AccessGuard("mask", "at", "at <= n", "n")),
         {"mask": "at <= n", "name": "d", "elements": "10 elements", "size": "(n)"}),
        ("wide", lane(OUT, 2040, DENSE, AccessGuard("mask", "at", "at < m")),
         {"mask": "at < m", "name": "d", "elements": "10 elements"}),
        ("offsets", lane(OUT, 1064, X, AccessGuard("mask", "at", "at < n")), {"name": "x"}),
        ("other", lane(OUT, 1064, X, AccessGuard("mask", "at")), {"offset": "at", "name": "x"}),
        ("offsets", lane(OUT, 1064, X, MASK), {"name": "x"}),
        ("misread", lane(OUT, 1064, X, AccessGuard("mask", misread="a < b")), {"why": "a < b"}),
    ],
)  # fmt: skip
def test_a_faulting_lane_has_a_hint_by_what_should_have_held_it_back(
    wording: Wording, label: str, found: FaultingLane, facts: dict[str, object]
) -> None:
    wording(found.hint, label, **facts)


def test_the_tensor_that_was_meant_is_the_nearest_of_the_pointers_or_the_one_that_is_met() -> None:
    assert owner_of(1100, [X, DENSE], [BESIDE]) is X
    assert owner_of(1900, [X, DENSE], [BESIDE]) is DENSE
    assert owner_of(1064, [], [X, DENSE, BESIDE]) is BESIDE
    assert owner_of(1063, [], [X, DENSE, BESIDE]) is X
    assert owner_of(1128, [], [X, DENSE, BESIDE]) is None
    assert [X.distance(at) for at in (990, 1000, 1064, 1070)] == [10, 0, 0, 6]
    assert [X.holds(*at) for at in ((999,), (1000,), (1063,), (1064,), (1060, 4), (1061, 4))] == [
        False, True, True, False, True, False
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "strides", "dense"),
    [
        ((2, 5), (5, 1), True), ((2, 5), (6, 1), False), ((2, 5), (1, 2), False), ((1, 5), (77, 1), True),
        ((5, 1), (1, 9), True), ((), (), True), ((4,), (2,), False), ((3, 1, 2), (2, 0, 1), True),
    ],
)  # fmt: skip
def test_dense_is_one_element_behind_the_other(shape: tuple[int, ...], strides: tuple[int, ...], dense: bool) -> None:
    assert TensorText("t", "float32", shape, strides, 0, 4, 0, 0, 4).dense == dense
