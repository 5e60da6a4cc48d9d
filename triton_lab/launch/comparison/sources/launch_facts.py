"""`LaunchFacts`: what a launch tells of its kernel's text: types of names, arguments that are 1, lines of no matter."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.relations import numbers


@dataclass(frozen=True)
class LaunchFacts:
    """What the launch tells of a kernel's text.

    ``ranks`` are the numbers of axes of whole numbers that have a name. ``ones`` are the arguments that are 1, which
    the front end knows, and ``scalars`` all that are numbers. ``counts`` are the arguments, constexprs and
    variables that are one whole number, with what is passed, and ``sizes`` those of each tensor. Of ``idle`` lines
    nothing wrong is computed.
    """

    ranks: Mapping[str, int] = field(default_factory=dict)
    ones: frozenset[str] = frozenset()
    scalars: tuple[str, ...] = ()
    counts: Mapping[str, float | None] = field(default_factory=dict)
    sizes: Mapping[str, Collection[int]] = field(default_factory=dict)
    idle: frozenset[int] = frozenset()

    @classmethod
    def of(cls, scope: KernelScope) -> LaunchFacts:
        """What is known of the kernel that the front end has compiled."""
        kernel, source = scope.launch.executable.plan.kernel, scope.launch.compiled[0]
        ranks = {
            name: len(type.shape)
            for name, type in zip(kernel.names, kernel.types, strict=True)
            if name and type.is_integer and type.bits > 1
        }
        kinds = {name: str(kind) for name, kind in source.signature.items()}
        ones = {source.fn.arg_names[path[0]] for path, value in source.constants.items() if value == 1}
        marked = {each.name for each in source.fn.params if each.is_constexpr}
        scalars = tuple(name for name, kind in kinds.items() if not kind.startswith("*") and name not in marked)
        lines, own = (
            {line.line for op in ops if (line := scope.line(op)) is not None} for ops in (kernel.walk(), scope.ops)
        )
        passed = {name: value for name, value in numbers(scope.launch).items() if value.is_integer() and value > 1}
        # An index of the program is no number of values.
        made = {number for op in kernel.walk() if op.name == "tt.get_program_id" for number in op.results}
        ids = {kernel.names[op.results[0]] for op in kernel.walk() if op.results and not made.isdisjoint(op.operands)}
        ids |= {kernel.names[number] for number in made}
        counts = {**{name: None for name, rank in ranks.items() if not rank and name not in ids}, **passed}
        sizes = {each.name: each.shape for each in scope.launch.arguments if each.kind == "tensor"}
        return cls(ranks, frozenset(ones - marked), scalars, counts, sizes, frozenset(lines - own))
