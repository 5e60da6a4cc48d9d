"""A step in words: the cache lookup and its result, and what happened to each buffer."""

from __future__ import annotations

from triton_lab.lazy.compile_cache import Nearest
from triton_lab.lazy.graph import short
from triton_lab.lazy.step import BufferState, Step
from triton_lab.messages import count as counted

_MOST = 60  # characters shown of a line of a recipe


def describe(step: Step) -> str:
    """The whole step as text, including its kernels."""
    parts = [
        verdict(step),
        f"graph: {counted(len(step.traced.ops), 'operation')} traced, {len(step.graph.ops)} left\n"
        + _indented(str(step.graph)),
        f"hash {step.key[:16]} of\n" + _indented("\n".join(recipe(step))),
        "donors\n" + _indented("\n".join(donations(step)) or "no inputs"),
        "buffers before\n" + _indented("\n".join(map(_seen, step.before)) or "none"),
        "buffers after\n" + _indented("\n".join(map(_seen, step.after)) or "none"),
        "kernels\n" + _indented(step.executable.source or "none: every output is an input as it is"),
    ]
    return "\n\n".join(parts)


def verdict(step: Step) -> str:
    """Hit or miss, and why, in a sentence or two."""
    return f"step {step.number}: {'hit' if step.hit else 'miss'}. {reason(step)}"


def reason(step: Step) -> str:
    """Why the cache hit or missed, and what followed."""
    if step.stale:
        return (
            f"Nothing was compiled, but the executable found was made for other donors "
            f"({_inputs(step.executable.donors)}) than this step's ({_inputs(step.donors)}): the hash leaves them out."
        )
    if step.hit:
        return "Nothing was compiled."
    count, known = step.executable.fresh, len(step.executable.kernels) - step.executable.fresh
    told = f"{counted(count, 'kernel')} compiled"
    if known:
        told += f", {known} known from before"
    return f"{told}. {why(step.nearest)}"


def why(nearest: Nearest | None) -> str:
    """The differences between a missed graph and the nearest one in the cache."""
    if nearest is None:
        return "The cache held no graph to compare it with."
    names = [name for name, _, _ in nearest.differences]
    told = f"The nearest cached graph, {nearest.key[:8]}, differs in {_listed(names)}"
    if len(nearest.differences) == 1:
        _, here, there = nearest.differences[0]
        told += f": here {_clipped(here)}, there {_clipped(there)}"
    return told + "."


def recipe(step: Step) -> list[str]:
    """One line for each ingredient of the hash."""
    lines = []
    for name in step.ingredients.names():
        left_out = " (left out of the hash)" if name == "donors" and not step.donors_hashed else ""
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
    where = f"now holds {', '.join(into)}" if into else "was used for a temporary"
    if seen_by:
        told = f"kept, {_listed(list(seen_by))} still {'sees' if len(seen_by) == 1 else 'see'} it"
        return f"{told}; yet it was written over and {where}" if overwritten else told
    if index not in step.donors:
        return "nobody sees it any more, but no output has its size and dtype: freed"
    if overwritten:
        return f"donated, {where}"
    return f"offered, not used ({step.executable.placement.refused.get(index, 'compiled without it')}): freed"


def _seen(sight: BufferState) -> str:
    values = f" = {list(sight.values)}" if sight.values else ""
    seen = f", seen by {_listed(list(sight.seen_by))}" if sight.seen_by else ""
    return f"{sight.role}{_called(sight)} in memory {sight.place}: {short(sight.dtype)} x {sight.numel}{values}{seen}"


def _called(sight: BufferState) -> str:
    return f" ({sight.name})" if sight.name else ""


def _inputs(indices: tuple[int, ...]) -> str:
    return ", ".join(f"in{index}" for index in indices) or "none"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in text.splitlines())
