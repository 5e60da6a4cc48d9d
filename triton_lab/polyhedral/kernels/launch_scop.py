"""The scop of a launch: what every access of a kernel touches, as sets and maps over programs, loops and lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from triton_lab.polyhedral.core.affine_conditions import Constraint
from triton_lab.polyhedral.kernels.access_statement import Gap, KernelStatement
from triton_lab.polyhedral.scop import Scop
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.polyhedral.kernels.launch_model import Model
    from triton_lab.polyhedral.kernels.program_footprint import Footprint, Reuse
    from triton_lab.polyhedral.kernels.races.race_verdict import Collisions, RaceVerdict
    from triton_lab.polyhedral.kernels.verification import Verification
    from triton_lab.views.polyhedral.kernel_view import KernelView


@dataclass(frozen=True, repr=False)
class KernelScop(Scop):
    """A launch as a static control part. ``gaps`` lists all that is not affine; everything else holds.

    `general` is the same kernel with names for sizes and grid.
    """

    launch: Launch | None = field(default=None, compare=False, repr=False)
    model: Model | None = field(default=None, compare=False, repr=False)
    gaps: tuple[Gap, ...] = ()
    programs: tuple[str, ...] = ()  # the iterators that are program ids
    context: tuple[Constraint, ...] = ()  # what is taken for granted of parameters
    generalized: Callable[[Launch], KernelScop] | None = field(default=None, compare=False, repr=False)

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
        assert self.launch is not None and self.generalized is not None
        return self.generalized(self.launch)

    @cached_property
    def verification(self) -> Verification:
        """The comparison of the model with the addresses and masks that the launch recorded."""
        from triton_lab.polyhedral.kernels.model_check import verify

        return verify(self)

    @cached_property
    def races(self) -> RaceVerdict:
        """Whether programs access what others write, and how far that is proved."""
        from triton_lab.polyhedral.kernels.races.race_freedom import races

        return races(self)

    @cached_property
    def collisions(self) -> Collisions:
        """Whether lanes of one program store to one element with one operation."""
        from triton_lab.polyhedral.kernels.races.lane_pairs import collisions

        return collisions(self)

    @property
    def is_race_free(self) -> bool:
        """Whether no two programs race, as far as `races` knows."""
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
        from triton_lab.polyhedral.kernels.accessed_elements import footprint

        key = (argument, kind)
        if key not in self._footprints:
            self._footprints[key] = footprint(self, argument, kind)
        return self._footprints[key]

    def reuse(self, argument: str, kind: Literal["any", "load", "store", "atomic"] = "any") -> Reuse:
        """Which programs share elements of ``argument``, and how many.

        >>> lab.polyhedral.scop(launch).reuse("x_ptr").factor
        1.0
        """
        from triton_lab.polyhedral.kernels.program_footprint import reuse

        return reuse(self.footprint(argument, kind))

    def __str__(self) -> str:
        return self.explain()

    def explain(self) -> str:
        """The accesses, verification, footprints and races, in words.

        >>> print(lab.polyhedral.scop(launch).explain())
        add_kernel: 8 programs
        <BLANKLINE>
        S0  line 21, load x_ptr[lane + 128pid]
              for 0 ≤ pid ≤ 7, 0 ≤ lane ≤ 127, lane + 128pid ≤ 999
        S1  line 22, load y_ptr[lane + 128pid]
              for 0 ≤ pid ≤ 7, 0 ≤ lane ≤ 127, lane + 128pid ≤ 999
        S2  line 23, store out_ptr[lane + 128pid]
              for 0 ≤ pid ≤ 7, 0 ≤ lane ≤ 127, lane + 128pid ≤ 999
        <BLANKLINE>
        Verified: all addresses and masks equal the recorded ones, in all 24 executions of 3 accesses.
        <BLANKLINE>
        Each program loads 104 to 128 elements of x_ptr; no element by two programs.
        Each program loads 104 to 128 elements of y_ptr; no element by two programs.
        Each program stores 104 to 128 elements of out_ptr; no element by two programs.
        <BLANKLINE>
        Race-free, proved for every n, grid, if no offset overflows.
        """
        from triton_lab.polyhedral.kernels.launch_scop_text import explain

        return explain(self)

    # Programs have no order among them, so there are no dependences to draw as arrows.
    def plot(  # type: ignore[override]
        self,
        dims: Sequence[str] | None = None,
        at: Mapping[str, int] | None = None,
        *,
        line: int | None = None,
        instance: Sequence[int] | None = None,
    ) -> KernelView:
        """One access (or two that race) as points: programs by lanes, with the elements beside them.

        ``line`` chooses the access by its line (by default the race, or the last store); ``dims`` are by default a
        program id and the last axis of lanes, ``at`` fixes others, the rest are projected; ``instance`` is a point in
        ``dims``. Raises ValueError for a line without an affine access, and where nothing is affine.

        >>> lab.polyhedral.scop(launch).plot().title()
        'add_kernel: store in line 23'
        """
        view: KernelView = provided("KernelScop.plot")(self, line, dims, at, instance)
        return view

    def bind(self, **values: int) -> KernelScop:
        """A copy with numbers for sizes; for `general`, because a launch's sizes are numbers already.

        >>> lab.polyhedral.scop(launch).general.bind(n=500).values["n"]
        500
        """
        bound = super().bind(**values)
        assert isinstance(bound, KernelScop)
        return bound
