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
# *About 45 minutes. You need no chapter before it.*
#
# The [related-work page](https://triton-lang.org/main/programming-guide/chapter-2/related-work.html) of Triton's
# documentation compares three ways to write fast loops: *polyhedral compilation*, *scheduling languages*, and
# the *blocks* of Triton itself. This chapter and the next let you try the ideas of that page. Here you will
#
# 1. see a loop nest as a set of points, and write a nest for a given set,
# 2. read an access as a matrix, and a dependence as an arrow,
# 3. change the order of a nest and find out, for every size at once, whether it is still right,
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
# The page's figure does not match its code: it goes up to `i = 3` and `j = 7`. And its label `i < j` is on the side
# where `i > j`. Here are both domains.

# %%
from triton_lab.polyhedral.related_work.page_domain import page_domain

page_domain()

# %% [markdown]
# ## Exercise 1: three diagonals
#
# Set `A[i, j]` to 1 where `i` and `j` differ by at most one, in a matrix of `n` rows and columns. Visit each of these
# elements once, and no other. The check compares your set of points with the right one, for every `n`.


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
# Which element does an instance touch? The *access function* says it: one matrix for each access. Below, the instance
# `(3, 2)` of another nest reads two elements that earlier instances have written.

# %%
print(page_nests.WAVEFRONT)
wavefront = lab.polyhedral.scop(page_nests.WAVEFRONT, n=6)
wavefront.plot(instance=(3, 2), dependences="value")

# %% [markdown]
# Next comes every second column up to the diagonal, as long as `i + j < n`, and one access has its subscripts
# exchanged:


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
# Three nests are refused: a loop bound that depends on data, a product of iterators, and a `return`. (A `break` is
# allowed.) The fourth text lacks a semicolon. Each error points at the place.

# %%
for text in [
    page_nests.PAGE_SPARSE,
    "for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    A[i*j] = 0;",
    "for (int i = 0; i < n; i++) {\n  A[i] = 0;\n  return;\n}",
    "for (int i = 0; i < n; i++)\n  A[i] = 0",
]:
    try:
        lab.polyhedral.scop(text)
    except NotAScop as refused:
        print(refused, end="\n\n")

# %% [markdown]
# Code need not be a scop as a whole. These are its largest parts that are scops, and the reasons that separate
# them:

# %%
lab.polyhedral.scop(page_nests.PAGE_SPARSE, maximal=True)

# %% [markdown]
# ## Dependences decide what is legal
#
# A domain does not give the order in which its points are visited. The *schedule* $\Theta$ does. An order is legal if
# every instance comes after the instances whose values it needs. Run the wavefront's rows backwards, and the broken
# arrows turn red.

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
# You can also write a schedule as a matrix. How many of the invertible 2 x 2 matrices with entries from -2 to 2 are
# legal for this nest? The verdict holds for every `n`, not only for the `n` in the picture.

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
# steps: all iterations of a loop that is marked by `.parallel(loop)` are one step. Use transformations as above, or a
# matrix.


# %%
def fronts(order):
    # BEGIN SOLUTION: the diagonals outside, and what lies on one in parallel
    order = order.skew("j", "i").interchange("i", "j").parallel("i")
    # END SOLUTION
    return order


# %%
exercise("fronts").check(fronts)

# %% [markdown]
# The lab uses the library *isl*, which has a scheduler of its own. Given the nest, it finds an order and marks the
# parallel loops.

# %%
leaning = lab.polyhedral.scop(page_nests.SKEWED, n=6)
print(lab.schedule(leaning), "\n")
lab.schedule(leaning).automatic()

# %% [markdown]
# ## Exercise 4: two loops in one pass
#
# The nest below writes all of `A` and then reads all of it. When the second loop begins, the start of `A` is no
# longer in the cache. In one loop, each value would be used while it is still in the cache. But `B[i]` needs `A[i +
# 1]`:

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
# Your order for a small `n`. Before your change, it is the order of the source.

# %%
one_pass(lab.schedule(NEIGHBOURS, n=8))

# %% [markdown]
# ## Why the order matters: a cache
#
# A transpose reads rows and writes columns. In a small cache (32 lines of 8 elements, least recently used replaced
# first) tiles make the difference.

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
# Its loops are implicit: one over the programs of the grid, one over the lanes of a block. A recorded launch has the
# sizes, and the compiler's code has the addresses. This kernel fills the rows of a matrix, one program per row.


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
# Program ids and lanes are the iterators, and the mask is a bound like any other. The access function is compared
# with every recorded address of the launch. It shows which elements each program touches, which elements programs
# share, and whether they race. Here they do not, for every number of rows, if a row is not longer than its stride.

# %%
rows.footprint("out_ptr").counts, rows.reuse("out_ptr").factor

# %%
rows

# %% [markdown]
# With a stride of 8, the last two elements of a row are the first two of the next. No lucky run is needed to see it:
# the set of conflicting pairs is not empty, and here is one of them. Two programs store to one element.

# %%
with lab.target("cpu"), lab.record() as launches:
    fill_rows[(4,)](torch.zeros(4, 10), 10, 8, BLOCK=16)
close = lab.polyhedral.scop(launches)
print(close.races.witnesses[0])
close

# %% [markdown]
# ## Exercise 5: the least stride without a race
#
# `fill_rows` must fill rows of 13 columns. What is the smallest `row_stride` without a race?

# %%
# BEGIN SOLUTION: a number of elements
least_stride = 13
# END SOLUTION

# %%
exercise("least_stride").check(least_stride)

# %% [markdown]
# ## What to remember
#
# - A nest with affine bounds is a set of integer points; an access is a matrix; an order is a matrix, too.
# - An order is legal if no value is needed before it is computed. This is decided for every size at once.
# - A Triton kernel is a nest whose loops are programs and lanes. So the absence of races can be proved.

# %%
lab.course.progress("31")

# %% [markdown]
# **Where to read on.** [Scheduling languages and blocks](32_scheduling.ipynb) is about notations for such orders.
# Bastoul's *Code generation in the polyhedral model is easier than you think* and Verdoolaege's isl explain the
# methods.
