"""Chapter 31: loops as sets of points, accesses as functions, and the orders that are legal."""

from __future__ import annotations

from triton_lab.course.exercise_kinds import Question
from triton_lab.course.nest_exercises import NestExercise, OrderExercise, misses, steps
from triton_lab.localization import N_, _
from triton_lab.polyhedral.cache_cost import Cache
from triton_lab.polyhedral.related_work.page_nests import WAVEFRONT

# The next loop reads what the first one writes, including the element ahead.
NEIGHBOURS = """\
for (int i = 0; i < n; i++)
  A[i] = 2 * X[i];
for (int i = 0; i < n - 1; i++)
  B[i] = A[i] + A[i + 1];
"""

EXERCISES = (
    NestExercise(
        "band",
        N_("Three diagonals"),
        (
            N_("In row i the columns are i - 1, i and i + 1, if they exist."),
            N_("range(i - 1, i + 2) is too long in the first and the last row. Bounds may use max and min."),
            N_("for j in range(max(0, i - 1), min(n, i + 2)): A[i, j] = 1"),
        ),
        reference=(
            "for (int i = 0; i < n; i++)\n"
            "  for (int j = 0; j < n; j++)\n"
            "    if (i - j <= 1 && j - i <= 1)\n"
            "      A[i][j] = 1;\n"
        ),
    ),
    NestExercise(
        "quarter_turn",
        N_("A quarter turn"),
        (
            N_("Where does the first row of A go? It becomes the last column of B."),
            N_("A[i, j] goes to row j. Its column counts from the end: i = 0 is the last one, n - 1."),
            N_("B[j, n - 1 - i] = A[i, j]"),
        ),
        reference=("for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    B[j][n - 1 - i] = A[i][j];\n"),
    ),
    OrderExercise(
        "fronts",
        N_("All of a diagonal at once"),
        (
            N_("On a diagonal, i + j is constant. Make that the outer loop."),
            N_('order.skew("j", "i") changes j to i + j. Which loop must then be the outer one?'),
            N_('order.skew("j", "i").interchange("i", "j").parallel("i"), or a matrix whose first row is [1, 1].'),
        ),
        nest=WAVEFRONT,
        values={"n": 8},
        asked=(steps(13),),
    ),
    OrderExercise(
        "one_pass",
        N_("Two loops in one pass"),
        (
            N_('order.fuse("S0", "S1") puts both into one loop. Draw it: which value is read before it is computed?'),
            N_("B[i] needs A[i + 1]. S1 must come one iteration later: see `shift`."),
            N_('order.fuse("S0", "S1").shift("i", 1, statement="S1")'),
        ),
        nest=NEIGHBOURS,
        values={"n": 64},
        asked=(misses(24, Cache(lines=4, line_size=8)),),
    ),
    Question(
        "least_stride",
        N_("The least stride without a race"),
        (
            N_("Row r begins at r times the stride, and has 13 elements."),
            N_("The next row must not begin before this one ends."),
        ),
        right=lambda: 13,
        tell=lambda answer, right: _(
            "Record a launch with this stride, as above, and pass it to `lab.polyhedral.scop`."
        ),
    ),
)
