"""The scheduling language: the transformations of an order, each of which returns a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.polyhedral import loop_transforms
from triton_lab.polyhedral.core.loop_tree import Loop, Tree, every_loop
from triton_lab.polyhedral.index_sets import border, cut
from triton_lab.polyhedral.instances import Instances
from triton_lab.polyhedral.scheduled_program import extent

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, repr=False)
class SchedulingLanguage:
    """An order of all instances of ``scop``, and the ``steps`` that led to it: what a `Schedule` transforms."""

    scop: Instances
    tree: Tree
    steps: tuple[str, ...] = ()

    def _next(self, tree: Tree, step: str) -> Self:
        return replace(self, tree=tree, steps=(*self.steps, step))

    def _find(self, name: str, statement: str | None) -> Loop:
        return loop_transforms.find(self.tree, name, statement)

    def split(
        self,
        loop: str,
        factor: int,
        outer: str | None = None,
        inner: str | None = None,
        *,
        statement: str | None = None,
    ) -> Self:
        """Split ``loop``: ``outer`` (default: ``loop`` + "o") counts tiles of ``factor``, ``inner`` runs within one.

        >>> schedule.split("j", 2)
        // split(j, 2, jo, ji)
        for (int i = 1; i < n; i++)
          for (int jo = 0; jo < floord(i + 1, 2); jo++)
            for (int ji = 0; ji <= min(1, i - 2 * jo - 1); ji++)
              A[i][2 * jo + ji] = A[i][2 * jo + ji] + 1;
        legal: every dependence is kept
        """
        names = outer or f"{loop}o", inner or f"{loop}i"
        tree = loop_transforms.split(self.tree, self._find(loop, statement), factor, *names)
        return self._next(tree, f"split({loop}, {factor}, {names[0]}, {names[1]})")

    def reorder(self, *loops: str, statement: str | None = None) -> Self:
        """Put the loops, which must be directly nested, into this order: the first becomes the outermost.

        >>> schedule.reorder("j", "i")
        // reorder(j, i)
        for (int j = 0; j < n - 1; j++)
          for (int i = j + 1; i < n; i++)
            A[i][j] = A[i][j] + 1;
        legal: every dependence is kept
        """
        found = [self._find(name, statement) for name in loops]
        return self._next(loop_transforms.reorder(self.tree, found), f"reorder({', '.join(loops)})")

    def interchange(self, first: str, second: str, *, statement: str | None = None) -> Self:
        """Exchange the two loops.

        >>> schedule.interchange("i", "j")
        // interchange(i, j)
        for (int j = 0; j < n - 1; j++)
          for (int i = j + 1; i < n; i++)
            A[i][j] = A[i][j] + 1;
        legal: every dependence is kept
        """
        one, other = self._find(first, statement), self._find(second, statement)
        outside_first = one if other in every_loop(one.body) else other
        inner = other if outside_first is one else one
        tree = loop_transforms.reorder(self.tree, [inner, outside_first])
        return self._next(tree, f"interchange({first}, {second})")

    def tile(self, sizes: Mapping[str, int], *, statement: str | None = None) -> Self:
        """Split loops by ``sizes``, with all loops over tiles outside the loops within: ``tile({"i": 4, "j": 4})``.

        >>> square = lab.schedule("for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) A[i][j] = 0;")
        >>> square.tile({"i": 4, "j": 4})
        // tile(i: 4, j: 4)
        for (int io = 0; io <= 1; io++)
          for (int jo = 0; jo <= 1; jo++)
            for (int ii = 0; ii <= 3; ii++)
              for (int ji = 0; ji <= 3; ji++)
                A[4 * io + ii][4 * jo + ji] = 0;
        legal: every dependence is kept
        """
        tiled = self
        for name, size in sizes.items():
            tiled = tiled.split(name, size, statement=statement)
        order = [f"{name}o" for name in sizes] + [f"{name}i" for name in sizes]
        shown = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        return replace(tiled.reorder(*order, statement=statement), steps=(*self.steps, f"tile({shown})"))

    def skew(self, loop: str, by: str, factor: int = 1, *, statement: str | None = None) -> Self:
        """Shift ``loop`` by ``factor`` times ``by``: wavefronts become columns.

        >>> square = lab.schedule("for (int i = 1; i < 8; i++) for (int j = 0; j < 7; j++) A[i][j] = A[i - 1][j + 1];")
        >>> square.interchange("i", "j").is_legal, square.skew("j", "i").interchange("i", "j").is_legal
        (False, True)
        """
        tree = loop_transforms.skew(self.tree, self._find(loop, statement), self._find(by, statement), factor)
        return self._next(tree, f"skew({loop}, {by}, {factor})")

    def reverse(self, loop: str, *, statement: str | None = None) -> Self:
        """Run the iterations of ``loop`` from the last to the first.

        >>> schedule.reverse("j")
        // reverse(j)
        for (int i = 1; i < n; i++)
          for (int j = 1 - i; j <= 0; j++)
            A[i][-j] = A[i][-j] + 1;
        legal: every dependence is kept
        """
        return self._next(loop_transforms.reverse(self.tree, self._find(loop, statement)), f"reverse({loop})")

    def shift(self, loop: str, amount: int | str, *, statement: str | None = None) -> Self:
        """Delay the iterations of ``statement`` (or of all) in ``loop`` by ``amount``.

        ``amount`` is a number, or an expression of parameters as text. With it, a loop that reads ahead of the first
        one's writes can be fused with that.

        ``schedule(text).fuse("S0", "S1").shift("i", 1, statement="S1")``::

            for (int i = 0; i < n; i++)             for (int i = 0; i <= n; i++) {
              A[i] = i;                               if (n >= i + 1)
            for (int i = 0; i < n; i++)      ->         A[i] = i;
              B[i] = A[i] + A[i + 1];                 if (i >= 1)
                                                        B[i - 1] = A[i - 1] + A[i - 1 + 1];
                                                    }

        isl: ``band_shift``; loop alignment or retiming in the books; Halide does it by storing a producer outside of
        the loop that computes it.

        >>> two = lab.schedule('''
        ... for (int i = 0; i < n; i++) A[i] = i;
        ... for (int i = 0; i < n; i++) B[i] = A[i] + A[i + 1];''')
        >>> two.fuse("S0", "S1").is_legal, two.fuse("S0", "S1").shift("i", 1, statement="S1").is_legal
        (False, True)
        """
        by = border(self.scop, amount)
        tree = loop_transforms.shift(self.tree, self._find(loop, statement), by, statement)
        return self._next(tree, f"shift({', '.join([loop, str(by), *([statement] if statement else [])])})")

    def cut(self, loop: str, at: int | str, *, statement: str | None = None) -> Self:
        """Cut ``loop`` into two loops, one after the other: its iterations below ``at``, then the rest.

        ``at`` is a number, or an expression of parameters as text. Each statement in the loop becomes two, ``S0a``
        and ``S0b``.

        ``schedule(text).cut("i", 4)``::

            for (int i = 0; i < n; i++)             for (int i = 0; i <= min(3, n - 1); i++)
              A[i] = 0;                      ->       A[i] = 0;
                                                    for (int i = 4; i < n; i++)
                                                      A[i] = 0;

        Index-set splitting in the books and in Pluto (``--iss``); isl: a schedule whose domain a ``sequence`` of
        filters divides; Halide: ``partition``, TVM: loop partitioning.

        >>> lab.schedule("for (int i = 0; i < n; i++) A[i] = 0;").cut("i", 4)
        // cut(i, 4)
        for (int i = 0; i <= min(3, n - 1); i++)
          A[i] = 0;
        for (int i = 4; i < n; i++)
          A[i] = 0;
        legal: every dependence is kept
        """
        where = border(self.scop, at)
        parted = cut(self.scop, self.tree, self._find(loop, statement), where)
        scop = replace(self.scop, statements=parted.statements, tree=parted.source)
        return replace(self, scop=scop, tree=parted.order, steps=(*self.steps, f"cut({loop}, {where})"))

    def collapse(self, outer: str, inner: str, name: str | None = None, *, statement: str | None = None) -> Self:
        """Join two directly nested loops into one, called ``name`` (by default both names joined).

        The inner loop's range must be bounded by numbers: with a parameter, ``i * n + j`` would not be affine.

        ``schedule(text).collapse("i", "j")``::

            for (int i = 0; i < n; i++)             for (int ij = 0; ij < 4 * n; ij++)
              for (int j = 0; j < 4; j++)    ->       A[floord(ij, 4)][ij % 4] = 0;
                A[i][j] = 0;

        OpenMP: ``collapse(2)``; Halide and TVM: ``fuse``.

        >>> lab.schedule("for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) A[i][j] = 0;").collapse("i", "j")
        // collapse(i, j, ij)
        for (int ij = 0; ij < 4 * n; ij++)
          A[floord(ij, 4)][ij % 4] = 0;
        legal: every dependence is kept
        """
        around, within = self._find(outer, statement), self._find(inner, statement)
        if around.body is not within:
            raise ValueError(
                _("{inner} is not directly inside {outer}: reorder or distribute first").format(
                    inner=inner, outer=outer
                )
            )
        found = extent(self.scop, self.tree, within)
        if found is None:
            raise ValueError(
                _(
                    "the range of {inner} is not bounded by numbers, so the loop of {outer} and {inner} "
                    "would not be affine: split {inner}, or write its bounds as numbers"
                ).format(inner=inner, outer=outer)
            )
        called = name or f"{outer}{inner}"
        tree = loop_transforms.collapse(self.tree, around, within, called, *found)
        return self._next(tree, f"collapse({outer}, {inner}, {called})")

    def fuse(self, first: str, second: str) -> Self:
        """Fuse the outermost loops that hold only one of the two statements: ``fuse("S0", "S1")``.

        >>> two = lab.schedule("for (int i = 0; i < n; i++) A[i] = 0; for (int i = 0; i < n; i++) B[i] = A[i];")
        >>> two.fuse("S0", "S1")
        // fuse(S0, S1)
        for (int i = 0; i < n; i++) {
          A[i] = 0;
          B[i] = A[i];
        }
        legal: every dependence is kept
        """
        return self._next(loop_transforms.fuse(self.tree, first, second), f"fuse({first}, {second})")

    def distribute(self, loop: str, *, statement: str | None = None) -> Self:
        """Distribute ``loop``: one loop for each part of its body.

        >>> one = lab.schedule("for (int i = 0; i < n; i++) { A[i] = 0; B[i] = A[i]; }")
        >>> one.distribute("i")
        // distribute(i)
        for (int i = 0; i < n; i++)
          A[i] = 0;
        for (int i = 0; i < n; i++)
          B[i] = A[i];
        legal: every dependence is kept
        """
        return self._next(loop_transforms.distribute(self.tree, self._find(loop, statement)), f"distribute({loop})")

    def unroll(self, loop: str, *, statement: str | None = None) -> Self:
        """Unroll ``loop``; its number of iterations must be a constant.

        >>> print(lab.schedule("for (int i = 0; i < 2; i++) A[i] = 0;").unroll("i").program())
        A[0] = 0;
        A[1] = 0;
        """
        return self._next(loop_transforms.mark(self.tree, self._find(loop, statement), "unroll"), f"unroll({loop})")

    def vectorize(self, loop: str, *, statement: str | None = None) -> Self:
        """Run all iterations of an innermost ``loop`` in one operation; legal if it carries no dependence.

        >>> schedule.vectorize("j").is_legal
        True
        """
        return self._next(
            loop_transforms.mark(self.tree, self._find(loop, statement), "vectorize"), f"vectorize({loop})"
        )

    def parallel(self, loop: str, *, statement: str | None = None) -> Self:
        """Run the iterations of ``loop`` in any order or in parallel; legal if it carries no dependence.

        >>> schedule.parallel("i").is_legal
        True
        >>> lab.schedule("for (int i = 1; i < n; i++) A[i] = A[i - 1];").parallel("i").is_legal
        False
        """
        return self._next(loop_transforms.mark(self.tree, self._find(loop, statement), "parallel"), f"parallel({loop})")
