"""A step in words: the cache lookup and its result, and what happened to each buffer."""

from __future__ import annotations

from triton_lab.lazy.compile_cache import Nearest
from triton_lab.lazy.graph import short
from triton_lab.lazy.step import BufferState, Step
from triton_lab.localization import _
from triton_lab.messages import count as counted

_MOST = 60  # characters shown of a line of a recipe


def describe(step: Step) -> str:
    """The whole step as text, including its kernels."""
    parts = [
        verdict(step),
        _("graph: {operations} traced, {ops} left\n").format(
            operations=counted(len(step.traced.ops), "operation"), ops=len(step.graph.ops)
        )
        + _indented(str(step.graph)),
        _("hash {key} of").format(key=step.key[:16]) + "\n" + _indented("\n".join(recipe(step))),
        _("donors") + "\n" + _indented("\n".join(donations(step)) or _("no inputs")),
        _("buffers before") + "\n" + _indented("\n".join(map(_seen, step.before)) or _("none")),
        _("buffers after") + "\n" + _indented("\n".join(map(_seen, step.after)) or _("none")),
        _("kernels") + "\n" + _indented(step.executable.source or _("none: every output is an unchanged input")),
    ]
    return "\n\n".join(parts)


def verdict(step: Step) -> str:
    """Hit or miss, and why, in a sentence or two."""
    told = _("step {number}: hit. {reason}") if step.hit else _("step {number}: miss. {reason}")
    return told.format(number=step.number, reason=reason(step))


def reason(step: Step) -> str:
    """Why the cache hit or missed, and what followed."""
    if step.stale:
        return _(
            "Nothing was compiled, but the cached kernels were made for other donors ({inputs}) than "
            "this step's ({inputs2}), because the hash leaves the donors out."
        ).format(inputs=_inputs(step.executable.donors), inputs2=_inputs(step.donors))
    if step.hit:
        return _("Nothing was compiled.")
    count, known = step.executable.fresh, len(step.executable.kernels) - step.executable.fresh
    told = _("{kernels} compiled, {known} already compiled. {why}") if known else _("{kernels} compiled. {why}")
    return told.format(kernels=counted(count, "kernel"), known=known, why=why(step.nearest))


def why(nearest: Nearest | None) -> str:
    """The differences between a missed graph and the nearest one in the cache."""
    if nearest is None:
        return _("The cache held no graph to compare with.")
    names = [name for name, _unused, _unused in nearest.differences]
    told = _("The nearest cached graph, {key}, differs in {names}").format(key=nearest.key[:8], names=_listed(names))
    if len(nearest.differences) == 1:
        _unused, here, there = nearest.differences[0]
        told += _(": here {here}, there {there}").format(here=_clipped(here), there=_clipped(there))
    return told + "."


def recipe(step: Step) -> list[str]:
    """One line for each ingredient of the hash."""
    lines = []
    for name in step.ingredients.names():
        left_out = _(" (left out of the hash)") if name == "donors" and not step.donors_hashed else ""
        lines.append(f"{name:<10} {getattr(step.ingredients, name)}{left_out}")
    return lines


def donations(step: Step) -> list[str]:
    """One line for each input: the tensors that use it, and whether it was overwritten."""
    return [f"{sight.role}{_called(sight)}: {fate(step, index)}" for index, sight in enumerate(step.before)]


def fate(step: Step, index: int) -> str:
    """What the step did with input `index`, and why."""
    seen_by = step.before[index].seen_by
    overwritten = index in step.executable.overwritten
    into = [f"out{output}" for output, donor in step.executable.aliases.items() if donor == index]
    where = _("now holds {outputs}").format(outputs=", ".join(into)) if into else _("was used for a temporary")
    if seen_by:
        told = _("kept, still in use by {seen_by}").format(seen_by=_listed(list(seen_by)))
        return _("{told}; yet it was overwritten and {where}").format(told=told, where=where) if overwritten else told
    if index not in step.donors:
        return _("no longer in use, but no output has its size and dtype: freed")
    if overwritten:
        return _("donated, {where}").format(where=where)
    reason = step.executable.placement.refused.get(index) or _("compiled without it")
    return _("offered, not used ({reason}): freed").format(reason=reason)


def _seen(sight: BufferState) -> str:
    values = f" = {list(sight.values)}" if sight.values else ""
    seen = _(", seen by {names}").format(names=_listed(list(sight.seen_by))) if sight.seen_by else ""
    return _("{role}{called} in memory {place}: {dtype} x {numel}{values}{seen}").format(
        role=sight.role,
        called=_called(sight),
        place=sight.place,
        dtype=short(sight.dtype),
        numel=sight.numel,
        values=values,
        seen=seen,
    )


def _called(sight: BufferState) -> str:
    return f" ({sight.name})" if sight.name else ""


def _inputs(indices: tuple[int, ...]) -> str:
    return ", ".join(f"in{index}" for index in indices) or _("none")


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else _("{names} and {last}").format(names=", ".join(names[:-1]), last=names[-1])


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.splitlines())
