"""`ShrunkLaunch`: the smallest launch that was found to fail, beside the one that it was made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True)
class SizeChange:
    """What was ``before`` and is ``after``, in the kernel's words: a grid, a shape, a number, a tensor's contents."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, eq=False)
class ShrunkLaunch:
    """A small launch that fails for the same reason as a larger one.

    ``launch`` has run on tensors of its own. ``kind``, ``line`` and ``argument`` are the reason: a kind of finding, the
    name of an error's class, "different" or "predicate". ``sizes`` lists what changed. ``script`` is a file of plain
    Triton and torch; ``script_fails`` says that it was run and fails for the same reason. ``tries`` counts the launches
    that it took, and ``seconds`` the time; ``is_smallest`` is False if these ran out before nothing smaller was left.
    """

    launch: Launch
    kind: str
    line: int | None
    argument: str | None
    message: str
    sizes: tuple[SizeChange, ...]
    script: str = field(repr=False)
    script_fails: bool
    tries: int
    seconds: float
    is_smallest: bool

    def save(self, path: str | PathLike[str]) -> None:
        """Write the script to a file, for ``triton-lab check FILE`` or for Python itself.

        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "bug.py")
        >>> with lab.record() as failing:
        ...     total = add(torch.empty(1000), y)
        >>> lab.shrink(failing).save(path)
        >>> os.path.getsize(path) > 500
        True
        """
        Path(path).write_text(self.script, encoding="utf-8")

    def __repr__(self) -> str:
        head = _("{kernel}: {kind}, after {launches} in {seconds} s").format(
            kernel=messages.launched(self.launch.kernel, self.launch.grid),
            kind=self.kind,
            launches=messages.count(self.tries, "launch", "launches"),
            seconds=f"{self.seconds:.1f}",
        )
        width = max((len(one.name) for one in self.sizes), default=0)
        was = max((len(one.before) for one in self.sizes), default=0)
        rows = [f"  {one.name:<{width}}  {one.before:<{was}}  ->  {one.after}" for one in self.sizes]
        more = [] if self.is_smallest else [_("The limit was reached: a smaller launch may fail, too.")]
        if not self.script_fails:
            more.append(_("The script alone does not fail for this reason: it lacks something that the launch had."))
        return "\n".join([head, f"  {self.message}", *rows, *more])
