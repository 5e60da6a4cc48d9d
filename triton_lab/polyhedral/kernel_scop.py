"""The scop of a launch: what every access of a kernel touches, as sets and maps over programs, loops and lanes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from .conditions import Constraint
from .kernel_touch import Touch
from .scop import Scop, Statement

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

    from .kernel_collision import Collisions
    from .kernel_footprint import Footprint, Reuse
    from .kernel_model import Model
    from .kernel_race import Races
    from .kernel_verify import Verification

AccessKind = Literal["load", "store", "atomic"]


@dataclass(frozen=True)
class Gap:
    """Something about an access that is not affine.

    ``what`` it is: its ``address``, its ``mask``, ``whether`` it runs, or how ``often``. ``cause`` is the line of what
    made it so. But for an address, the model then holds more than what happens, never less.
    """

    line: int | None
    kind: AccessKind
    argument: str | None
    what: Literal["address", "mask", "whether", "often"]
    reason: str
    cause: int | None

    def __str__(self) -> str:
        subject = {
            "address": "the address",
            "mask": "the mask",
            "whether": "whether it runs",
            "often": "how often it runs",
        }[self.what]
        where = f" (line {self.cause})" if self.cause not in (None, self.line) else ""
        argument = f" {self.argument}" if self.argument else ""
        return f"line {self.line}, {self.kind}{argument}: {subject} is not affine, because of {self.reason}{where}"


@dataclass(frozen=True)
class KernelStatement(Statement):
    """One load, store or atomic. An instance is a lane of a program in a round of the loops around it.

    The domain holds grid, loops and mask; the last iterators are the lanes of its ``block``. An atomic reads and
    writes. ``exact``: every instance of the domain takes place; otherwise ``gaps`` say what is not known, and the
    domain holds all that take place and perhaps more.
    """

    op: int = -1
    line: int | None = None
    kind: AccessKind = "load"
    argument: str | None = None
    block: tuple[int, ...] = ()
    gaps: tuple[Gap, ...] = ()
    touch: Touch | None = field(default=None, compare=False, repr=False)

    @property
    def exact(self) -> bool:
        return not self.gaps

    @property
    def lanes(self) -> tuple[str, ...]:
        """The iterators that count lanes."""
        return self.iterators[len(self.iterators) - len(self.block) :]


@dataclass(frozen=True, repr=False)
class KernelScop(Scop):
    """A launch as a static control part. ``gaps`` lists all that is not affine; the rest stands.

    `general` is the same kernel with names for sizes and grid.
    """

    launch: Launch | None = field(default=None, compare=False, repr=False)
    model: Model | None = field(default=None, compare=False, repr=False)
    gaps: tuple[Gap, ...] = ()
    programs: tuple[str, ...] = ()  # the iterators that are program ids
    context: tuple[Constraint, ...] = ()  # what is taken for granted of parameters

    @property
    def kernel_statements(self) -> tuple[KernelStatement, ...]:
        """Its statements, each a load, store or atomic."""
        return tuple(s for s in self.statements if isinstance(s, KernelStatement))

    def at(self, line: int) -> tuple[KernelStatement, ...]:
        """The accesses on a line of the source.

        >>> model = lab.polyhedral.scop(launch)
        >>> [statement.argument for statement in model.at(launch.accesses[0].line)]
        ['x_ptr']
        """
        return tuple(s for s in self.kernel_statements if s.line == line)

    @cached_property
    def general(self) -> KernelScop:
        """The kernel with names for as many of its integer arguments as stay affine, and for the grid; their
        values are those of the launch."""
        from .from_launch import general_scop

        assert self.launch is not None
        return general_scop(self.launch)

    @cached_property
    def verification(self) -> Verification:
        """The model held against the addresses and masks that the launch recorded."""
        from .kernel_verify import verify

        return verify(self)

    @cached_property
    def races(self) -> Races:
        """Whether programs touch what others write, and how far that is proved."""
        from .kernel_race import races

        return races(self)

    @cached_property
    def collisions(self) -> Collisions:
        """Whether lanes of one program store to one element with one operation."""
        from .kernel_collision import collisions

        return collisions(self)

    @property
    def is_race_free(self) -> bool:
        """Whether no two programs race, as far as `races` can tell."""
        return self.races.free

    @cached_property
    def _footprints(self) -> dict[tuple[str, str], Footprint]:
        return {}

    def footprint(self, argument: str, kind: Literal["any", "load", "store", "atomic"] = "any") -> Footprint:
        """The elements of ``argument`` that each program touches.

        >>> footprint = lab.polyhedral.scop(launch).footprint("x_ptr")
        >>> footprint.counts
        array([128, 128, 128, 128, 128, 128, 128, 104])
        """
        from .kernel_footprint import footprint

        key = (argument, kind)
        if key not in self._footprints:
            self._footprints[key] = footprint(self, argument, kind)
        return self._footprints[key]

    def reuse(self, argument: str, kind: Literal["any", "load", "store", "atomic"] = "any") -> Reuse:
        """Which programs share elements of ``argument``, and how many.

        >>> lab.polyhedral.scop(launch).reuse("x_ptr").factor
        1.0
        """
        from .kernel_footprint import reuse

        return reuse(self.footprint(argument, kind))

    def __str__(self) -> str:
        return self.explain()

    def explain(self) -> str:
        """All of it in words.

        >>> print(lab.polyhedral.scop(launch).explain())
        add_kernel: 8 programs (8)
        <BLANKLINE>
        S0  line 21, load x_ptr[lane + 128pid]
              for 0 ≤ pid ≤ 7, 0 ≤ lane ≤ 127, lane + 128pid ≤ 999
        S1  line 22, load y_ptr[lane + 128pid]
              for 0 ≤ pid ≤ 7, 0 ≤ lane ≤ 127, lane + 128pid ≤ 999
        S2  line 23, store out_ptr[lane + 128pid]
              for 0 ≤ pid ≤ 7, 0 ≤ lane ≤ 127, lane + 128pid ≤ 999
        <BLANKLINE>
        Verified: all addresses and masks equal those recorded, in all 24 executions of 3 accesses.
        <BLANKLINE>
        Each program loads 104 to 128 elements of x_ptr; no element by two programs.
        Each program loads 104 to 128 elements of y_ptr; no element by two programs.
        Each program stores 104 to 128 elements of out_ptr; no element by two programs.
        <BLANKLINE>
        Race free, proved for every n, grid, as long as no offset overflows.
        """
        from .kernel_text import explain

        return explain(self)

    def bind(self, **values: int) -> KernelScop:
        """The same kernel with numbers for sizes: those of `general`, as those of a launch are numbers already.

        >>> lab.polyhedral.scop(launch).general.bind(n=500).values["n"]
        500
        """
        bound = super().bind(**values)
        assert isinstance(bound, KernelScop)
        return bound
