"""Chapter 26: attention in Gluon: room in shared memory, a softmax in registers, and a causal mask."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.chapter_exercises.attention import attention, causal_attention, no_key_in_vain
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched
from triton_lab.course.pipeline_work import loads_waited_for, partitions, tensor_cores
from triton_lab.localization import N_, _

_SHARED = 232_448  # bytes of shared memory that a program on an H100 may use: 227 KiB
_TILE = 128 * 128 * 2  # bytes of 128 rows of 128 numbers in float16


def _triple(*shape: int, **options: Any) -> Case:
    return case(**{name: tensor(*shape, dtype="float16", **options) for name in "qkv"})


# Two tiles of keys, one and four; many heads; scores of which the highest of two tiles differ by more than exp can
# express; values that do not cancel.
_CASES = (
    _triple(2, 100, 32),
    _triple(1, 64, 64),
    _triple(1, 8, 32),
    case(
        q=tensor(1, 200, 64, dtype="float16", scale=12.0),
        k=tensor(1, 200, 64, dtype="float16", scale=12.0),
        v=tensor(1, 200, 64, dtype="float16", low=0.0, high=8.0),
    ),
)
_TOLERANCE = (1e-3, 1e-3)

EXERCISES = (
    Question(
        "keys_in_shared",
        N_("Room for keys and values"),
        (
            N_("A tile has 128 * 128 numbers of 2 bytes. A step needs two tiles."),
            N_("Take the tile of the queries from 232,448 bytes, and see how many steps fit into the rest."),
        ),
        right=lambda: (2 * _TILE, (_SHARED - _TILE) // (2 * _TILE)),
        tell=lambda answer, right: _(
            "A step has a tile of keys and one of values, of 2 bytes each number. The queries take one tile, once."
        ),
    ),
    Task(
        "gluon_attention",
        N_("The softmax between the products"),
        (
            N_("It is the loop of chapter 13: new, shrink, weights, total, high. gl.max(scores, 1) is a number a row."),
            N_("`result` shrinks like `total`: by gl.exp(high - new), before high becomes new."),
            N_("result = result * gl.convert_layout(shrink, gl.SliceLayout(1, SUM))[:, None]"),
        ),
        cases=_CASES,
        reference=attention,
        tolerance=_TOLERANCE,
        work=(launched(), tensor_cores, partitions, loads_waited_for),
        points=2,
    ),
    Task(
        "gluon_causal",
        N_("No look ahead, in two partitions"),
        (
            N_("The program of tile i of the queries needs the tiles 0 to i of the keys."),
            N_("`key` numbers the columns, `query` the rows: compare key[None, :] with query[:, None]."),
            N_('steps = gl.program_id(0) + 1; gl.where(key[None, :] <= query[:, None], scores, float("-inf"))'),
        ),
        cases=_CASES,
        reference=causal_attention,
        tolerance=_TOLERANCE,
        work=(launched(), tensor_cores, partitions, loads_waited_for, no_key_in_vain),
        points=2,
    ),
)
