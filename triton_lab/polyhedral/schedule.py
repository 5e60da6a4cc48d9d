"""Schedules: the order in which a scop's instances run; its properties, its execution and its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from triton_lab.polyhedral.core.affine_expr import AffineExpr, latex_name
from triton_lab.polyhedral.core.integer_matrix import AffineMatrix
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.core.loop_nest import Node
from triton_lab.polyhedral.core.loop_tree import times
from triton_lab.polyhedral.core.schedule_visits import Visits
from triton_lab.polyhedral.display_mixin import Pictured, refuse_many
from triton_lab.polyhedral.legality import Legality, legality
from triton_lab.polyhedral.matrix_schedule import Rows, tree_of_rows
from triton_lab.polyhedral.scheduled_program import program, program_text
from triton_lab.polyhedral.scheduling_language import SchedulingLanguage
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.polyhedral.blocks.triton_kernel import TritonKernel
    from triton_lab.polyhedral.cache_cost import Cache, Cost
    from triton_lab.views.polyhedral.iteration_view import IterationView


@dataclass(frozen=True, repr=False)
class Schedule(SchedulingLanguage, Pictured):
    """An order of all instances of ``scop``; a cell draws it as its last value.

    ``steps`` are the transformations so far. A loop is called by its name; where several have that name,
    ``statement`` chooses the one around it. Transformations accept illegal orders: `legality` says which dependences
    an order breaks.
    """

    # Orders that replace this one.

    def matrix(self, rows: Rows | Mapping[str, Rows]) -> Schedule:
        """A schedule from a matrix: one row per time dimension; columns are iterators, parameters, 1.

        Trailing columns may be left out (``[[0, 1], [1, 0]]`` interchanges two loops). For several statements, pass a
        mapping from their names. The loops have the names of the iterators (as after `skew`, if a row is a sum);
        ``t0``, ``t1``, ... name them by their rows.

        >>> schedule.matrix([[0, 1], [1, 0]])
        // matrix
        for (int j = 0; j < n - 1; j++)
          for (int i = j + 1; i < n; i++)
            A[i][j] = A[i][j] + 1;
        legal: every dependence is kept
        """
        return self._next(tree_of_rows(self.scop, rows), "matrix")

    def automatic(self) -> Schedule:
        """The schedule that isl's scheduler finds (as Pluto does: parallel loops outside, then tilable ones).

        >>> print(schedule.automatic().program())
        parallel for (int i = 1; i < n; i++)
          for (int j = 0; j < i; j++)
            A[i][j] = A[i][j] + 1;
        """
        from triton_lab.polyhedral.isl_scheduler import automatic_tree

        return self._next(automatic_tree(self.scop), "automatic")

    # Properties.

    def expressions(self, statement: str) -> tuple[AffineExpr, ...]:
        """The time of an instance of ``statement``, dimension by dimension.

        >>> [str(time) for time in schedule.split("j", 2).expressions("S0")]
        ['i', '⌊j/2⌋', 'j - 2⌊j/2⌋']
        """
        return times(self.tree, self.scop[statement].name)

    def theta(self, statement: str | None = None) -> AffineMatrix:
        """The matrix T of ``statement`` (or of the only one): a row per time dimension; columns as in `AffineMatrix`.

        >>> schedule.interchange("i", "j").theta().array
        array([[0, 1, 0, 0],
               [1, 0, 0, 0]])
        """
        name = statement if statement is not None else self.scop._only.name
        return AffineMatrix.of(self.expressions(name), self.scop[name].iterators, self.scop.parameters)

    def latex(self, statement: str | None = None) -> str:
        """``Theta(x) = T x``, in the notation of Triton's related-work page.

        Zero columns of parameters and constants are left out.

        >>> schedule.latex().count("pmatrix") // 2  # the matrix and the vector
        2
        """
        name = statement if statement is not None else self.scop._only.name
        iterators = self.scop[name].iterators
        values = ", ".join(e.latex for e in self.expressions(name))
        names = ", ".join(latex_name(i) for i in iterators)
        return rf"\Theta_{{{name}}}({names}) = {self.theta(name).latex(iterators)} = ({values})"

    def time_text(self, statement: str) -> str:
        """The time of ``statement`` as text.

        >>> schedule.skew("j", "i").time_text("S0")
        '(i, i + j)'
        """
        return f"({', '.join(map(str, self.expressions(statement)))})"

    @cached_property
    def legality(self) -> Legality:
        """Which dependences the schedule breaks, for all values of the parameters."""
        return legality(self.scop, self.scop.dependences, self.tree)

    @property
    def is_legal(self) -> bool:
        """Whether it keeps every dependence. Raises `TooHard` where isl cannot tell."""
        return self.legality.is_legal

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The program that isl generates, with visits for statements."""
        return program(self)

    def program(self, language: str | None = None) -> str:
        """The text of the loops in this order, in the source's language, or in "c" or "python".

        >>> print(schedule.program("python"))
        for i in range(1, n):
            for j in range(i):
                A[i, j] = A[i, j] + 1
        """
        return program_text(self, language or self.scop.language)

    # Execution.

    def order(self) -> Visits:
        """All instances in the order of this schedule, at the scop's values.

        >>> [point for statement, point in schedule.reverse("j").order().pairs]
        [(1, 0), (2, 1), (2, 0), (3, 2), (3, 1), (3, 0)]
        """
        from triton_lab.polyhedral.execute import visits

        return visits(self)

    def run(self, arrays: Mapping[str, Any], **values: int) -> dict[str, NDArray[Any]]:
        """The arrays after the program has run in this order; the given arrays are not changed.

        Loops marked vectorize run as one NumPy operation. Parameters come from ``values``, from the scop, or from the
        arrays' shapes.

        >>> schedule.run({"A": np.zeros((4, 4))})["A"]
        array([[0., 0., 0., 0.],
               [1., 0., 0., 0.],
               [1., 1., 0., 0.],
               [1., 1., 1., 0.]])
        """
        from triton_lab.polyhedral.execute import run

        return run(self, arrays, values)

    def cost(self, cache: Cache | None = None, arrays: Mapping[str, Sequence[int]] | None = None) -> Cost:
        """Hits and misses of a small cache when the program runs in this order.

        ``arrays``: shapes of arrays; by default the smallest that hold every access.

        >>> from triton_lab.polyhedral import Cache
        >>> square = lab.schedule("for (int i = 0; i < 32; i++) for (int j = 0; j < 32; j++) A[i][j] = 0;")
        >>> cache = Cache(lines=16, line_size=8)
        >>> square.cost(cache).misses, square.interchange("i", "j").cost(cache).misses
        (128, 1024)
        """
        from triton_lab.polyhedral.cache_cost import Cache as SomeCache
        from triton_lab.polyhedral.cache_cost import simulate

        return simulate(self, cache or SomeCache(), arrays or {})

    def to_triton(self) -> TritonKernel:
        """The schedule as Triton kernels, and `run`, which launches them in order.

        Loops that carry no dependence become the grid and the lanes of blocks (tiles become blocks, if there are
        tiles); the others become loops in a kernel, or on the host around launches. Before it returns, the program
        runs once on small arrays, on the CPU, and its results are compared with this schedule's. Raises ValueError
        where no loop can run in parallel, where Triton cannot express a statement, or where the numbers differ.

        >>> kernel = lab.schedule("for (int i = 0; i < n; i++) A[i] = 2 * B[i];").split("i", 128).to_triton()
        >>> kernel.run({"A": np.zeros(3), "B": np.arange(3.0)}, n=3)["A"]
        array([0., 2., 4.])
        >>> lab.schedule("for (int i = 1; i < n; i++) A[i] = A[i - 1];").to_triton()
        Traceback (most recent call last):
            ...
        NotABlockProgram: every loop carries a dependence, but the programs of a grid and the lanes of a...
        """
        from triton_lab.polyhedral.blocks.to_triton import to_triton

        return to_triton(self)

    # Pictures.

    def plot(
        self,
        dims: Sequence[str] | None = None,
        at: Mapping[str, int] | None = None,
        *,
        dependences: str | None = None,
        order: bool = False,
        instance: Sequence[int] | None = None,
        title: str | None = None,
        time: bool | None = None,
    ) -> IterationView:
        """The instances as points, beside the program and its formulas.

        ``dims``: one to three iterators to draw (the first points up, the second to the right), by default those of
        the deepest statement; ``at`` fixes others, and the rest are projected. ``dependences`` is "value", "memory"
        or None (a changed order shows the values that it passes on); ``order`` colours points from the first visit to
        the last; ``instance`` (a point in ``dims``) shows the arrays with what it reads and writes; ``time`` shows the
        transformed space, too (by default where the order is not that of the source; False: never). Pairs that an
        illegal order breaks are red. In a live picture the loops can be moved by hand.

        Raises ValueError, when it is drawn, for iterators that no one statement has, and for parameters without
        values.

        >>> from triton_lab.polyhedral import schedule
        >>> from triton_lab.polyhedral.related_work import page_nests as examples
        >>> schedule(examples.WAVEFRONT, n=6).interchange("i", "j").plot(order=True).title()
        '25 instances at n = 6'
        """
        view: IterationView = provided("Schedule.plot")(self, dims, at, dependences, order, instance, title, time)
        return view

    def _refuse_many(self) -> None:
        refuse_many(self.scop)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        how = f"// {' . '.join(self.steps)}\n" if self.steps else ""
        try:
            return f"{how}{self.program()}\n{self.legality}"
        except TooHard as unanswered:
            return f"{how}{unanswered}"
