"""What a kernel has in place of functions of Python, torch, NumPy and CUDA."""

from __future__ import annotations

from triton_lab.localization import N_, translated

_OF_PYTHON = {
    "enumerate": N_("write `for i in range(n)`"),
    "zip": N_("write `for i in range(n)` and index by addresses"),
    "reversed": N_("write `for i in range(n - 1, -1, -1)`, or reverse a block with tl.flip(x)"),
    "sorted": N_("use tl.sort(x) for a block"),
    "any": N_("use tl.max(condition.to(tl.int32), axis) > 0"),
    "all": N_("use tl.min(condition.to(tl.int32), axis) > 0"),
    "divmod": N_("use a // b and a % b"),
    "round": N_("use tl.floor(x + 0.5)"),
    "pow": N_("use x * x, or tl.exp2(y * tl.log2(x))"),
    "bool": N_("use `x != 0`"),
    "float": N_("use x.to(tl.float32)"),
    "int": N_("use x.to(tl.int32)"),
    "type": N_("look at x.dtype; convert with x.to(dtype)"),
    "tuple": N_("write (a, b)"),
    "dict": N_("use separate variables, or a tuple: (a, b)"),
    "set": N_("use separate variables, or a tuple: (a, b)"),
    "slice": N_("add offsets to a pointer: tl.load(pointer + start + tl.arange(0, SIZE))"),
    "str": N_('print the value itself: tl.device_print("x = ", x)'),
    "repr": N_('print the value itself: tl.device_print("x = ", x)'),
    "open": N_("store the results in a tensor, and write the file after the launch"),
    "input": N_("pass the value as an argument of the kernel"),
    "exit": N_("let the rest of the kernel depend on an `if`, or on a mask"),
    "quit": N_("let the rest of the kernel depend on an `if`, or on a mask"),
    "time": N_("measure whole launches: triton.testing.do_bench(lambda: kernel[grid](...))"),
    "sleep": N_("leave it out: programs of a grid do not wait for time"),
    "random": N_("use tl.rand(seed, offsets)"),
    "randint": N_("use tl.randint(seed, offsets)"),
}
# A kernel is compiled, so Python's debugger never sees it run.
_DEBUGGED = N_("write breakpoint(), which opens the lab's debugger there")
_OF_PYTHON |= dict.fromkeys(("pdb.set_trace", "set_trace"), _DEBUGGED)
_OF_PYTHON |= dict.fromkeys(("perf_counter", "monotonic"), _OF_PYTHON["time"])

_OF_TORCH = {
    "matmul": N_("use tl.dot"),
    "mm": N_("use tl.dot"),
    "concatenate": N_("use tl.cat or tl.join"),
    "stack": N_("use tl.join"),
    "tensor": N_("use tl.full"),
    "array": N_("use tl.full"),
    "ones": N_("use tl.full(shape, 1, dtype)"),
    "ones_like": N_("use tl.full(x.shape, 1, x.dtype)"),
    "empty": N_("use tl.zeros(shape, dtype)"),
    "linspace": N_("use tl.arange(0, n) * step"),
    "power": N_("use x * x, or tl.exp2(y * tl.log2(x))"),
    "double": N_("use x.to(tl.float64)"),
    "half": N_("use x.to(tl.float16)"),
    "long": N_("use x.to(tl.int64)"),
    "astype": N_("use x.to(dtype)"),
    "view": N_("use x.reshape(...), or x.to(dtype, bitcast=True) for another type of the same bits"),
    "size": N_("pass the size as an argument"),
    "stride": N_("pass the stride as an argument"),
    "numel": N_("pass the number of elements as an argument"),
    "transpose": N_("use tl.trans(x)"),
    "t": N_("use tl.trans(x)"),
    "unsqueeze": N_("use x[:, None] or tl.expand_dims(x, axis)"),
    "squeeze": N_("use tl.reshape(x, shape)"),
    "flatten": N_("use tl.ravel(x)"),
    "expand": N_("use tl.broadcast_to(x, shape)"),
    "repeat": N_("use tl.broadcast_to(x, shape) and tl.reshape"),
    "item": N_("reduce it: tl.sum(x)"),
    "mean": N_("use tl.sum(x, axis) / n"),
    "var": N_("use tl.sum((x - mean) * (x - mean), axis) / n"),
    "std": N_("use tl.sqrt of the variance, tl.sum((x - mean) * (x - mean), axis) / n"),
    "prod": N_("use tl.reduce with a function that multiplies"),
    "relu": N_("use tl.maximum(x, 0)"),
    "tanh": N_("use 2 * tl.sigmoid(2 * x) - 1, or libdevice.tanh of triton.language.extra"),
    "gelu": N_("use 0.5 * x * (1 + tl.erf(x * 0.70710678))"),
    "silu": N_("use x * tl.sigmoid(x)"),
    "tan": N_("use tl.sin(x) / tl.cos(x)"),
    "log10": N_("use tl.log2(x) * 0.30103"),
    "reciprocal": N_("use 1 / x"),
    "square": N_("use x * x"),
    "sign": N_("use tl.where(x > 0, 1, tl.where(x < 0, -1, 0))"),
    "isnan": N_("use x != x"),
    "isinf": N_('use tl.abs(x) == float("inf")'),
    "data_ptr": N_("the argument itself is the pointer: add offsets to it"),
    "contiguous": N_("copy the tensor before the launch, or use its strides"),
}

_OF_CUDA = {
    "syncthreads": N_("use tl.debug_barrier(); most kernels need none, since Triton places the barriers"),
    "thread_id": N_("a program works on whole blocks, not on threads: use tl.arange(0, BLOCK)"),
    "threadIdx": N_("a program works on whole blocks, not on threads: use tl.arange(0, BLOCK)"),
    "thread_idx": N_("a program works on whole blocks, not on threads: use tl.arange(0, BLOCK)"),
    "blockIdx": N_("use tl.program_id(0)"),
    "block_id": N_("use tl.program_id(0)"),
    "blockDim": N_("the size of a block is a `tl.constexpr` argument, such as BLOCK"),
    "gridDim": N_("use tl.num_programs(0)"),
    "shared": N_("Triton places shared memory itself: keep the values in a variable"),
    "shared_memory": N_("Triton places shared memory itself: keep the values in a variable"),
    "atomic_sub": N_("use tl.atomic_add(pointer, -value)"),
    "atomic_inc": N_("use tl.atomic_add(pointer, 1)"),
    "atomic_exch": N_("use tl.atomic_xchg(pointer, value)"),
    "popc": N_("use libdevice.popc of triton.language.extra"),
}

_INSTEAD = _OF_PYTHON | _OF_TORCH | _OF_CUDA


def instead_of(name: str) -> str:
    """What a kernel uses in place of a function, as an order without its full stop; "" if the tables have none."""
    return translated(_INSTEAD.get(name, ""))
