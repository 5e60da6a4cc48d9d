"""Chapter 11: programs that update the same element: atomics, order, locks."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import atomics, launched, wide
from triton_lab.course.lock_work import locked
from triton_lab.localization import N_, _


def _total(x: Any) -> Any:
    return x.double().sum().float().reshape(1)


def _sixteenths(inputs: Any) -> int:
    return int(-(-inputs["x"].numel() // 16))


def _histogram(x: Any, bins: int) -> Any:
    import torch

    return torch.bincount(x.long(), minlength=bins).int()


def _added(values: Any, index: Any, size: int) -> Any:
    import torch

    return torch.zeros(size, dtype=torch.float64).index_add_(0, index.long(), values.double()).float()


def _best(x: Any) -> Any:
    import torch

    place = int(x.argmax())
    return torch.tensor([float(x[place]), float(place)])


def _rising(generator: Any) -> Any:
    """Numbers whose greatest is the last, at an index that half precision cannot tell from its neighbour."""
    import torch

    return torch.arange(3002.0)


def _positive(x: Any) -> Any:
    return (x > 0).sum().int().reshape(1)


EXERCISES = (
    Question(
        "lost_updates",
        N_("What is the smallest possible result?"),
        (
            (
                N_(
                    "Eight programs load the counter, add one, and store it. What if all of them load before the "
                    "first one stores?"
                )
            ),
            N_("Then every program stores 1."),
        ),
        right=lambda: 1,
        tell=lambda answer, right: _("Think of the worst case: all programs have loaded, and none has stored yet."),
    ),
    Task(
        "total",
        N_("One sum of all"),
        (
            N_("Each program adds up its own block first: tl.sum. Then there is one number for each program."),
            N_("tl.atomic_add(out_ptr, number) adds it to what other programs have added. No addition is lost."),
            N_("out must begin at zero: torch.zeros(1)."),
        ),
        cases=tuple(case(x=tensor(n)) for n in (64, 65, 1000, 1, 700)),
        reference=_total,
        tolerance=(1e-4, 1e-4),
        work=(launched(), wide(16), atomics(_sixteenths)),
    ),
    Task(
        "count_positive",
        N_("How many are above zero?"),
        (
            N_("A comparison is a block of truth values. Convert it to integers, 1 and 0, and add them up."),
            N_("Lanes beyond the end must not count: other=0 is not above zero."),
            N_("tl.atomic_add(out_ptr, tl.sum((x > 0).to(tl.int32), axis=0))"),
        ),
        cases=(*(case(x=tensor(n)) for n in (64, 65, 1000, 1)), case(x=tensor(300, low=0.5, high=1.5))),
        reference=_positive,
        work=(launched(), wide(16), atomics(_sixteenths)),
    ),
    Task(
        "histogram",
        N_("How many of each?"),
        (
            N_("Every element is the number of a bin. Add 1 to the counter at that address."),
            N_("tl.atomic_add takes a block of addresses as well, and a mask like a store."),
            N_("tl.atomic_add(out_ptr + x, 1, mask=mask): two lanes with one address add two."),
        ),
        cases=(
            case(x=tensor(200, dtype="int32", low=0, high=10), bins=10),
            case(x=tensor(1000, dtype="int32", low=0, high=3), bins=7),
            case(x=tensor(129, dtype="int64", low=0, high=1), bins=1),
            case(x=tensor(64, dtype="int32", low=0, high=100), bins=100),
        ),
        reference=_histogram,
        work=(launched(), wide(16)),
    ),
    Task(
        "add_at",
        N_("Add where the index says"),
        (
            N_("It is `histogram`, but adds a value instead of 1."),
            N_("Two loads, of values and of indices, then one atomic addition."),
            N_("tl.atomic_add(out_ptr + index, value, mask=mask)"),
        ),
        cases=(
            case(values=tensor(100), index=tensor(100, dtype="int32", low=0, high=5), size=5),
            case(values=tensor(65), index=tensor(65, dtype="int64", low=0, high=70), size=70),
            case(values=tensor(300), index=tensor(300, dtype="int32", low=2, high=3), size=9),
        ),
        reference=_added,
        tolerance=(1e-4, 1e-4),
        work=(launched(), wide(16)),
    ),
    Task(
        "best",
        N_("Two numbers that belong together"),
        (
            (
                N_(
                    "The maximum and its index must change together, and no atomic operation changes both. A lock "
                    "lets one program in at a time."
                )
            ),
            (
                N_(
                    "while tl.atomic_cas(lock_ptr, 0, 1) == 1: pass takes the lock; "
                    "tl.atomic_xchg(lock_ptr, 0) releases it."
                )
            ),
            (
                N_(
                    "Between the two, load the stored maximum, compare, and store both. Write tl.debug_barrier() "
                    "before you release the lock: all threads must have stored."
                )
            ),
        ),
        cases=(*(case(x=tensor(n)) for n in (64, 65, 500, 1)), case(x=_rising)),
        reference=_best,
        work=(launched(), wide(16), locked),
        points=2,
    ),
)
