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
# # Testing kernels without a GPU
#
# *About 60 minutes. You need chapters 00 to 07. You have written a test with pytest.*
#
# A kernel in a library is used for years, with sizes that nobody tried. So it needs tests, and the tests must run on
# each change, on a machine that everybody has. In this chapter you will
#
# 1. choose sizes that show mistakes, and tolerances that do not hide them,
# 2. write tests that tell a right kernel from ten wrong ones,
# 3. let hypothesis search for the inputs, and let the lab search for mistakes that no result shows,
# 4. put all of it into a workflow that runs without a GPU, and prove what tests cannot show.

# %%
import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## A kernel and its reference
#
# The kernel of this chapter divides each row by the root of the mean of its squares. Language models call it *RMS
# norm*. The reference beside it says the same in torch: slow, in float64, rounded once at the end, and so simple that
# it cannot be wrong.


# %%
@triton.jit
def norm_kernel(x_ptr, out_ptr, columns, count, stride, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + j, mask=j < columns, other=0.0).to(tl.float32)
    mean = tl.sum(x * x, axis=0) / count
    tl.store(out_ptr + row * columns + j, x / tl.sqrt(mean + 1e-6), mask=j < columns)


def norm(x, count=None, stride=None, block=None):
    rows, columns = x.shape
    out = torch.zeros(x.shape, dtype=x.dtype)
    block = block or triton.next_power_of_2(columns)
    norm_kernel[(rows,)](x, out, columns, count or columns, stride or x.stride(0), BLOCK=block)
    return out


def reference(x):
    wide = x.double()
    return (wide / (wide.square().mean(1, keepdim=True) + 1e-6).sqrt()).to(x.dtype)


# %% [markdown]
# The extra arguments of `norm` are there to make mistakes on purpose. Here are three wrong launchers. **Guess first:**
# a test takes a matrix of 8 by 64. Which of the three does it find?

# %%
wrong = {
    "divides by the size of its block": lambda x: norm(x, count=triton.next_power_of_2(x.shape[1])),
    "has a block of 64 columns": lambda x: norm(x, block=64),
    "assumes contiguous rows": lambda x: norm(x, stride=x.shape[1]),
}
inputs = {
    "8 x 64": torch.randn(8, 64),
    "8 x 63": torch.randn(8, 63),
    "1 x 65": torch.randn(1, 65),
    "8 x 63, a view": torch.randn(8, 70)[:, 3:66],
}
for what, function in wrong.items():
    found = {
        name: not torch.allclose(function(x), reference(x), atol=1e-5) for name, x in inputs.items()
    }
    print(f"{what:33}", "  ".join(name for name, is_found in found.items() if is_found))

# %% [markdown]
# None. Round sizes hide mistakes, as their masks are always true and their blocks always full. Good sizes are:
#
# - one more and one less than a block, one element, more than two blocks,
# - different for each dimension, so that an exchange shows,
# - views: not contiguous, and not at the start of their memory.
#
# ## Exercise 1: one shape
#
# One contiguous matrix of random numbers can find all of these six mistakes. Which `(rows, columns)`? Take no more than
# 150 elements. Programs have 4 rows each. The six kernels
#
# - divide by the size of the block, a power of two, instead of the number of columns,
# - have a block of 64 columns, whatever the matrix has,
# - have a grid of `rows // 4` programs,
# - use the sum of each program's first row for all of its rows,
# - exchange rows and columns in the stride,
# - have no mask for the columns.

# %%
# BEGIN SOLUTION: a tuple, (rows, columns)
one_shape = (2, 65)
# END SOLUTION

# %%
exercise("one_shape").check(one_shape)

# %% [markdown]
# ## How near is near enough?
#
# A float16 has 11 significant bits, so a rounded result is off by up to `2 ** -11` of itself, about 0.0005. A float32
# has 24 bits. Sums have one rounding for each term, and their order changes from kernel to kernel. **Guess first:** a
# kernel keeps its sums in float16. A test has float16 inputs, 5,000 columns, and `rtol=1e-2`. Does it find this?


# %%
@triton.jit
def half_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float16)
    for start in range(0, columns, BLOCK):
        x = tl.load(x_ptr + row * columns + start + j, mask=start + j < columns, other=0.0)
        total += x * x
    scale = 1 / tl.sqrt(tl.sum(total.to(tl.float32), axis=0) / columns + 1e-6)
    for start in range(0, columns, BLOCK):
        x = tl.load(x_ptr + row * columns + start + j, mask=start + j < columns, other=0.0)
        tl.store(out_ptr + row * columns + start + j, x * scale, mask=start + j < columns)


x = torch.full((4, 5000), 0.3).half()
out = torch.empty_like(x)
half_kernel[(4,)](x, out, 5000, BLOCK=32)
print("rtol=1e-2 is satisfied:", torch.allclose(out, reference(x), rtol=1e-2))
try:
    lab.testing.assert_close(out, reference(x), ulps=2)
except AssertionError as error:
    print(str(error).splitlines()[0])

# %% [markdown]
# No. `lab.testing.assert_close` counts in *units in the last place* (ulp): the distance between a number and the next
# one of its dtype. For a sum, give it the number of `terms`, and it computes what another order may change. A right
# kernel for float16 computes in float32 and rounds once, so it is at most one or two units away. A tolerance is a
# claim: derive it from the dtype, and write down why.
#
# ## Exercise 2: a test for the norm
#
# Write the test. `check_norm(norm)` gets a function like `norm` above, for matrices of float32 and float16 with any
# strides. It raises an error if the function is wrong, and none if it is right. The judge calls it with
# three right kernels, which add up in different orders, and with twelve wrong ones. A test must not depend on luck:
# seed your numbers.


# %%
def check_norm(norm):
    # BEGIN SOLUTION: shapes, dtypes, strides, large and small numbers, zeros
    def check(x):
        wide = x.double()
        expected = wide / (wide.square().mean(1, keepdim=True) + 1e-6).sqrt()
        lab.testing.assert_close(norm(x), expected.to(x.dtype), ulps=4)

    generator = torch.Generator().manual_seed(0)
    for dtype in (torch.float32, torch.float16):
        for rows, columns in ((1, 1), (5, 31), (3, 64), (2, 65), (7, 100), (9, 300)):
            for scale in (1.0, 100.0):
                x = (torch.randn(rows, columns, generator=generator) * scale).to(dtype)
                check(x)
                check(x.T)
    check(torch.zeros(3, 10))
    # END SOLUTION


# %%
exercise("check_norm").check(check_norm)

# %% [markdown]
# ## Let hypothesis search
#
# You cannot think of all inputs. *hypothesis* makes them: `lab.testing.tensors` gives tensors with odd sizes, strange
# strides and special values. If a test fails, hypothesis makes the example smaller as long as the test still fails.
# **Guess first:** what is the smallest matrix that shows a division by the size of the block?

# %%
from hypothesis import given, settings

shapes = lab.testing.shapes(min_dims=2, max_dims=2, blocks=[16], empty=False)
matrices = lab.testing.tensors(torch.float32, shapes, layouts=["contiguous"], special=False)


@settings(max_examples=60, database=None, derandomize=True, deadline=None)
@given(matrices)
def test_norm(x):
    smallest["x"] = x
    lab.testing.assert_close(wrong["divides by the size of its block"](x), reference(x), ulps=8)


smallest = {}
try:
    test_norm()
except AssertionError:
    print("the smallest matrix that fails:", tuple(smallest["x"].shape))

# %% [markdown]
# One row of three columns: 3 is the smallest number that is no power of two. A mistake in such a small example can be
# followed by hand.
#
# ## Exercise 3: a test for sums by index
#
# `add(values, index, size)` returns a float32 vector of `size` sums: `out[index[i]] += values[i]`. `values` are
# float32, `index` are int32. Write `check_add(add)`: two right kernels pass, and ten wrong ones do not. What can go
# wrong here that cannot go wrong in a norm?


# %%
def check_add(add):
    # BEGIN SOLUTION: repeated indices, both ends, sums that cancel, several blocks, bins without values
    generator = torch.Generator().manual_seed(0)
    for n, size in ((1, 1), (64, 5), (65, 9), (200, 7), (333, 50)):
        values = torch.randn(n, generator=generator) * 3
        index = torch.randint(0, size, (n,), generator=generator, dtype=torch.int32)
        index[0], index[-1] = 0, size - 1
        expected = torch.zeros(size, dtype=torch.float64).index_add_(0, index, values.double())
        lab.testing.assert_close(
            add(values, index, size), expected.float(), terms=n, magnitude=values.abs().sum().item()
        )
    # END SOLUTION


# %%
exercise("check_add").check(check_add)

# %% [markdown]
# ## In a library
#
# Now the files. A kernel, its launcher and its reference belong into one module, and its tests into a folder of their
# own:
#
# ```text
# norms/
#   pyproject.toml
#   norms.py                      kernel, launcher, reference
#   tests/test_norms.py
#   examples/all_kernels.py       a script that launches each kernel once
#   .github/workflows/triton.yml
# ```
#
# This kernel has a mistake that no result on a CPU shows. **Guess first:** what is it?

# %%
library = Path(tempfile.mkdtemp()) / "norms"
(library / "tests").mkdir(parents=True)
(library / "norms.py").write_text("""\
import torch
import triton
import triton.language as tl


@triton.jit
def norm_kernel(x_ptr, out_ptr, columns, stride, SIGNED: tl.constexpr, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    mask = j < columns
    x = tl.load(x_ptr + row * stride + j, mask=mask).to(tl.float32)
    if not SIGNED:
        x = tl.abs(x)
    mean = tl.sum(x * x, axis=0) / columns
    tl.store(out_ptr + row * columns + j, x / tl.sqrt(mean + 1e-6), mask=mask)


def norm(x, signed=True):
    rows, columns = x.shape
    out = torch.empty(x.shape, dtype=x.dtype)
    block = triton.next_power_of_2(columns)
    norm_kernel[(rows,)](x, out, columns, x.stride(0), SIGNED=signed, BLOCK=block)
    return out


def reference(x):
    wide = x.double()
    return (wide / (wide.square().mean(1, keepdim=True) + 1e-6).sqrt()).to(x.dtype)
""")
(library / "tests" / "test_norms.py").write_text("""\
import pytest
import torch
from triton_lab.testing import assert_close

from norms import norm, reference


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("columns", [1, 63, 65, 100])
@pytest.mark.parametrize("rows", [1, 3])
def test_norm(rows, columns, dtype):
    torch.manual_seed(0)
    x = torch.randn(rows, columns).to(dtype)
    assert_close(norm(x), reference(x), ulps=4)
""")


def run(*command):
    """The output of a command in the library's folder."""
    made = subprocess.run(
        [sys.executable, "-m", *command], cwd=library, capture_output=True, text=True, check=False
    )
    return made.stdout


# %% [markdown]
# Three decorators make 16 tests; here one of them runs. `--triton-lab=check` runs kernels on the CPU, and the lab
# examines each launch. A finding of severity error fails the test, here also a warning. `--triton-lab-cov` notes which
# lines of kernels ran:

# %%
options = ["-q", "--color=no", "-p", "no:cacheprovider", "-k", "3-63-dtype0"]
lab_options = ["--triton-lab=check", "--triton-lab-fail-on=warning", "--triton-lab-cov"]
told = run("pytest", *options, *lab_options)
for line in told.splitlines():
    print(textwrap.fill(line, 100, subsequent_indent="    ", drop_whitespace=False))

# %% [markdown]
# The numbers are right: the lab gives 0 for lanes that the mask turns off. A GPU gives anything. The load needs
# `other=0.0`. At the end stands what the tests never tried: `SIGNED` is always true, so the line with `tl.abs` was
# never even compiled. The usual tools for coverage cannot see this, as they do not look into kernels.
#
# ## A script and its findings
#
# `triton-lab check` does the same for a script, without any tests. Code hosts read its findings in the format *SARIF*,
# and show them at their lines in a pull request:

# %%
(library / "examples").mkdir()
(library / "examples" / "all_kernels.py").write_text("""\
import sys

import torch

sys.path.insert(0, ".")
from norms import norm

norm(torch.randn(3, 100))
""")
script = "examples/all_kernels.py"
run("triton_lab", "check", script, "--strict", "--format", "sarif", "--output", "found.sarif")
(report,) = json.loads((library / "found.sarif").read_text())["runs"]
for result in report["results"]:
    place = result["locations"][0]["physicalLocation"]
    line = place["region"]["startLine"]
    print(
        f"{result['level']}: {Path(place['artifactLocation']['uri']).name}, line {line}: {result['ruleId']}"
    )
    print(textwrap.indent(textwrap.fill(result["message"]["text"].splitlines()[0], 96), "    "))

# %% [markdown]
# This is the whole workflow of a project on GitHub. The machine has no GPU. The job fails if a test fails, or if the
# lab finds an error or a warning:
#
# ```yaml
# name: Triton
# on: [push, pull_request]
# permissions:
#   contents: read
#   security-events: write # to upload findings
# jobs:
#   kernels:
#     runs-on: ubuntu-latest
#     steps:
#       - uses: actions/checkout@v4
#       - uses: actions/setup-python@v5
#         with:
#           python-version: "3.12"
#       - run: pip install torch 'triton-lab[testing]' .
#       - run: pytest --triton-lab=check --triton-lab-fail-on=warning --triton-lab-cov
#       - run: triton-lab check examples/all_kernels.py --strict --format sarif --output found.sarif
#       - uses: github/codeql-action/upload-sarif@v3
#         if: always()
#         with:
#           sarif_file: found.sarif
# ```
#
# ## A proof, for every size
#
# A test shows what happens at its sizes. For some properties a launch is enough to know all sizes: the lab walks
# through the kernel with symbols instead of numbers.

# %%
with lab.record() as launches:
    norm(torch.randn(3, 100))
lab.prove(launches)

# %% [markdown]
# One line is red: with 129 columns, element 128 is never written. The proof is about this kernel with `BLOCK` 128, and
# the launcher takes a larger block for 129 columns. Say so, as an assumption:

# %%
lab.prove(launches, assume=["columns <= 128"])

# %% [markdown]
# Now all of it holds, for up to 128 columns. Nearly all of it holds for every number of rows and every stride. Only the
# addresses have a limit: the lab proves it for up to 46,341 rows and strides up to 46,341, since the product of two
# larger numbers may not fit into 32 bits. What a proof does not say is whether the *numbers* are right. For this you
# need the tests.
#
# ## What to remember
#
# - A reference is simple, slow and in float64. Round sizes hide mistakes: take odd ones, and views.
# - A tolerance follows from the dtype. `rtol=1e-2` hides a sum in float16.
# - A test is good if wrong kernels fail it. Make mistakes on purpose, and see.
# - Results do not show everything: `--triton-lab=check` finds races, uninitialised memory and masked-off lanes that
#   count, and `--triton-lab-cov` the lines that no test ran.
# - A workflow without a GPU can run all of this on each change. A proof holds for every size.

# %%
lab.course.progress("28")

# %% [markdown]
# **Where to read on.** `docs/testing.md` has all options of the plugin, and `docs/ci.md` more workflows. Goldberg's
# *What every computer scientist should know about floating-point arithmetic* explains units in the last place, and
# MacIver's articles on *hypothesis* how examples become small.
