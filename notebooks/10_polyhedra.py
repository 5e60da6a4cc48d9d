# ---
# jupyter:
#   jupytext:
#     formats: py:percent,ipynb
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Polyhedra: domain, access, schedule, legality
#
# The [related-work page](https://triton-lang.org/main/programming-guide/chapter-2/related-work.html) of Triton's
# documentation compares three ways to write fast loops: *polyhedral compilation*, *scheduling languages*, and
# the *blocks* of Triton itself. This chapter and the next are that page as a laboratory. Here you will
#
# 1. see a loop nest as a set of points, and write one for a set that is given,
# 2. read an access as a matrix, and a dependence as an arrow,
# 3. change the order of a nest and be told, for every size at once, whether it is still right,
# 4. prove that the programs of a Triton kernel do not race.
#
# The pictures are live where Python runs behind the page: play the order of execution, point at instances, array
# elements or rows of a matrix, move the sliders.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise
from triton_lab.polyhedral import NotAScop
from triton_lab.polyhedral.related_work import page_nests

# %% [markdown]
# ## A nest is a polyhedron
#
# The page starts from this nest. Bounds and subscripts are *affine*: sums of multiples of iterators and constants.
# A nest of such loops is a *static control part* (a scop), and the points that it visits are the integer points of a
# polyhedron. Each run of the statement is an *instance*, one point of the *domain*. A scop draws itself:

# %%
print(page_nests.PAGE)
page = lab.polyhedral.scop(page_nests.PAGE)
page

# %% [markdown]
# One row of the matrix per bound, in the order of the loops: `i >= 0`, `i <= 2`, `i <= j`, `j <= 4`.

# %%
page.domain.matrix.coefficients(["i", "j"]), page.domain.matrix.constants, page.count()

# %% [markdown]
# The page's figure shows something else than its code: up to `i = 3` and `j = 7`. And its label `i < j` stands on the
# side where `i > j`. Here are both domains, drawn as they are.

# %%
from triton_lab.polyhedral.related_work.page_domain import page_domain

page_domain()

# %% [markdown]
# ## Exercise 1: three diagonals
#
# Set `A[i, j]` to 1 where `i` and `j` differ by one at most, in a matrix of `n` rows and columns. Visit each of these
# elements once, and no other. The check compares your set of points with the asked one, for every `n`.


# %%
def band(A, n):
    # BEGIN SOLUTION: two loops, and bounds that are right in the first row and in the last
    for i in range(n):
        for j in range(max(0, i - 1), min(n, i + 2)):
            A[i, j] = 1
    # END SOLUTION


# %%
exercise("band").check(band)

# %% [markdown]
# `exercise("band").hint()` helps, as everywhere in the course. A Python function with such loops is read and drawn like
# any other nest; errors have its own line numbers.

# %%
lab.polyhedral.scop(band, n=6)

# %% [markdown]
# ## Access functions
#
# Which element does an instance touch? An *access function* is one matrix per access. Below, the instance
# `(3, 2)` of another nest reads two elements that earlier instances have written.

# %%
print(page_nests.WAVEFRONT)
wavefront = lab.polyhedral.scop(page_nests.WAVEFRONT, n=6)
wavefront.plot(instance=(3, 2), dependences="value")

# %% [markdown]
# Every second column up to the diagonal, and an access with its subscripts the other way round:


# %%
def triangle(A, B, n):
    for i in range(n):
        for j in range(0, i + 1, 2):
            if i + j < n:
                A[i, j] = B[i, j] + B[j, i]


lab.polyhedral.scop(triangle, n=8)

# %% [markdown]
# ## Exercise 2: a quarter turn
#
# Turn a matrix to the right: the first row of `A` becomes the last column of `B`.


# %%
def quarter_turn(A, B, n):
    # BEGIN SOLUTION: one statement in two loops
    for i in range(n):
        for j in range(n):
            B[j, n - 1 - i] = A[i, j]
    # END SOLUTION


# %%
exercise("quarter_turn").check(quarter_turn)

# %% [markdown]
# ## What is not a static control part
#
# Loop bounds that the data decide, products of iterators, early exits. Each is refused at its character.

# %%
for text in [
    page_nests.PAGE_SPARSE,
    "for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    A[i*j] = 0;",
    "for (int i = 0; i < n; i++) {\n  A[i] = 0;\n  break;\n}",
    "for (int i = 0; i < n; i++)\n  A[i] = 0",
]:
    try:
        lab.polyhedral.scop(text)
    except NotAScop as refused:
        print(refused, end="\n\n")

# %% [markdown]
# A text need not be a scop as a whole. Its largest parts that are, and what keeps them apart:

# %%
lab.polyhedral.scop(page_nests.PAGE_SPARSE, maximal=True)

# %% [markdown]
# ## Dependences decide what is legal
#
# A domain does not say in which order its points are visited: that is the *schedule* $\Theta$. An order is legal if
# every instance still comes after those whose values it needs. Run the wavefront's rows backwards, and the
# arrows that are broken turn red.

# %%
for dependence in wavefront.dependences:
    print(dependence)

# %%
lab.schedule(wavefront).reverse("i").plot(dependences="value")

# %% [markdown]
# Other orders are legal. Skewing adds one iterator to another: `j` becomes `i + j`. The colours go from the first
# visit to the last.

# %%
skewed = lab.schedule(wavefront).skew("j", "i")
print(skewed)
skewed.plot(order=True)

# %% [markdown]
# A schedule can be typed as a matrix, too. How many of the invertible 2 x 2 matrices with entries from -2 to 2 are
# legal for this nest? The verdict holds for every `n`, not only for the one that is drawn.

# %%
entries = range(-2, 3)
matrices = [
    ((a, b), (c, d))
    for a in entries
    for b in entries
    for c in entries
    for d in entries
    if a * d != b * c
]
legal = [matrix for matrix in matrices if lab.schedule(wavefront).matrix(matrix).is_legal]
len(matrices), len(legal)

# %% [markdown]
# ## Exercise 3: all of a diagonal at once
#
# Write a function that takes the schedule of the wavefront, with `n = 8`, and returns one that is legal and takes 13
# steps: all iterations of a loop that is marked by `.parallel(loop)` are one step. Steps as above will do, or a matrix.


# %%
def fronts(order):
    # BEGIN SOLUTION: the diagonals outside, and what lies on one in parallel
    order = order.skew("j", "i").interchange("i", "j").parallel("i")
    # END SOLUTION
    return order


# %%
exercise("fronts").check(fronts)

# %% [markdown]
# isl has a scheduler of its own (in the manner of Pluto). Given the nest, it finds an order and marks what is parallel.

# %%
leaning = lab.polyhedral.scop(page_nests.SKEWED, n=6)
print(lab.schedule(leaning), "\n")
lab.schedule(leaning).automatic()

# %% [markdown]
# ## Exercise 4: two loops in one pass
#
# The nest below writes all of `A` and then reads all of it. When the second loop begins, the start of `A` is out of the
# cache. If both were one loop, each value would be used while it is near. But `B[i]` needs `A[i + 1]`:

# %%
NEIGHBOURS = """
for (int i = 0; i < n; i++)
  A[i] = 2 * X[i];
for (int i = 0; i < n - 1; i++)
  B[i] = A[i] + A[i + 1];
"""
print(lab.schedule(NEIGHBOURS, n=8).fuse("S0", "S1"))

# %% [markdown]
# Find an order that is legal and in which at most 24 accesses miss a cache of 4 lines of 8 elements, for `n = 64`. Each
# of the three arrays has 8 lines: no order has fewer misses.


# %%
def one_pass(order):
    # BEGIN SOLUTION: one loop, in which the second statement comes later
    order = order.fuse("S0", "S1").shift("i", 1, statement="S1")
    # END SOLUTION
    return order


# %%
exercise("one_pass").check(one_pass)

# %% [markdown]
# Yours, drawn for a small `n`. As handed out, it is the order of the source.

# %%
one_pass(lab.schedule(NEIGHBOURS, n=8))

# %% [markdown]
# ## Why bother: a cache
#
# A transpose reads rows and writes columns. In a small cache (32 lines of 8 elements, the one that was used longest ago
# goes first) tiles make the difference.

# %%
from triton_lab.polyhedral.cache_cost import Cache

transpose = lab.polyhedral.scop(page_nests.TRANSPOSE, n=64)
for schedule in (lab.schedule(transpose), lab.schedule(transpose).tile({"i": 8, "j": 8})):
    print(
        " . ".join(schedule.steps) or "as written",
        "->",
        schedule.cost(Cache(lines=32, line_size=8)),
    )

# %%
small = lab.polyhedral.scop(page_nests.TRANSPOSE, n=8)
lab.schedule(small).tile({"i": 4, "j": 4}).plot(order=True, instance=(2, 5))

# %% [markdown]
# ## A Triton kernel is a nest, too
#
# Its loops are not written down: programs count through the grid, lanes through a block. A recorded launch has the
# sizes, and the compiler's own code has the addresses. This kernel fills the rows of a matrix, one program per row.


# %%
@triton.jit
def fill_rows(out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * row_stride + column, 1.0 * row, mask=column < columns)


with lab.target("cpu"), lab.record() as launches:
    fill_rows[(4,)](torch.zeros(4, 10), 10, 10, BLOCK=16)
rows = lab.polyhedral.scop(launches)
print(rows)

# %% [markdown]
# Program ids and lanes are the iterators, and the mask is a bound like any other. The access function is held against
# every address that the launch recorded. From it follow what each program touches, what programs share, and
# whether they race: here, that they do not, for every number of rows, as long as they are no longer than their stride.

# %%
rows.footprint("out_ptr").counts, rows.reuse("out_ptr").factor

# %%
rows

# %% [markdown]
# With a stride of 8, the last two elements of a row are the first two of the next. Nobody has to be lucky to see it:
# the set of pairs that meet is not empty, and here is one of them. Two programs would store to one element.

# %%
with lab.target("cpu"), lab.record() as launches:
    fill_rows[(4,)](torch.zeros(4, 10), 10, 8, BLOCK=16)
close = lab.polyhedral.scop(launches)
print(close.races.witnesses[0])
close

# %% [markdown]
# ## Exercise 5: the least stride without a race
#
# `fill_rows` shall fill rows of 13 columns. Which is the least `row_stride` with which its programs do not race?

# %%
# BEGIN SOLUTION: a number of elements
least_stride = 13
# END SOLUTION

# %%
exercise("least_stride").check(least_stride)

# %% [markdown]
# ## What you take with you
#
# - A nest with affine bounds is a set of integer points; an access is a matrix; an order is a matrix, too.
# - An order is legal if no value is needed before it is made. That is decided for every size at once.
# - A Triton kernel is a nest whose loops are programs and lanes: so races can be proved absent.

# %%
lab.course.progress("10")

# %% [markdown]
# **Where to read on.** [Scheduling languages and blocks](11_scheduling.ipynb) writes such orders down. Bastoul's
# *Code generation in the polyhedral model is easier than you think* and Verdoolaege's isl say how it is done.
