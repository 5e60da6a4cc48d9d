"""Schedules: in which order a scop's instances run. Each transformation gives a new schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from . import transform
from .affine import Affine, latex_name
from .effort import TooHard
from .index_sets import border, cut
from .legality import Legality, legality
from .loop_tree import Loop, Tree, every_loop, times
from .matrix import AffineMatrix
from .matrix_schedule import Rows, tree_of_rows
from .nest import Node
from .program import extent, program, program_text

if TYPE_CHECKING:
    from .cost import Cache, Cost
    from .execute import Visits
    from .scop import Scop
    from .triton_kernel import TritonKernel


@dataclass(frozen=True, repr=False)
class Schedule:
    """An order of all instances of ``scop``; ``steps`` tells how it came about.

    A loop is called by its name; where several have that name, ``statement`` chooses the one around it. Nothing here
    refuses an illegal order: `legality` says what it breaks.
    """

    scop: Scop
    tree: Tree
    steps: tuple[str, ...] = field(default=())

    def _next(self, tree: Tree, step: str) -> Schedule:
        return Schedule(self.scop, tree, (*self.steps, step))

    def _find(self, name: str, statement: str | None) -> Loop:
        return transform.find(self.tree, name, statement)

    # The scheduling language.

    def split(
        self,
        loop: str,
        factor: int,
        outer: str | None = None,
        inner: str | None = None,
        *,
        statement: str | None = None,
    ) -> Schedule:
        """``loop`` in two: ``outer`` (by default ``loop`` + "o") counts tiles of ``factor``, ``inner`` runs in one."""
        names = outer or f"{loop}o", inner or f"{loop}i"
        tree = transform.split(self.tree, self._find(loop, statement), factor, *names)
        return self._next(tree, f"split({loop}, {factor}, {names[0]}, {names[1]})")

    def reorder(self, *loops: str, statement: str | None = None) -> Schedule:
        """The loops, which must be directly nested, in this order: the first becomes the outermost."""
        found = [self._find(name, statement) for name in loops]
        return self._next(transform.reorder(self.tree, found), f"reorder({', '.join(loops)})")

    def interchange(self, first: str, second: str, *, statement: str | None = None) -> Schedule:
        """The two loops in each other's place."""
        one, other = self._find(first, statement), self._find(second, statement)
        outside_first = one if other in every_loop(one.body) else other
        inner = other if outside_first is one else one
        tree = transform.reorder(self.tree, [inner, outside_first])
        return self._next(tree, f"interchange({first}, {second})")

    def tile(self, sizes: Mapping[str, int], *, statement: str | None = None) -> Schedule:
        """Loops split by ``sizes`` with all loops over tiles outside all loops within: ``tile({"i": 4, "j": 4})``."""
        tiled: Schedule = self
        for name, size in sizes.items():
            tiled = tiled.split(name, size, statement=statement)
        order = [f"{name}o" for name in sizes] + [f"{name}i" for name in sizes]
        shown = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        return replace(tiled.reorder(*order, statement=statement), steps=(*self.steps, f"tile({shown})"))

    def skew(self, loop: str, by: str, factor: int = 1, *, statement: str | None = None) -> Schedule:
        """``loop`` shifted by ``factor`` times ``by``: wavefronts become columns."""
        tree = transform.skew(self.tree, self._find(loop, statement), self._find(by, statement), factor)
        return self._next(tree, f"skew({loop}, {by}, {factor})")

    def reverse(self, loop: str, *, statement: str | None = None) -> Schedule:
        return self._next(transform.reverse(self.tree, self._find(loop, statement)), f"reverse({loop})")

    def shift(self, loop: str, amount: int | str, *, statement: str | None = None) -> Schedule:
        """The iterations of ``statement`` (or of all) in ``loop`` later by ``amount``: a number, or an expression of
        parameters as text. It lets loops be fused that read ahead of what the first one writes.

        ``schedule(text).fuse("S0", "S1").shift("i", 1, statement="S1")``::

            for (int i = 0; i < n; i++)             for (int i = 0; i <= n; i++) {
              A[i] = i;                               if (n >= i + 1)
            for (int i = 0; i < n; i++)      ->         A[i] = i;
              B[i] = A[i] + A[i + 1];                 if (i >= 1)
                                                        B[i - 1] = A[i - 1] + A[i - 1 + 1];
                                                    }

        isl: ``band_shift``; loop alignment or retiming in the books; Halide gets it from storing a producer outside of
        the loop that it is computed in.
        """
        by = border(self.scop, amount)
        tree = transform.shift(self.tree, self._find(loop, statement), by, statement)
        return self._next(tree, f"shift({', '.join([loop, str(by), *([statement] if statement else [])])})")

    def cut(self, loop: str, at: int | str, *, statement: str | None = None) -> Schedule:
        """``loop`` in two, one after the other: its iterations below ``at`` (a number, or an expression of parameters
        as text), then the rest. Each statement in it becomes two, ``S0a`` and ``S0b``.

        ``schedule(text).cut("i", 4)``::

            for (int i = 0; i < n; i++)             for (int i = 0; i <= min(3, n - 1); i++)
              A[i] = 0;                      ->       A[i] = 0;
                                                    for (int i = 4; i < n; i++)
                                                      A[i] = 0;

        Index-set splitting in the books and in Pluto (``--iss``); isl: a schedule whose domain is parted by a
        ``sequence`` of filters; Halide: ``partition``, TVM: loop partitioning.
        """
        where = border(self.scop, at)
        scop, tree = cut(self.scop, self.tree, self._find(loop, statement), where)
        return Schedule(scop, tree, (*self.steps, f"cut({loop}, {where})"))

    def collapse(self, outer: str, inner: str, name: str | None = None, *, statement: str | None = None) -> Schedule:
        """Two directly nested loops as one, called ``name`` (by default both names in one). The inner one's range must
        be bounded by numbers: with a parameter, ``i * n + j`` would not be affine.

        ``schedule(text).collapse("i", "j")``::

            for (int i = 0; i < n; i++)             for (int ij = 0; ij < 4 * n; ij++)
              for (int j = 0; j < 4; j++)    ->       A[floord(ij, 4)][ij % 4] = 0;
                A[i][j] = 0;

        OpenMP: ``collapse(2)``; Halide and TVM: ``fuse``.
        """
        around, within = self._find(outer, statement), self._find(inner, statement)
        if around.body is not within:
            raise ValueError(f"{inner} does not stand directly inside {outer}: reorder or distribute first")
        found = extent(self, within)
        if found is None:
            raise ValueError(
                f"the range of {inner} is not bounded by numbers, so {outer} and {inner} together would not be affine: "
                f"split {inner}, or write its bounds as numbers"
            )
        called = name or f"{outer}{inner}"
        tree = transform.collapse(self.tree, around, within, called, *found)
        return self._next(tree, f"collapse({outer}, {inner}, {called})")

    def fuse(self, first: str, second: str) -> Schedule:
        """The outermost loops that hold only one of the two statements as one loop: ``fuse("S0", "S1")``."""
        return self._next(transform.fuse(self.tree, first, second), f"fuse({first}, {second})")

    def distribute(self, loop: str, *, statement: str | None = None) -> Schedule:
        """``loop`` once for each piece of its body."""
        return self._next(transform.distribute(self.tree, self._find(loop, statement)), f"distribute({loop})")

    def unroll(self, loop: str, *, statement: str | None = None) -> Schedule:
        """``loop`` written out; its count of iterations must be a constant."""
        return self._next(transform.mark(self.tree, self._find(loop, statement), "unroll"), f"unroll({loop})")

    def vectorize(self, loop: str, *, statement: str | None = None) -> Schedule:
        """All iterations of an innermost ``loop`` in one operation; legal if it carries no dependence."""
        return self._next(transform.mark(self.tree, self._find(loop, statement), "vectorize"), f"vectorize({loop})")

    def parallel(self, loop: str, *, statement: str | None = None) -> Schedule:
        """The iterations of ``loop`` in any order or at once; legal if it carries no dependence."""
        return self._next(transform.mark(self.tree, self._find(loop, statement), "parallel"), f"parallel({loop})")

    def matrix(self, rows: Rows | Mapping[str, Rows]) -> Schedule:
        """A schedule typed as a matrix: one row per time dimension, columns iterators, parameters, 1.

        Trailing columns may be left out (``[[0, 1], [1, 0]]`` interchanges two loops). Several statements take a
        mapping from their names.
        """
        return self._next(tree_of_rows(self.scop, rows), "matrix")

    def automatic(self) -> Schedule:
        """The schedule that isl finds by itself (in the manner of Pluto: parallel loops outside, then tilable ones)."""
        from .automatic import automatic_tree

        return self._next(automatic_tree(self.scop), "automatic")

    # What it is.

    def expressions(self, statement: str) -> tuple[Affine, ...]:
        """The time of an instance of ``statement``, dimension by dimension."""
        return times(self.tree, statement)

    def theta(self, statement: str | None = None) -> AffineMatrix:
        """T of ``statement`` (or of the only one): one row per time dimension; columns as in `AffineMatrix`."""
        name = statement if statement is not None else self.scop._only.name
        return AffineMatrix.of(self.expressions(name), self.scop[name].iterators, self.scop.parameters)

    def latex(self, statement: str | None = None) -> str:
        """``Theta(x) = T x``, as the page writes it; zero columns of parameters and constants are left out."""
        name = statement if statement is not None else self.scop._only.name
        iterators = self.scop[name].iterators
        values = ", ".join(e.latex for e in self.expressions(name))
        names = ", ".join(latex_name(i) for i in iterators)
        return rf"\Theta_{{{name}}}({names}) = {self.theta(name).latex(iterators)} = ({values})"

    def time_text(self, statement: str) -> str:
        return f"({', '.join(map(str, self.expressions(statement)))})"

    @cached_property
    def legality(self) -> Legality:
        return legality(self.scop, self)

    @property
    def is_legal(self) -> bool:
        return self.legality.is_legal

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The program as isl generates it, with visits for statements."""
        return program(self)

    def program(self, language: str | None = None) -> str:
        """The loops that run in this order, in the language of the source, or in "c" or "python"."""
        return program_text(self, language or self.scop.language)

    # What it does.

    def order(self) -> Visits:
        """All instances in the order in which this schedule visits them, at the scop's values."""
        from .execute import visits

        return visits(self)

    def run(self, arrays: Mapping[str, Any], **values: int) -> dict[str, NDArray[Any]]:
        """The arrays after the program has run in this order; those given stay as they are.

        Loops marked vectorize run as one NumPy operation. Parameters come from ``values``, from the scop, or from the
        arrays' shapes.
        """
        from .execute import run

        return run(self, arrays, values)

    def cost(self, cache: Cache | None = None, arrays: Mapping[str, Sequence[int]] | None = None) -> Cost:
        """Hits and misses of a small cache when the program runs in this order. ``arrays``: shapes, where the least
        that holds every access is not meant."""
        from .cost import Cache as SomeCache
        from .cost import simulate

        return simulate(self, cache or SomeCache(), arrays or {})

    def to_triton(self) -> TritonKernel:
        """The schedule as Triton kernels, and `run`, which launches them in order.

        Loops that carry no dependence become the grid and the lanes of blocks (tiles are the blocks, where there are
        tiles); the others are loops in a kernel, or on the host around launches. Before it is handed out the program
        runs once on small arrays, on the CPU, beside this schedule. Raises ValueError where no loop can run at once,
        where Triton has no words for a statement, or where the numbers differ.
        """
        from .to_triton import to_triton

        return to_triton(self)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        how = f"// {' . '.join(self.steps)}\n" if self.steps else ""
        try:
            return f"{how}{self.program()}\n{self.legality}"
        except TooHard as unanswered:
            return f"{how}{unanswered}"
