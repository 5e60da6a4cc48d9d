"""Samples, codes, hashes, rotations and products, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.applications.gates_and_norms import ints, rand
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def inverse_cdf(p_ptr, u_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    p = tl.load(p_ptr + row * n + cols, mask=cols < n, other=0.0)
    climbed = tl.cumsum(p, axis=0)
    total = tl.sum(p, axis=0)
    u = tl.load(u_ptr + row) * total
    below = (climbed <= u) & (cols < n)
    choice = tl.sum(below.to(tl.int32), axis=0)
    tl.store(out_ptr + row, tl.minimum(choice, n - 1))


def run_inverse_cdf(kernel):
    kernel[(12,)](rand(12, 20) * 3, rand(12, seed=1), torch.zeros(12, dtype=torch.int32), 20, BLOCK=32)


@triton.jit
def table_dequantize(code_ptr, table_ptr, scale_ptr, out_ptr, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    packed = tl.load(code_ptr + at // 2, mask=at < n, other=0).to(tl.int32)
    nibble = tl.where(at % 2 == 0, packed >> 4, packed & 15)
    value = tl.load(table_ptr + nibble)
    scale = tl.load(scale_ptr + at // GROUP, mask=at < n, other=0.0)
    tl.store(out_ptr + at, value * scale, mask=at < n)


def run_table_dequantize(kernel):
    code = ints(0, 256, 40, seed=3, dtype=torch.uint8)
    kernel[(3,)](code, torch.linspace(-1, 1, 16), rand(80, seed=1) + 0.5, torch.zeros(80), 80, GROUP=16, BLOCK=32)


@triton.jit
def rope_pairs(q_ptr, position_ptr, out_ptr, heads, dim, base_log2, HALF: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1)
    j = tl.arange(0, HALF)
    position = tl.load(position_ptr + token)
    frequency = tl.exp2(-(2.0 * j / dim) * base_log2)
    angle = position * frequency
    cos = tl.cos(angle)
    sin = tl.sin(angle)
    at = (token * heads + head) * dim + 2 * j
    even = tl.load(q_ptr + at)
    odd = tl.load(q_ptr + at + 1)
    tl.store(out_ptr + at, even * cos - odd * sin)
    tl.store(out_ptr + at + 1, even * sin + odd * cos)


def run_rope_pairs(kernel):
    position = torch.tensor([3, 0, 7, 12, 5], dtype=torch.int32)
    kernel[(5, 2)](randn(5, 2, 16), position, torch.zeros(5, 2, 16), 2, 16, 13.287712, HALF=8)


def right_rope_pairs(q_ptr, position_ptr, **_):
    angle = position_ptr[:, None, None] * 10000.0 ** (-torch.arange(0, 16, 2) / 16)
    a, b = q_ptr[..., ::2], q_ptr[..., 1::2]
    return {
        "out_ptr": torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(2)
    }


@triton.jit
def top_two_gate(logit_ptr, expert_ptr, weight_ptr, n, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    e = tl.arange(0, BLOCK)
    logits = tl.load(logit_ptr + token * n + e, mask=e < n, other=float("-inf"))
    powers = tl.exp(logits - tl.max(logits, axis=0))
    p = powers / tl.sum(powers, axis=0)
    first = tl.argmax(p, axis=0)
    rest = tl.where(e == first, -1.0, p)
    second = tl.argmax(rest, axis=0)
    p1 = tl.max(p, axis=0)
    p2 = tl.max(rest, axis=0)
    both = p1 + p2
    tl.store(expert_ptr + token * 2, first)
    tl.store(expert_ptr + token * 2 + 1, second)
    tl.store(weight_ptr + token * 2, p1 / both)
    tl.store(weight_ptr + token * 2 + 1, p2 / both)


def run_top_two_gate(kernel):
    kernel[(7,)](randn(7, 12), torch.zeros(7, 2, dtype=torch.int32), torch.zeros(7, 2), 12, BLOCK=16)


def right_top_two_gate(logit_ptr, **_):
    value, index = torch.softmax(logit_ptr, 1).topk(2, 1)
    return {"expert_ptr": index.int(), "weight_ptr": value / value.sum(1, keepdim=True)}


@triton.jit
def depthwise(x_ptr, w_ptr, b_ptr, y_ptr, channels, height, width, SIDE: tl.constexpr, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    c = plane % channels
    p = tl.arange(0, BLOCK)
    row = p // width
    col = p % width
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(SIDE):
        for j in range(SIDE):
            y = row + i - SIDE // 2
            x = col + j - SIDE // 2
            inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
            value = tl.load(x_ptr + (plane * height + y) * width + x, mask=inside, other=0.0)
            acc += value * tl.load(w_ptr + (c * SIDE + i) * SIDE + j)
    acc += tl.load(b_ptr + c)
    tl.store(y_ptr + plane * height * width + p, acc, mask=p < height * width)


def run_depthwise(kernel):
    x, w, b = randn(2, 3, 5, 6), randn(9, 3, 3, seed=1)[:3], randn(3, seed=2)
    kernel[(6,)](x, w, b, torch.zeros(2, 3, 5, 6), 3, 5, 6, SIDE=3, BLOCK=32)


@triton.jit
def hamming(a_ptr, b_ptr, out_ptr, words, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    distance = tl.zeros((BLOCK,), tl.int32)
    for w in range(words):
        a = tl.load(a_ptr + i * words + w)
        b = tl.load(b_ptr + j * words + w, mask=j < n, other=0)
        v = a ^ b
        v = v - ((v >> 1) & 0x55555555)
        v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
        v = (v + (v >> 4)) & 0x0F0F0F0F
        distance += (v * 0x01010101) >> 24
    tl.store(out_ptr + i * n + j, distance, mask=j < n)


def run_hamming(kernel):
    kernel[(4,)](
        ints(0, 2**31 - 1, 4, 2),
        ints(0, 2**31 - 1, 10, 2, seed=1),
        torch.zeros(4, 10, dtype=torch.int32),
        2,
        10,
        BLOCK=16,
    )


def right_hamming(a_ptr, b_ptr, **_):
    def bits(t):
        return (t[..., None] >> torch.arange(32)) & 1

    return {"out_ptr": (bits(a_ptr)[:, None] != bits(b_ptr)[None]).sum((2, 3)).int()}


@triton.jit
def string_hash(byte_ptr, start_ptr, out_ptr, n, BLOCK: tl.constexpr):
    s = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first = tl.load(start_ptr + s, mask=s < n, other=0)
    last = tl.load(start_ptr + s + 1, mask=s < n, other=0)
    h = tl.full((BLOCK,), 5381, tl.int32)
    longest = tl.max(last - first, axis=0)
    for k in range(longest):
        live = first + k < last
        byte = tl.load(byte_ptr + first + k, mask=live, other=0).to(tl.int32)
        h = tl.where(live, (h * 33) ^ byte, h)
    tl.store(out_ptr + s, h, mask=s < n)


def run_string_hash(kernel):
    start = torch.tensor([0, 4, 4, 11, 13, 20, 26, 29], dtype=torch.int32)
    kernel[(2,)](ints(97, 123, 32, dtype=torch.uint8), start, torch.zeros(6, dtype=torch.int32), 6, BLOCK=4)


@triton.jit
def matvec_transposed(a_ptr, x_ptr, y_ptr, m, n, alpha, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    acc = tl.zeros((COLS,), tl.float32)
    for start in range(0, m, ROWS):
        r = start + tl.arange(0, ROWS)
        inside = (r < m)[:, None] & (c < n)[None, :]
        a = tl.load(a_ptr + r[:, None] * n + c[None, :], mask=inside, other=0.0)
        x = tl.load(x_ptr + r, mask=r < m, other=0.0)
        acc += tl.sum(a * x[:, None], axis=0)
    tl.store(y_ptr + c, alpha * acc, mask=c < n)


def run_matvec_transposed(kernel):
    kernel[(2,)](randn(16, 14)[:13], randn(24, seed=1)[:13], torch.zeros(14), 13, 14, 0.5, ROWS=8, COLS=8)


@triton.jit
def swizzled_product(
    a_ptr, b_ptr, c_ptr, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    pid = tl.program_id(0)
    wide = tl.cdiv(N, BN)
    high = tl.cdiv(M, BM)
    first = pid // (GROUP * wide) * GROUP
    size = min(high - first, GROUP)
    pid_m = first + pid % (GROUP * wide) % size
    pid_n = pid % (GROUP * wide) // size
    m = pid_m * BM + tl.arange(0, BM)
    n = pid_n * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + m[:, None] * K + k[None, :]
    b_ptrs = b_ptr + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(tl.cdiv(K, BK)):
        left = K - step * BK
        a = tl.load(a_ptrs, mask=(m < M)[:, None] & (k < left)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(k < left)[:, None] & (n < N)[None, :], other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK
        b_ptrs += BK * N
    acc = tl.where(acc > 0, acc, 0.01 * acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])


def run_swizzled_product(kernel):
    kernel[(6,)](randn(40, 24), randn(24, 30, seed=1), torch.zeros(40, 30), 40, 30, 24, GROUP=2, BM=16, BN=16, BK=16)


@triton.jit
def nesterov(w_ptr, g_ptr, v_ptr, lr, momentum, decay, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    w = tl.load(w_ptr + at, mask=inside)
    g = tl.load(g_ptr + at, mask=inside)
    v = tl.load(v_ptr + at, mask=inside)
    g = g + decay * w
    v = momentum * v + g
    step = g + momentum * v
    tl.store(w_ptr + at, w - lr * step, mask=inside)
    tl.store(v_ptr + at, v, mask=inside)


def run_nesterov(kernel):
    kernel[(3,)](randn(45), randn(45, seed=1), randn(45, seed=2), 0.1, 0.9, 0.3, 45, BLOCK=16)


def right_nesterov(w_ptr, g_ptr, v_ptr, lr, momentum, decay, **_):
    w = torch.nn.Parameter(w_ptr.clone())
    w.grad = g_ptr.clone()
    made = torch.optim.SGD([w], lr, momentum, 0, decay, True)
    made.state[w]["momentum_buffer"] = v_ptr.clone()
    made.step()
    return {"w_ptr": w.detach(), "v_ptr": made.state[w]["momentum_buffer"]}


CODES_AND_CURVES = (
    Subject(
        inverse_cdf,
        run_inverse_cdf,
        (
            Slip(
                "missing factor",
                "tl.load(u_ptr + row) * total",
                "tl.load(u_ptr + row)",
                "weights that do not sum to one",
            ),
            Slip("comparison", "(climbed <= u)", "(climbed >= u)", "those above are counted"),
            Slip(
                "missing function", "climbed = tl.cumsum(p, axis=0)", "climbed = p", "the density as the distribution"
            ),
        ),
        lambda p_ptr, u_ptr, **_: {
            "out_ptr": torch.searchsorted(p_ptr.cumsum(1), (u_ptr * p_ptr.sum(1))[:, None], right=True)[:, 0].int()
        },
    ),
    Subject(
        table_dequantize,
        run_table_dequantize,
        (
            Slip("exchanged operands", "packed >> 4, packed & 15", "packed & 15, packed >> 4", "low nibble first"),
            Slip("index", "scale_ptr + at // GROUP", "scale_ptr + at % GROUP", "the place in the group"),
            Slip("integer division", "code_ptr + at // 2", "code_ptr + at % 2", "modulus for the quotient"),
        ),
    ),
    Subject(
        rope_pairs,
        run_rope_pairs,
        (
            Slip("constant", "-(2.0 * j / dim)", "-(1.0 * j / dim)", "frequencies fall half as fast"),
            Slip("sign", "even * cos - odd * sin", "even * cos + odd * sin", "rotated as a reflection"),
            Slip(
                "wrong operand",
                "angle = position * frequency",
                "angle = token * frequency",
                "the place in the batch as the position",
            ),
        ),
        right_rope_pairs,
    ),
    Subject(
        top_two_gate,
        run_top_two_gate,
        (
            Slip(
                "missing term",
                "both = p1 + p2",
                "both = p1",
                "normalised by the first alone",
                also=("p1 / both", "p2 / both"),
            ),
            Slip(
                "wrong operand", "second = tl.argmax(rest, axis=0)", "second = tl.argmax(p, axis=0)", "the first twice"
            ),
        ),
        right_top_two_gate,
    ),
    Subject(
        depthwise,
        run_depthwise,
        (
            Slip(
                "index",
                "w_ptr + (c * SIDE + i) * SIDE + j",
                "w_ptr + (plane * SIDE + i) * SIDE + j",
                "the plane in place of the channel",
            ),
            Slip("last step", "acc += tl.load(b_ptr + c)", "acc += 0.0", "forgotten bias"),
            Slip(
                "comparison",
                "(y >= 0)",
                "(y > 0)",
                "the first row is left out",
            ),
            Slip("constant", "col + j - SIDE // 2", "col + j", "no padding on one axis"),
        ),
        lambda x_ptr, w_ptr, b_ptr, **_: {
            "y_ptr": torch.nn.functional.conv2d(x_ptr, w_ptr[:, None], b_ptr, padding=1, groups=3)
        },
    ),
    Subject(
        hamming,
        run_hamming,
        (
            Slip("operator", "v = a ^ b", "v = a & b", "common bits in place of different ones"),
            Slip("constant", "(v >> 2) & 0x33333333", "(v >> 1) & 0x33333333", "the wrong shift"),
            Slip("accumulator", "distance += (v", "distance = (v", "the last word alone"),
        ),
        right_hamming,
    ),
    Subject(
        string_hash,
        run_string_hash,
        (
            Slip("order of steps", "(h * 33) ^ byte", "(h ^ byte) * 33", "FNV-1a in place of FNV-1"),
            Slip("index", "start_ptr + s + 1, mask", "start_ptr + s + 2, mask", "the end of the next string"),
        ),
    ),
    Subject(
        matvec_transposed,
        run_matvec_transposed,
        (
            Slip(
                "accumulator",
                "acc += tl.sum(a * x[:, None], axis=0)",
                "acc = tl.sum(a * x[:, None], axis=0)",
                "the last rows alone",
            ),
            Slip("scale", "alpha * acc", "acc", "alpha is forgotten"),
            Slip("loop", "range(0, m, ROWS)", "range(0, m - ROWS, ROWS)", "the tail is dropped"),
        ),
        lambda a_ptr, x_ptr, alpha, **_: {"y_ptr": alpha * (x_ptr @ a_ptr)},
    ),
    Subject(
        swizzled_product,
        run_swizzled_product,
        (
            Slip("stride or address", "b_ptrs += BK * N", "b_ptrs += BK", "b is advanced along the row"),
            Slip("loop", "range(tl.cdiv(K, BK))", "range(K // BK)", "the tail of K is dropped"),
            Slip(
                "program or head",
                "pid_n = pid % (GROUP * wide) // size",
                "pid_n = pid // size",
                "the program among all in place of its group",
            ),
            Slip(
                "function",
                "tl.where(acc > 0, acc, 0.01 * acc)",
                "tl.where(acc > 0, acc, 0.0)",
                "ReLU in place of the leaky one",
            ),
        ),
        lambda a_ptr, b_ptr, **_: {"c_ptr": torch.nn.functional.leaky_relu(a_ptr @ b_ptr)},
    ),
    Subject(
        nesterov,
        run_nesterov,
        (
            Slip("missing term", "step = g + momentum * v", "step = momentum * v", "the look ahead alone"),
            Slip("wrong operand", "g = g + decay * w", "g = g + decay * v", "decay of the velocity"),
        ),
        right_nesterov,
    ),
)
