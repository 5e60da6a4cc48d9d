"""Chapter 30: the kernels that a step compiles, what it may overwrite, and a key that lacks an ingredient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from triton_lab import messages
from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_answer import Answer
from triton_lab.course.exercise_kinds import Program, Question
from triton_lab.course.lazy_steps import alone, near, stored, unmade
from triton_lab.localization import N_, _

if TYPE_CHECKING:
    import torch

    from triton_lab.course.lazy_steps import JudgedStep, StepsRun

# As in the exercise's text in the chapter.
DONATING = ("a = a + b", "c = a + b", "a, b = b, a", "a.add_(b); del b")
COMPILING = """
x = lab.lazy.tensor(torch.ones(100))
for number, rate in enumerate((0.5, 0.25, 0.5, 0.25, 0.5, 0.25)):
    if number == 3:
        kept = x
    x = x * rate
    lab.lazy.mark_step()
"""


def _donated() -> tuple[int, ...]:
    from triton_lab.lazy.operations.make_tensor import tensor
    from triton_lab.lazy.step import mark_step

    found = []
    for text in DONATING:
        with alone():
            names = {"a": tensor([1.0]), "b": tensor([2.0])}
            exec(text, names)
            step = mark_step()
            found.append(0 if step is None else len(step.donors))
    return tuple(found)


def _compiled() -> int:
    import torch

    import triton_lab
    from triton_lab.lazy.compile_cache import cache

    with alone():
        exec(COMPILING, {"torch": torch, "lab": triton_lab})
        return cache.misses


def _told_of_donors(answer: Any, right: tuple[int, ...]) -> str:
    if not isinstance(answer, tuple) or len(answer) != len(right):
        return _("Give {numbers}, one for each program.").format(numbers=messages.count(len(right), "number"))
    number = next(k for k, (mine, other) in enumerate(zip(answer, right, strict=True)) if mine != other)
    return _("Look at `{donating}` again: which old values have no name after it?").format(donating=DONATING[number])


def _unlike(what: str, found: torch.Tensor, wanted: torch.Tensor) -> str:
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        is_, must = (f"{tuple(one.shape)} {str(one.dtype).removeprefix('torch.')}" for one in (found, wanted))
        return _("{what} is {value}, but must be {must}.").format(what=what, value=is_, must=must)
    like = near(found, wanted)
    if bool(like.all()):
        return ""
    first = tuple((~like).nonzero()[0].tolist())
    return _("{what} is {item} at {first}, but must be {item2}.").format(
        what=what, item=f"{found[first].item():.6g}", first=list(first), item2=f"{wanted[first].item():.6g}"
    )


def _descended(answer: Answer, inputs: dict[str, Any], others: dict[str, Any]) -> str:
    def wanted(given: Mapping[str, Any]) -> list[torch.Tensor]:
        return [given["weights"] - given["gradient"] * sum(rates), given["gradient"]]

    rates = inputs["rates"]
    run = answer.stepped(inputs)
    weights, gradient = wanted(inputs)
    wrong = _unlike("weights", run.inputs["weights"], weights)
    wrong = wrong or _unlike("gradient", run.inputs["gradient"], gradient)
    if wrong:
        return wrong
    if run.pending or len(run.steps) != len(rates):
        return _("The numbers are right, but the answer runs {made}. It must run one step for each rate.").format(
            made=_made(run)
        )
    missed = sum(not step.hit for step in run.steps)
    if missed > 1:
        names = sorted({name for step in run.steps for name in step.differences})
        return _(
            "The numbers are right, but {missed} of {steps} were compiled. Their graphs differ in: {names}."
        ).format(missed=messages.number(missed), steps=messages.count(len(rates), "step"), names=", ".join(names))
    if not all(_in_place(step, "weights") for step in run.steps):
        return _(
            "The numbers are right, but a step gave the weights new memory, because the old values were still in use."
        )
    # The effects of the launches, whatever the steps claim.
    start = run.began.tensors["weights"].start
    kernels = [kernel for kernel, starts in stored(run) if start in starts]
    if len(kernels) != len(rates) or len(set(kernels)) > 1 or run.ended["weights"].start != start:
        return _("The numbers are right, but there must be one kernel that each step runs on the weights.")
    return unmade(run, inputs, others, wanted)


def _centred(answer: Answer, inputs: dict[str, Any], others: dict[str, Any]) -> str:
    def wanted(given: Mapping[str, Any]) -> list[torch.Tensor]:
        mean = given["x"].mean(1, keepdim=True)
        return [given["x"] - mean, mean]

    run, x = answer.stepped(inputs), inputs["x"]
    centred, mean = wanted(inputs)
    if len(run.results) != 1:
        return _("It returns {tensors}, but must return one: the means.").format(
            tensors=messages.count(len(run.results), "tensor")
        )
    wrong = _unlike("x", run.inputs["x"], centred) or _unlike(_("What it returns"), run.results[0], mean)
    if wrong:
        return wrong
    if run.pending or len(run.steps) != 1:
        return _("The numbers are right, but the answer runs {made}. One step must compute everything.").format(
            made=_made(run)
        )
    step = run.steps[0]
    if not _in_place(step, "x"):
        return _("The numbers are right, but x has new memory: when the step ran, the old values were still in use.")
    large = [one for one in step.after if one.numel == x.numel()]
    if len(large) > 1:
        names = ", ".join(name for one in large for name in one.seen_by if name != "x") or _("no name")
        return _(
            "The numbers are right, but the step keeps a second buffer as large as x. It is used by: {names}."
        ).format(names=names)
    if run.ended["x"].start != run.began.tensors["x"].start:
        return _("The numbers are right, but x has new memory.")
    return unmade(run, inputs, others, wanted)


def _made(run: StepsRun) -> str:
    return messages.count(len(run.steps), "step") + (_(" and leaves operations pending") if run.pending else "")


def _in_place(step: JudgedStep, name: str) -> bool:
    """Whether the tensor ``name`` is in the same memory after the step as before."""
    before = {one.place for one in step.before if one.name == name}
    return any(one.place in before and name in one.seen_by for one in step.after if one.role.startswith("out"))


def _trapped(answer: Answer, inputs: dict[str, Any], others: dict[str, Any]) -> str:
    import torch

    sound, again = answer.stepped(inputs), answer.stepped(inputs)
    broken = answer.stepped(inputs, donors_hashed=False)
    if not sound.results:
        return _("It returns nothing. Return the tensors that come out wrong.")
    if not all(map(torch.equal, sound.results, again.results)):
        return _("The result changes from run to run even with the correct key. Do not use random numbers.")
    if not any(step.stale for step in broken.steps):
        made = messages.count(len(broken.steps), "step")
        return _("No error occurs: it runs {made}, and none of a kernel that was compiled for other donors.").format(
            made=made
        )
    if all(map(torch.equal, sound.results, broken.results)):
        return _(
            "A step ran a kernel that was compiled for other donors, but what you return is right. "
            "Which tensor is wrong now?"
        )
    # The effects of the launches, whatever the steps claim.
    mine, theirs = ([kernel for kernel, _unused in stored(run)] for run in (sound, broken))
    if len(mine) != len(theirs) or len(set(theirs)) >= len(set(mine)):
        return _("With the broken key, every step still ran its own kernel.")
    return next(filter(None, (unmade(run, inputs, inputs, _as_it_says(run)) for run in (sound, broken))), "")


def _as_it_says(run: StepsRun) -> Callable[[Mapping[str, Any]], list[torch.Tensor]]:
    return lambda given: [*(run.inputs[name] for name in run.began.tensors), *run.results]


EXERCISES = (
    Program(
        "trap",
        N_("Set the trap yourself"),
        (
            N_("Two steps must have equal operations, shapes, types and constants, and differ only in their donors."),
            (
                N_(
                    "The first step compiles the kernel that overwrites. In the second step, the overwritten values "
                    "are still in use."
                )
            ),
            N_("b.mul_(a), a step, then c = b * a, a step, and return b and c."),
        ),
        cases=(case(a=tensor(5), b=tensor(5)), case(a=tensor(3, 4), b=tensor(3, 4))),
        wrong=_trapped,
    ),
    Question(
        "compiled_steps",
        N_("How many are compiled?"),
        (
            N_("A step is compiled if its key is new. Which parts of the key change in this loop?"),
            N_("The rate is a constant of the graph: two rates, two keys."),
            N_("In step 3 the old x has a second name, so this step has no donor. Did such a key occur before?"),
        ),
        right=_compiled,
        tell=lambda answer, right: _("Write down rate and donors of each step: it is compiled if the pair is new."),
    ),
    Program(
        "descend",
        N_("Compile once"),
        (
            N_("A Python number is a constant of the graph, and another constant is another graph."),
            N_("The values of a tensor are not part of the graph: lab.lazy.tensor(rate)."),
            N_("for rate in rates: weights.sub_(gradient * lab.lazy.tensor(rate)), and then a step."),
        ),
        cases=(
            case(weights=tensor(40), gradient=tensor(40), rates=[0.5, 0.25, 0.125, 0.0625]),
            case(weights=tensor(7, 5), gradient=tensor(7, 5), rates=[0.1, 0.2, 0.3]),
            case(weights=tensor(1), gradient=tensor(1), rates=[2.0, 1.0]),
        ),
        wrong=_descended,
    ),
    Question(
        "donated_inputs",
        N_("What is donated?"),
        (
            N_("A buffer can be donated if no name refers to it when the step runs."),
            N_("After `a = a + b` the old a has no name. After `c = a + b` both inputs still have their names."),
            N_("Swapping names is not an operation. And `del b` frees b, whether or not the result needs its memory."),
        ),
        right=_donated,
        tell=_told_of_donors,
    ),
    Program(
        "centre",
        N_("No second buffer"),
        (
            N_("x must change in place, and nothing else of its size may have a name when the step runs."),
            N_("The means are small: they may have a name. x - mean must not."),
            N_("mean = x.mean(1, keepdim=True); x.sub_(mean); a step; return mean."),
        ),
        cases=tuple(case(x=tensor(*shape)) for shape in ((8, 32), (5, 7), (2, 100))),
        wrong=_centred,
    ),
)
