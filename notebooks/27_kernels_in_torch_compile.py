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
# # A kernel in torch.compile
#
# *About 50 minutes. You need chapters 00 to 07, and you have trained a model with PyTorch.*
#
# Triton compiles one kernel. `torch.compile` compiles what is around it: it reads a Python function, and writes kernels
# for all of its tensor operations - in Triton. So your own kernel and the compiler's kernels can work together. In
# this chapter you will
#
# 1. look at the kernels that `torch.compile` writes, with the tools of this lab,
# 2. turn a kernel of yours into an operator that `torch.compile` understands,
# 3. give the operator a gradient,
# 4. count what is fused and what is not, and find the lines that cut a function into pieces.

# %%
import logging
import warnings

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)
# torch.compile traces with tensors without data, which it calls fake, and warns of it.
warnings.filterwarnings("ignore", "Accessing the data pointer of FakeTensor")

# %% [markdown]
# ## What torch.compile sees
#
# `torch.compile` has two halves. The first, *Dynamo*, runs your Python code once in a special way and writes down each
# operation on tensors: the *graph*. The second, the *backend*, makes code of the graph. A backend is a function. This
# one only prints the graph, and returns it as it is:


# %%
def print_graph(graph, inputs):
    print(graph.code)
    return graph


def f(x):
    for _ in range(2):
        x = torch.relu(x) * 2
    return x / x.sum(dim=1, keepdim=True)


x = torch.randn(40, 50)
_ = torch.compile(f, backend=print_graph)(x)

# %% [markdown]
# The loop is gone: Dynamo ran it. Only operations on tensors are left. Without `torch.compile`, each of these six lines
# is a kernel of its own, which loads a tensor and stores a tensor. The usual backend is *Inductor*. It writes
# C++ for a CPU, unless it is told to write Triton, as it does for a GPU:

# %%
import torch._inductor.config as inductor

inductor.cpu_backend = "triton"
inductor.compile_threads = 1  # no processes beside this one
inductor.triton.autotune_pointwise = False  # try fewer block sizes

# %% [markdown]
# **Guess first:** how many kernels does Inductor make of the six lines? (The first call compiles, and
# times a few block sizes. The second one is recorded.)

# %%
compiled = torch.compile(f)
compiled(x)
with lab.record() as launches:
    result = compiled(x)
print("right:", torch.allclose(result, f(x)))
for launch in launches:
    print(launch.kernel, launch.grid)

# %% [markdown]
# One. Everything between the load of `x` and the store of the result happens in registers: this is the *fusion* of
# chapter 01, done by a compiler. The name lists what is fused. And this kernel is a Triton kernel like yours, so the
# lab can open it:

# %%
text = launches[0].source
print(text[text.index("def ") :])

# %% [markdown]
# Read it as you would read your own: `tmp0` is the load, `xmask` and `r0_mask` are masks, `triton_helpers.maximum` is
# `tl.maximum`. It has a row in a block, as the softmax of chapter 07 has. `XBLOCK` is the number of rows of a program:
# the block size that was fastest here. Which program has which rows?

# %%
launches[0].plot.tiling("in_ptr0")

# %% [markdown]
# ## Your kernel among them
#
# Inductor is good at fusing what is next to each other. It does not invent FlashAttention. For such cases you write a
# kernel, and want to use it in a compiled function.
#
# While `torch.compile` works, it runs your function with *fake tensors*: they have a shape, a dtype and strides, but no
# elements. So it knows the shapes of all results before anything is computed. **Guess first:** what does a kernel do
# with such a tensor?


# %%
@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


with torch._subclasses.FakeTensorMode():
    fake = torch.empty(100)
print(fake)
try:
    double_kernel[(1,)](fake, fake, 100, BLOCK=128)
except Exception as error:
    print(error)

# %% [markdown]
# There is nothing to load. So torch must know that this launch is an operation, and which tensors it changes. Two
# functions say so:
#
# - `wrap_triton(kernel)[grid](...)` launches a real kernel if the tensors are real. If they are fake, it only notes the
#   launch in the graph.
# - `@triton_op("library::name", mutates_args={})` makes an *operator* of the function around it. `mutates_args` names
#   the arguments that the kernel changes; with `{}` it changes none. The types of arguments and result must be
#   written, as torch makes the operator's signature from them.


# %%
@triton_op("course::double", mutates_args={})
def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    wrap_triton(double_kernel)[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    return out


print(double(fake))
print(double(torch.arange(4.0)))

# %% [markdown]
# ## Exercise 1: an operator
#
# `x * sigmoid(x) * y`, the gate of many language models. Write the kernel and the operator, for vectors with any
# stride; the result is contiguous and has the dtype of `x`. The check calls `gated`. The backend `aot_eager` traces
# everything as Inductor does, and then writes no code. `fullgraph=True` refuses a function that is not one graph.


# %%
@triton.jit
def gated_kernel(x_ptr, y_ptr, out_ptr, n, x_stride, y_stride, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load both, compute in float32, store
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * x_stride, mask=i < n).to(tl.float32)
    y = tl.load(y_ptr + i * y_stride, mask=i < n).to(tl.float32)
    tl.store(out_ptr + i, x * tl.sigmoid(x) * y, mask=i < n)
    # END SOLUTION


@triton_op("course::gated", mutates_args={})
def gated_op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x * sigmoid(x) * y."""
    # BEGIN SOLUTION: make the result, and launch gated_kernel through wrap_triton
    out = torch.empty(x.shape, dtype=x.dtype)
    n = x.numel()
    wrap_triton(gated_kernel)[(triton.cdiv(n, 128),)](
        x, y, out, n, x.stride(0), y.stride(0), BLOCK=128
    )
    return out
    # END SOLUTION


@torch.compile(backend="aot_eager", fullgraph=True, dynamic=True)
def gated(x, y):
    return gated_op(x, y)


# %%
exercise("gated").check(gated)

# %% [markdown]
# `torch.library.opcheck` tries an operator in the ways in which torch uses it: the signature, gradients, fake tensors,
# and the tracing of `aot_eager`. Put it into the tests of your library:

# %%
torch.library.opcheck(double, (torch.randn(100),))

# %% [markdown]
# `mutates_args` must be the truth: torch reorders operations and keeps copies, and it trusts this line. **Guess
# first:** here the kernel changes its argument, and the operator says that it does not. Which of the four tests fails?


# %%
@triton_op("course::double_in_place", mutates_args={})
def double_in_place(x: torch.Tensor) -> torch.Tensor:
    wrap_triton(double_kernel)[(1,)](x, x, x.numel(), BLOCK=128)
    return x.sum()


try:
    torch.library.opcheck(double_in_place, (torch.ones(3),))
except Exception as error:
    print(str(error).splitlines()[0])

# %% [markdown]
# The signature. With `mutates_args={"x"}` all four pass.
#
# ## A gradient
#
# torch cannot differentiate a kernel. `register_autograd` says what the backward pass is: `setup_context` keeps what
# it needs, and `backward` gets the gradient of the result and returns one gradient for each argument. `double` is
# easy. Only one thing is a trap: gradients can have any strides. That of a sum is a single number, which is read with
# a stride of 0 as if it were a vector. `contiguous` makes it a real one.

# %%
double.register_autograd(lambda ctx, grad: double(grad.contiguous()))
x = torch.randn(5, requires_grad=True)
double(x).sum().backward()
print(x.grad)

# %% [markdown]
# ## Exercise 2: a gradient for an operator
#
# `silu(x) = x * s` with `s = sigmoid(x)`. Its derivative is `s * (1 + x * (1 - s))`. The forward operator is given.
# Write the kernel of the backward pass, and the two functions that `register_autograd` gets. All vectors are
# contiguous. The backward pass is traced with fake tensors, too: that is why its kernel is in an operator.


# %%
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x * tl.sigmoid(x), mask=at < n)


@triton.jit
def silu_backward_kernel(x_ptr, grad_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: the gradient of the result times the derivative
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    grad = tl.load(grad_ptr + i, mask=i < n)
    s = tl.sigmoid(x)
    tl.store(out_ptr + i, grad * s * (1 + x * (1 - s)), mask=i < n)
    # END SOLUTION


@triton_op("course::silu", mutates_args={})
def silu_op(x: torch.Tensor) -> torch.Tensor:
    out, n = torch.empty_like(x), x.numel()
    wrap_triton(silu_kernel)[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    return out


@triton_op("course::silu_backward", mutates_args={})
def silu_backward_op(x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    out, n = torch.empty_like(x), x.numel()
    wrap_triton(silu_backward_kernel)[(triton.cdiv(n, 128),)](x, grad, out, n, BLOCK=128)
    return out


def setup_context(ctx, inputs, output):
    # BEGIN SOLUTION: keep x for the backward pass
    (x,) = inputs
    ctx.save_for_backward(x)
    # END SOLUTION


def backward(ctx, grad):
    # BEGIN SOLUTION: call silu_backward_op
    (x,) = ctx.saved_tensors
    return silu_backward_op(x, grad)
    # END SOLUTION


silu_op.register_autograd(backward, setup_context=setup_context)


@torch.compile(backend="aot_eager", fullgraph=True, dynamic=True)
def silu(x):
    return silu_op(x)


def silu_gradient(x, grad):
    """The gradient of silu at x, times grad."""
    x = x.detach().requires_grad_()
    return torch.autograd.grad(silu(x), x, grad)[0]


# %%
exercise("silu_gradient").check(silu_gradient)

# %% [markdown]
# ## What is fused, and what is not
#
# Your kernel is one step of the graph, and Inductor cannot look into it. So it fuses what comes before and what comes
# after, each by itself. **Guess first:** how many kernels run here, and which?


# %%
@torch.compile(fullgraph=True)
def around(x, y):
    return (double(torch.relu(x) + y) * 3).sum()


x, y = torch.randn(40, 50), torch.randn(40, 50)
around(x, y)
with lab.record() as launches:
    result = around(x, y)
print("right:", torch.allclose(result, (2 * (torch.relu(x) + y) * 3).sum(), rtol=1e-4))
launches

# %% [markdown]
# Three: `relu` and `+` in one, your kernel, `* 3` and `sum` in one. What lies between them is stored and loaded again.
# If Inductor had `double` as `2 * x`, one kernel would do it all. So do not write a kernel for what Inductor can fuse.
# Write one for what it cannot: a different algorithm.
#
# ## Exercise 3: count the launches
#
# `x`, `y` and `z` are matrices of one shape. How many kernels does Inductor's code launch, your own ones included?
#
# ```python
# @torch.compile(fullgraph=True)
# def model(x, y, z):
#     a = double(torch.sigmoid(x) * y + z)
#     b = torch.relu(a - 1)
#     return double(b * b).tanh() + x
# ```

# %%
# BEGIN SOLUTION: a number of launches
launches_of_model = 5
# END SOLUTION

# %%
exercise("launches_of_model").check(launches_of_model)

# %% [markdown]
# See for yourself:


# %%
@torch.compile(fullgraph=True)
def model(x, y, z):
    a = double(torch.sigmoid(x) * y + z)
    b = torch.relu(a - 1)
    return double(b * b).tanh() + x


model(x, y, x)
with lab.record() as launches:
    model(x, y, x)
for launch in launches:
    print(launch.kernel)
launches[2].plot.steps(program=0)

# %% [markdown]
# Third in the list is the kernel between your two launches. Step through it: `a - 1`, the maximum with 0, the square.
#
# ## Where a graph breaks
#
# Dynamo runs the code with fake tensors. So it cannot know a *number* in a tensor. If the code asks for one, the graph
# ends there, Python goes on, and a new graph begins: a *graph break*. Nothing is fused across it, and a GPU waits for
# the CPU. `torch._dynamo.explain` counts the graphs:

# %%
torch._logging.set_logs(dynamo=logging.ERROR)  # no warnings about the breaks that follow


def by_value(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


found = torch._dynamo.explain(by_value)(torch.ones(5))
print("graphs:", found.graph_count, " cut at:", found.break_reasons[0].user_stack[-1].line)

# %% [markdown]
# `torch.where(x.sum() > 0, x + 1, x - 1)` computes both, and chooses on the GPU: one graph. With `fullgraph=True` a
# break is an error that names the line, so it is a good choice for tests.
#
# ## Exercise 4: count the graphs
#
# How many graphs do these four functions have?
#
# ```python
# def by_shape(x):
#     return x + 1 if x.shape[0] > 3 else x - 1
#
# def by_item(x):
#     return x / x.max().item()
#
# def in_a_loop(x):
#     for k in range(5):
#         x = double(x) - k
#     return x
#
# def by_both(x):
#     if x.sum() > 0:
#         x = x + 1
#     return x / x.max().item()
# ```

# %%
# BEGIN SOLUTION: a tuple, (graphs of by_shape, by_item, in_a_loop, by_both)
graphs = (1, 2, 1, 3)
# END SOLUTION

# %%
exercise("graphs").check(graphs)

# %% [markdown]
# See for yourself. A shape is not a number in a tensor: Dynamo knows it, and compiles again if it changes.


# %%
def by_shape(x):
    return x + 1 if x.shape[0] > 3 else x - 1


def by_item(x):
    return x / x.max().item()


def in_a_loop(x):
    for k in range(5):
        x = double(x) - k
    return x


def by_both(x):
    if x.sum() > 0:
        x = x + 1
    return x / x.max().item()


for function in (by_shape, by_item, in_a_loop, by_both):
    torch._dynamo.reset()
    found = torch._dynamo.explain(function)(torch.ones(5))
    print(function.__name__, found.graph_count)

# %% [markdown]
# ## What to remember
#
# - `torch.compile` writes down a graph of tensor operations, and Inductor makes Triton kernels of it. They can be
#   recorded, read and checked like yours.
# - While it traces, tensors are fake. A kernel in an operator is launched through `wrap_triton`.
# - `mutates_args` must be the truth. `torch.library.opcheck` tests an operator.
# - `register_autograd` gives it a gradient, whose kernels are operators as well.
# - Inductor fuses around your kernel, never into it. Write a kernel only for what Inductor cannot do.
# - A question about a number in a tensor breaks the graph. `fullgraph=True` makes that an error.

# %%
lab.course.progress("27")

# %% [markdown]
# **Where to read on.** PyTorch's tutorial *Using User-Defined Triton Kernels with torch.compile*, its manual of
# `torch.library`, and Ansel and others, *PyTorch 2: Faster Machine Learning Through Dynamic Python Bytecode
# Transformation and Graph Compilation*. The [next chapter](28_testing_kernels.ipynb) tests kernels of a library.
