"""Graphs, sparse and narrow products, and images in levels, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.applications.layers import ints, rand
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def graph_attention(
    start_ptr, source_ptr, left_ptr, right_ptr, feature_ptr, out_ptr, slope, width, EDGES: tl.constexpr, W: tl.constexpr
):
    node = tl.program_id(0)
    begin = tl.load(start_ptr + node)
    end = tl.load(start_ptr + node + 1)
    own = tl.load(right_ptr + node)
    w = tl.arange(0, W)
    top = -1e30
    total = 0.0
    acc = tl.zeros((W,), tl.float32)
    for first in range(begin, end, EDGES):
        edge = first + tl.arange(0, EDGES)
        source = tl.load(source_ptr + edge, mask=edge < end, other=0)
        score = tl.load(left_ptr + source) + own
        score = tl.where(score > 0, score, slope * score)
        score = tl.where(edge < end, score, float("-inf"))
        new = tl.maximum(top, tl.max(score, axis=0))
        p = tl.exp(score - new)
        inside = (edge < end)[:, None] & (w < width)[None, :]
        feature = tl.load(feature_ptr + source[:, None] * width + w[None, :], mask=inside, other=0.0)
        fade = tl.exp(top - new)
        total = total * fade + tl.sum(p, axis=0)
        acc = acc * fade + tl.sum(p[:, None] * feature, axis=0)
        top = new
    tl.store(out_ptr + node * width + w, acc / total, mask=w < width)


def run_graph_attention(kernel):
    start = torch.tensor([0, 5, 6, 13, 24, 27, 30, 33], dtype=torch.int32)
    args = ints(0, 7, 33), 3 * randn(7, seed=1), randn(7, seed=2), randn(7, 6, seed=3), torch.zeros(7, 6)
    kernel[(7,)](start, *args, 0.2, 6, EDGES=4, W=8)


def right_graph_attention(start_ptr, source_ptr, left_ptr, right_ptr, feature_ptr, slope, **_):
    out = []
    for node, (begin, end) in enumerate(start_ptr.unfold(0, 2, 1).tolist()):
        source = source_ptr[begin:end].long()
        score = torch.nn.functional.leaky_relu(left_ptr[source] + right_ptr[node], slope)
        out.append(torch.softmax(score, 0) @ feature_ptr[source])
    return {"out_ptr": torch.stack(out)}


@triton.jit
def diagonal_product(offset_ptr, data_ptr, x_ptr, y_ptr, rows, cols, diagonals, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.zeros((BLOCK,), tl.float32)
    for d in range(diagonals):
        j = i + tl.load(offset_ptr + d)
        inside = (i < rows) & (j >= 0) & (j < cols)
        y += tl.load(data_ptr + d * cols + j, mask=inside, other=0.0) * tl.load(x_ptr + j, mask=inside, other=0.0)
    tl.store(y_ptr + i, y, mask=i < rows)


def run_diagonal_product(kernel):
    offsets = torch.tensor([-7, -1, 0, 2, 9], dtype=torch.int32)
    kernel[(3,)](offsets, randn(5, 24), randn(24, seed=1), torch.zeros(20), 20, 24, 5, BLOCK=8)


def right_diagonal_product(offset_ptr, data_ptr, x_ptr, **_):
    matrix = torch.zeros(20, 24)
    for offset, data in zip(offset_ptr.tolist(), data_ptr, strict=True):
        for i in range(max(0, -offset), min(20, 24 - offset)):
            matrix[i, i + offset] = data[i + offset]
    return {"y_ptr": matrix @ x_ptr}


@triton.jit
def two_of_four(w_ptr, kept_ptr, meta_ptr, groups, BLOCK: tl.constexpr):
    g = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lane = tl.arange(0, 4)[None, :]
    w = tl.load(w_ptr + g[:, None] * 4 + lane, mask=g[:, None] < groups, other=0.0)
    size = tl.abs(w)
    best = tl.argmax(size, axis=1)
    rest = tl.where(lane == best[:, None], -1.0, size)
    second = tl.argmax(rest, axis=1)
    low = tl.minimum(best, second)
    high = tl.maximum(best, second)
    tl.store(kept_ptr + 2 * g, tl.sum(tl.where(lane == low[:, None], w, 0.0), axis=1), mask=g < groups)
    tl.store(kept_ptr + 2 * g + 1, tl.sum(tl.where(lane == high[:, None], w, 0.0), axis=1), mask=g < groups)
    tl.store(meta_ptr + g, (low | high << 2).to(tl.uint8), mask=g < groups)


def run_two_of_four(kernel):
    kernel[(2,)](randn(13, 4), torch.zeros(13, 2), torch.zeros(13, dtype=torch.uint8), 13, BLOCK=8)


def right_two_of_four(w_ptr, **_):
    at = w_ptr.abs().topk(2, dim=1).indices.sort(1).values
    return {"kept_ptr": w_ptr.gather(1, at), "meta_ptr": (at[:, 0] + 4 * at[:, 1]).to(torch.uint8)}


@triton.jit
def otsu(image_ptr, level_ptr, binary_ptr, pixels, BINS: tl.constexpr, BLOCK: tl.constexpr):
    picture = tl.program_id(0)
    image_ptr += picture * pixels
    bins = tl.arange(0, BINS)
    counts = tl.zeros((BINS,), tl.int32)
    for start in range(0, pixels, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(image_ptr + at, mask=at < pixels, other=-1)
        counts += tl.sum((v[:, None] == bins[None, :]).to(tl.int32), axis=0)
    p = counts / pixels
    below = tl.cumsum(p, axis=0)
    moment = tl.cumsum(p * bins, axis=0)
    mean = tl.sum(p * bins, axis=0)
    split = (below > 1e-6) & (below < 1 - 1e-6)
    apart = mean * below - moment
    between = tl.where(split, apart * apart / tl.where(split, below * (1 - below), 1.0), 0.0)
    level = tl.argmax(between, axis=0)
    tl.store(level_ptr + picture, level)
    for start in range(0, pixels, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(image_ptr + at, mask=at < pixels, other=0)
        tl.store(binary_ptr + picture * pixels + at, (v > level).to(tl.uint8), mask=at < pixels)


def run_otsu(kernel):
    dark, bright = (rand(3, 50) * 7).int(), (6 + rand(3, 23, seed=1) * 10).int()
    image = torch.cat((dark, bright), 1)
    kernel[(3,)](image, torch.zeros(3, dtype=torch.int32), torch.zeros(3, 73, dtype=torch.uint8), 73, BINS=16, BLOCK=32)


def right_otsu(image_ptr, **_):
    def spread(picture, level):
        low, high = picture[picture <= level].double(), picture[picture > level].double()
        return len(low) * len(high) * (low.mean() - high.mean()) ** 2 if len(low) and len(high) else torch.tensor(0.0)

    levels = [int(torch.stack([spread(picture, n).double() for n in range(16)]).argmax()) for picture in image_ptr]
    level = torch.tensor(levels, dtype=torch.int32)
    return {"level_ptr": level, "binary_ptr": (image_ptr > level[:, None]).to(torch.uint8)}


@triton.jit
def combine_experts(y_ptr, sorted_ptr, weight_ptr, out_ptr, pairs, k, dim, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    pair = tl.load(sorted_ptr + r, mask=r < pairs, other=0)
    weight = tl.load(weight_ptr + pair, mask=r < pairs, other=0.0)
    inside = (r < pairs)[:, None] & (c < dim)[None, :]
    y = tl.load(y_ptr + r[:, None] * dim + c[None, :], mask=inside, other=0.0)
    token = pair // k
    tl.atomic_add(out_ptr + token[:, None] * dim + c[None, :], y * weight[:, None], mask=inside)


def run_combine_experts(kernel):
    order = torch.randperm(18, generator=torch.Generator().manual_seed(5)).int()
    kernel[(5, 2)](randn(18, 12), order, rand(18, seed=1), torch.zeros(9, 12), 18, 2, 12, ROWS=4, BLOCK=8)


def right_combine_experts(y_ptr, sorted_ptr, weight_ptr, out_ptr, **_):
    order = sorted_ptr.long()
    return {"out_ptr": out_ptr.index_add(0, order // 2, y_ptr * weight_ptr[order, None])}


@triton.jit
def int8_matvec(
    w_ptr, x_ptr, w_scale_ptr, x_scale_ptr, bias_ptr, y_ptr, rows, n, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    token = tl.program_id(1)
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    acc = tl.zeros((ROWS,), tl.int32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        w = tl.load(w_ptr + r[:, None] * n + i[None, :], mask=(r < rows)[:, None] & (i < n)[None, :], other=0)
        x = tl.load(x_ptr + token * n + i, mask=i < n, other=0)
        acc += tl.sum(w.to(tl.int32) * x[None, :].to(tl.int32), axis=1)
    scale = tl.load(w_scale_ptr + r, mask=r < rows, other=0.0) * tl.load(x_scale_ptr + token)
    y = acc.to(tl.float32) * scale + tl.load(bias_ptr + r, mask=r < rows, other=0.0)
    tl.store(y_ptr + token * rows + r, y, mask=r < rows)


def run_int8_matvec(kernel):
    w, x = ints(-128, 128, 20, 28, dtype=torch.int8), ints(-128, 128, 3, 28, seed=1, dtype=torch.int8)
    scales = rand(20, seed=2) / 100, rand(3, seed=3) / 100
    kernel[(3, 3)](w, x, *scales, randn(20, seed=4), torch.zeros(3, 20), 20, 28, ROWS=8, BLOCK=8)


def right_int8_matvec(w_ptr, x_ptr, w_scale_ptr, x_scale_ptr, bias_ptr, **_):
    return {"y_ptr": (x_ptr.float() @ w_ptr.float().T) * w_scale_ptr * x_scale_ptr[:, None] + bias_ptr}


GRAPHS = (
    Subject(
        graph_attention,
        run_graph_attention,
        (
            Slip("comparison", "tl.where(score > 0", "tl.where(score < 0", "the other side is bent"),
            Slip(
                "masked-off lanes",
                'float("-inf"))',
                "0.0)",
                "the padding has weight",
                also=("p = tl.exp(score - new)",),
            ),
            Slip("accumulator", "acc * fade + tl", "acc + tl", "sums of other blocks are not rescaled"),
        ),
        right_graph_attention,
    ),
    Subject(
        diagonal_product,
        run_diagonal_product,
        (
            Slip("index", "d * cols + j", "d * cols + i", "the row in place of the column"),
            Slip("sign", "j = i + tl.load", "j = i - tl.load", "diagonals of the transposed matrix"),
            Slip("mask", "(j >= 0) & (j < cols)", "(j >= 0) & (j < rows)", "columns beyond the square are left out"),
        ),
        right_diagonal_product,
    ),
    Subject(
        two_of_four,
        run_two_of_four,
        (
            Slip("missing function", "size = tl.abs(w)", "size = w", "negative weights are pruned"),
            Slip("constant", "high << 2", "high << 4", "two bits between"),
            Slip("stride or address", "kept_ptr + 2 * g + 1", "kept_ptr + g + groups", "pairs as two halves"),
        ),
        right_two_of_four,
    ),
    Subject(
        otsu,
        run_otsu,
        (
            Slip("comparison", "(v > level)", "(v >= level)", "the level itself is bright"),
            Slip("integer division", "counts / pixels", "counts // pixels", "shares that are 0"),
            Slip("scan", "moment = tl.cumsum(p * bins, axis=0)", "moment = p * bins", "levels are not summed up"),
        ),
        right_otsu,
    ),
    Subject(
        combine_experts,
        run_combine_experts,
        (
            Slip("race", "tl.atomic_add(out_ptr", "tl.store(out_ptr", "the last expert alone"),
            Slip("integer division", "token = pair // k", "token = pair % k", "the rank for the token"),
            Slip("index", "weight_ptr + pair", "weight_ptr + r", "weights in the sorted order"),
        ),
        right_combine_experts,
    ),
    Subject(
        int8_matvec,
        run_int8_matvec,
        (
            Slip("cast", "w.to(tl.int32) * x[None, :].to(tl.int32)", "w * x[None, :]", "products of 8 bits"),
            Slip("program or head", "x_scale_ptr + token", "x_scale_ptr + tl.program_id(0)", "the other axis"),
            Slip(
                "order of steps",
                "* scale + tl.load(bias_ptr + r, mask=r < rows, other=0.0)",
                "+ tl.load(bias_ptr + r, mask=r < rows, other=0.0) * scale",
                "the bias is scaled",
            ),
        ),
        right_int8_matvec,
    ),
)
