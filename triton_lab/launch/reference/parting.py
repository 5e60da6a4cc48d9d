"""`Parting`: the first step at which a kernel and its reference part, and the steps before it at which they agree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from triton_lab.launch.reference.block_search import BlockPlace
from triton_lab.launch.reference.kernel_steps import KernelStep
from triton_lab.launch.reference.reference_trace import ReferenceStep
from triton_lab.localization import _
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.launch.comparison.parting_view import PartingView

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Match:
    """A value of the kernel that is one of the reference: a sub-block of it, as ``found`` says. ``partial``: the sum or
    the greatest of its lanes is; it is on the way to that value."""

    kernel: KernelStep
    reference: ReferenceStep
    found: BlockPlace
    partial: bool = False

    def told(self) -> str:
        """The match in a sentence."""
        if self.partial:
            return _("{line}: {name}, reduced, equals {reference}").format(
                line=_line(self.kernel.line), name=_of_kernel(self.kernel), reference=_of_reference(self.reference)
            )
        how = _(", transposed") if self.found.is_transposed else ""
        return _("{line}: {name} equals {reference}{how}").format(
            line=_line(self.kernel.line), name=_of_kernel(self.kernel), reference=_of_reference(self.reference), how=how
        )


@dataclass(frozen=True, eq=False)
class Parting(RichDisplay):
    """Where ``argument`` begins to be wrong: the first ``kernel`` step behind it that is no value of the reference,
    and the first ``reference`` step behind the expected result that the kernel has no value for.

    ``matches`` are the last values before that on which both agree, and ``all_matches`` all of them. ``factor``: the
    kernel's value is the reference's times this, if that is all. ``instead``: the kernel's value is this value of the
    reference, but not the result. ``until`` is the line of the store: the mistake lies
    from the kernel step's line on up to it. ``programs`` were looked at.
    """

    launch: Launch = field(repr=False)
    argument: str
    programs: tuple[int, ...]
    kernel: KernelStep | None
    reference: ReferenceStep | None
    matches: tuple[Match, ...]
    all_matches: tuple[Match, ...] = field(repr=False)
    factor: float | None = None
    instead: Match | None = None
    until: int | None = None
    remarks: tuple[str, ...] = ()

    @property
    def line(self) -> int | None:
        """The line of the kernel's first value that is none of the reference's; that of the store if all are."""
        return self.until if self.kernel is None else self.kernel.line

    def title(self) -> str:
        """Where they part, on one line.

        >>> found = lab.compare(launch, lambda x_ptr, y_ptr, **_: (x_ptr + y_ptr) * 2).parting
        >>> found.title()
        'out_ptr: what line 23 stores is `x_ptr + y_ptr` (add), not the result'
        """
        if self.kernel is not None and self.instead is not None:
            return _("{argument}: what {line} stores is {reference}, not the result").format(
                argument=self.argument,
                line=_line(self.kernel.line),
                reference=_of_reference(self.instead.reference),
            )
        if self.kernel is None:
            return _("{argument}: all values are values of the reference, up to the store on line {line}").format(
                argument=self.argument, line=self.until
            )
        return _("{argument}: the first value that is not in the reference is on {line}").format(
            argument=self.argument, line=_line(self.kernel.line)
        )

    def lines(self) -> list[str]:
        """The matches before the parting, and the two steps at which they part."""
        found = [one.told() for one in self.matches]
        if self.kernel is not None and self.instead is None:
            found.append(
                _("{line}: {name} is no value of the reference").format(
                    line=_line(self.kernel.line), name=_of_kernel(self.kernel)
                )
            )
        if self.reference is not None:
            found.append(
                _("the reference computes {reference}, which the kernel does not").format(
                    reference=_of_reference(self.reference)
                )
            )
        if self.factor is not None:
            found.append(_("the kernel's value is the reference's times {factor}").format(factor=f"{self.factor:.6g}"))
        return [*found, *self.remarks]

    def text(self) -> str:
        """The parting in words.

        >>> found = lab.compare(launch, lambda x_ptr, y_ptr, **_: (x_ptr + y_ptr) * 2).parting
        >>> print(found.text())
        out_ptr: what line 23 stores is `x_ptr + y_ptr` (add), not the result
          line 21: `x` equals `x_ptr`
          line 22: `y` equals `y_ptr`
          the reference computes `(x_ptr + y_ptr) * 2` (mul), which the kernel does not
          the kernel's value is the reference's times 0.5
        """
        return "\n".join([self.title(), *(f"  {line}" for line in self.lines())])

    def __repr__(self) -> str:
        return self.text()

    def plot(self) -> PartingView:
        """The picture: the kernel's steps on the left, the reference's on the right, and lines between equal ones."""
        view: PartingView = provided("Parting.plot")(self)
        return view


def _line(line: int | None) -> str:
    return _("line {line}").format(line=line) if line is not None else _("a line that is not known")


def _of_kernel(step: KernelStep) -> str:
    return f"`{step.name}`" if step.name else _("a value in `{text}`").format(text=step.text)


def _of_reference(step: ReferenceStep) -> str:
    if step.is_argument:
        return f"`{step.text}`"
    return f"`{step.text}` ({step.operation})" if step.text else step.operation


__all__ = ["Match", "Parting"]
