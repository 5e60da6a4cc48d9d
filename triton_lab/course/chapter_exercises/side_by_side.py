"""Chapter 29: distances in ulp, roundings and their order, and the first store that differs."""

from __future__ import annotations

import math
from typing import Any

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Choice, Question, Task
from triton_lab.course.launch_work import launched, once
from triton_lab.localization import N_, _

FAR = 16.0, 16.0 + 2.0**-16  # as in the exercise's text in the chapter


def _ulps() -> int:
    import numpy as np

    near, far = np.array(FAR, np.float32).view(np.int32)
    return int(far - near)


def _three_orders(answer: Any) -> str:
    import numpy as np

    if len(answer) != 3 or not all(isinstance(one, (int, float)) for one in answer):
        return _("Give three numbers, as (1.0, 2.0, 3.0).")
    a, b, c = map(np.float32, answer)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = {"(a + b) + c": (a + b) + c, "(a + c) + b": (a + c) + b, "(b + c) + a": (b + c) + a}
    told = ", ".join(f"{how} = {float(total):g}" for how, total in sums.items())
    if not all(map(math.isfinite, sums.values())):
        return _("{told}: all three must be finite.").format(told=told)
    return "" if len(set(map(float, sums.values()))) == 3 else _("{told}: all three must differ.").format(told=told)


def _named(answer: Any) -> str:
    from triton_lab import compare, messages
    from triton_lab.examples import recording, recordings

    bit_equal, nearest = answer
    for name in (bit_equal, nearest):
        if name not in recordings():
            return _("There is no recording {name}. There are {recordings}.").format(
                name=repr(name), recordings=", ".join(recordings())
            )
    compared = {name: compare(recording(name)) for name in recordings()}
    counts = {name: sum(argument.count for argument in found) for name, found in compared.items()}
    if compared[bit_equal].verdict != "bit-equal":
        return _("{bit_equal} is not bit-equal: it differs in {elements}.").format(
            bit_equal=bit_equal, elements=messages.count(counts[bit_equal], "element")
        )
    if not counts[nearest]:
        return _("{nearest} does not differ at all. Of the others, which one differs in the fewest elements?").format(
            nearest=nearest
        )
    if counts[nearest] > min(count for count in counts.values() if count):
        return _("{nearest} differs in {elements}; another one differs in fewer.").format(
            nearest=nearest, elements=messages.count(counts[nearest], "element")
        )
    return ""


def _first_in_program_0(answer: Any) -> str:
    import torch

    from triton_lab import compare
    from triton_lab.backend.targets.active_target import target
    from triton_lab.examples import example, recording
    from triton_lab.examples.softmax import softmax_kernel
    from triton_lab.launch.recording.record import record

    stride, columns = answer["stride"], answer["columns"]
    if stride == 100:
        return _("A stride of 100 is right. Give a wrong one.")
    x = example("softmax").inputs("small", 0, "cpu")["x"]
    with target("cpu"), record() as launches:
        try:
            softmax_kernel[(13,)](x, torch.zeros(13, 100), columns, stride, 1, 100, 1, BLOCK=128)
        except Exception as error:
            found = launches[0].findings[0].message if launches and launches[0].findings else str(error)
            return _("The launch stopped: {rstrip}.").format(rstrip=found.rstrip("."))
    first = compare(launches[0], recording("softmax")).first
    if first is None or first.program != 0:
        where = _("nowhere") if first is None else _("in program {program}").format(program=first.program)
        return _("The first store that differs is {where}. Program 0 stores the right values.").format(where=where)
    return ""


def _softplus(x: Any) -> Any:
    import torch

    return torch.logaddexp(x.double(), torch.zeros_like(x, dtype=torch.float64)).to(x.dtype)


EXERCISES = (
    Question(
        "ulps_apart",
        N_("How many ulp?"),
        (
            N_("float32 has 23 bits after the leading one. How far is it from 1.0 to the next number?"),
            N_("Between 1 and 2, neighbours are 2**-23 apart; between 16 and 32, sixteen times as far."),
            N_("So an ulp at 16 is 2**-19. How many of them are 2**-16?"),
        ),
        right=_ulps,
        tell=lambda answer, right: _("How far apart are neighbours just above 16? Just above 1 they are 2**-23 apart."),
    ),
    Choice(
        "bit_for_bit",
        N_("Bit for bit"),
        (
            N_(
                "lab.compare(lab.examples.recording(name)) compares one. Do it for each name of "
                "lab.examples.recordings()."
            ),
            N_("Each argument of a comparison has its .count of elements that differ; a comparison has a .verdict."),
            (
                N_(
                    "Print the names with sum(argument.count for argument in lab.compare(...)), and take the two "
                    "smallest."
                )
            ),
        ),
        wrong=_named,
    ),
    Choice(
        "three_orders",
        N_("Three numbers, three sums"),
        (
            N_("A small number is lost when added to a large one: from 2**24 on, neighbours are 2 apart."),
            N_("Use two large numbers that almost cancel, and a small one. When is the small one rounded away?"),
            N_("Try 1, 2**24 and something near -(2**24)."),
        ),
        wrong=_three_orders,
    ),
    Task(
        "softplus",
        N_("log(1 + exp(x)), for every x"),
        (
            N_("exp(x) overflows from 89 on, where the result is simply x."),
            N_("Subtract the greater of x and 0 from both: then exp gets no number above 0."),
            N_("With m = tl.maximum(x, 0.0): m + tl.log(tl.exp(x - m) + tl.exp(0.0 - m))"),
        ),
        cases=(
            *(case(x=tensor(n)) for n in (64, 65, 1, 500)),
            case(x=tensor(300, scale=100.0)),
            case(x=tensor(40, low=85.0, high=95.0)),
            case(x=tensor(40, low=-6.0, high=-3.0)),
            case(x=tensor(200, dtype="float16", scale=10.0)),
        ),
        reference=_softplus,
        tolerance=(1e-5, 1e-6),
        work=(launched(), once("x")),
    ),
    Choice(
        "choices",
        N_("Where does the difference begin?"),
        (
            N_("Row 0 begins at element 0 with any stride, so the stride alone leaves program 0 right."),
            N_("What else must be wrong, so that row 0 is wrong too?"),
            N_("The mask: a row of 99 columns lacks its last element."),
        ),
        wrong=_first_in_program_0,
    ),
)
