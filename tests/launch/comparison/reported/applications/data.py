"""Sparse formats, graphs, bits, strings, sorting and dynamic programming, with one slip at a time."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import base64

import torch
import triton
import triton.language as tl

from tests.launch.comparison.reported.applications.layers import ints, rand
from tests.launch.comparison.reported.slip import Slip, Subject
from tests.launch.comparison.slips import randn


@triton.jit
def ell_product(column_ptr, value_ptr, x_ptr, y_ptr, rows, width, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = r < rows
    acc = tl.zeros((BLOCK,), tl.float32)
    for k in range(width):
        column = tl.load(column_ptr + k * rows + r, mask=live, other=-1)
        value = tl.load(value_ptr + k * rows + r, mask=live, other=0.0)
        acc += value * tl.load(x_ptr + column, mask=column >= 0, other=0.0)
    tl.store(y_ptr + r, acc, mask=live)


def run_ell_product(kernel):
    kernel[(2,)](ints(-1, 20, 4, 13), randn(4, 13), randn(20, seed=1), torch.zeros(13), 13, 4, BLOCK=8)


def right_ell_product(column_ptr, value_ptr, x_ptr, **_):
    at = column_ptr.long()
    return {"y_ptr": torch.where(at >= 0, value_ptr * x_ptr[at.clamp(min=0)], 0.0).sum(0)}


@triton.jit
def coo_product(row_ptr, column_ptr, value_ptr, x_ptr, y_ptr, count, n, EDGES: tl.constexpr, BLOCK: tl.constexpr):
    e = tl.program_id(0) * EDGES + tl.arange(0, EDGES)
    c = tl.arange(0, BLOCK)
    live = e < count
    row = tl.load(row_ptr + e, mask=live, other=0)
    column = tl.load(column_ptr + e, mask=live, other=0)
    value = tl.load(value_ptr + e, mask=live, other=0.0)
    inside = live[:, None] & (c < n)[None, :]
    x = tl.load(x_ptr + column[:, None] * n + c[None, :], mask=inside, other=0.0)
    tl.atomic_add(y_ptr + row[:, None] * n + c[None, :], value[:, None] * x, mask=inside)


def run_coo_product(kernel):
    kernel[(3,)](
        ints(0, 9, 22),
        ints(0, 9, 22, seed=1),
        randn(22),
        randn(9, 6, seed=2),
        torch.zeros(9, 6),
        22,
        6,
        EDGES=8,
        BLOCK=8,
    )


def right_coo_product(row_ptr, column_ptr, value_ptr, x_ptr, **_):
    return {"y_ptr": torch.zeros(9, 6).index_add_(0, row_ptr.long(), value_ptr[:, None] * x_ptr[column_ptr.long()])}


@triton.jit
def sampled_product(row_ptr, column_ptr, a_ptr, b_ptr, out_ptr, count, dim, EDGES: tl.constexpr, BLOCK: tl.constexpr):
    e = tl.program_id(0) * EDGES + tl.arange(0, EDGES)
    live = e < count
    row = tl.load(row_ptr + e, mask=live, other=0)
    column = tl.load(column_ptr + e, mask=live, other=0)
    acc = tl.zeros((EDGES,), tl.float32)
    for start in range(0, dim, BLOCK):
        d = start + tl.arange(0, BLOCK)
        inside = live[:, None] & (d < dim)[None, :]
        a = tl.load(a_ptr + row[:, None] * dim + d[None, :], mask=inside, other=0.0)
        b = tl.load(b_ptr + column[:, None] * dim + d[None, :], mask=inside, other=0.0)
        acc += tl.sum(a * b, axis=1)
    tl.store(out_ptr + e, acc, mask=live)


def run_sampled_product(kernel):
    a, b = randn(10, 21), randn(10, 21, seed=1)
    kernel[(3,)](ints(0, 10, 20), ints(0, 10, 20, seed=3), a, b, torch.zeros(20), 20, 21, EDGES=8, BLOCK=8)


@triton.jit
def block_sparse_product(start_ptr, column_ptr, block_ptr, x_ptr, y_ptr, n, SIDE: tl.constexpr, BLOCK: tl.constexpr):
    block_row = tl.program_id(0)
    i = tl.arange(0, SIDE)
    c = tl.arange(0, BLOCK)
    acc = tl.zeros((SIDE, BLOCK), tl.float32)
    for b in range(tl.load(start_ptr + block_row), tl.load(start_ptr + block_row + 1)):
        column = tl.load(column_ptr + b)
        block = tl.load(block_ptr + b * SIDE * SIDE + i[:, None] * SIDE + i[None, :])
        at = (column * SIDE + i)[:, None] * n + c[None, :]
        x = tl.load(x_ptr + at, mask=(c < n)[None, :], other=0.0)
        acc += tl.dot(block, x)
    row = block_row * SIDE + i
    tl.store(y_ptr + row[:, None] * n + c[None, :], acc, mask=(c < n)[None, :])


def run_block_sparse_product(kernel):
    start = torch.tensor([0, 2, 3, 6], dtype=torch.int32)
    column = torch.tensor([0, 2, 1, 0, 1, 3], dtype=torch.int32)
    kernel[(3,)](start, column, randn(6, 16, 16), randn(64, 14, seed=1), torch.zeros(48, 14), 14, SIDE=16, BLOCK=16)


def right_block_sparse_product(start_ptr, column_ptr, block_ptr, x_ptr, **_):
    full = torch.zeros(3, 16, 4, 16)
    for r in range(3):
        for b in range(int(start_ptr[r]), int(start_ptr[r + 1])):
            full[r, :, int(column_ptr[b])] = block_ptr[b]
    return {"y_ptr": full.reshape(48, 64) @ x_ptr}


@triton.jit
def page_rank_step(start_ptr, source_ptr, degree_ptr, rank_ptr, next_ptr, nodes, damping, BLOCK: tl.constexpr):
    node = tl.program_id(0)
    first = tl.load(start_ptr + node)
    last = tl.load(start_ptr + node + 1)
    total = 0.0
    for at in range(first, last, BLOCK):
        k = at + tl.arange(0, BLOCK)
        source = tl.load(source_ptr + k, mask=k < last, other=0)
        rank = tl.load(rank_ptr + source, mask=k < last, other=0.0)
        degree = tl.load(degree_ptr + source, mask=k < last, other=1)
        total += tl.sum(rank / degree, axis=0)
    tl.store(next_ptr + node, (1 - damping) / nodes + damping * total)


def run_page_rank_step(kernel):
    start = torch.tensor([0, 3, 9, 9, 14, 20, 22, 24], dtype=torch.int32)
    kernel[(7,)](start, ints(0, 7, 32), ints(1, 6, 32, seed=1), rand(7), torch.zeros(7), 7, 0.85, BLOCK=4)


def right_page_rank_step(start_ptr, source_ptr, degree_ptr, rank_ptr, damping, **_):
    s, given = start_ptr.tolist(), (rank_ptr / degree_ptr[:7])[source_ptr.long()]
    return {"next_ptr": torch.stack([(1 - damping) / 7 + damping * given[s[i] : s[i + 1]].sum() for i in range(7)])}


@triton.jit
def relax_edges(from_ptr, to_ptr, weight_ptr, distance_ptr, next_ptr, edges, BLOCK: tl.constexpr):
    e = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = e < edges
    source = tl.load(from_ptr + e, mask=live, other=0)
    sink = tl.load(to_ptr + e, mask=live, other=0)
    weight = tl.load(weight_ptr + e, mask=live, other=0)
    reached = tl.load(distance_ptr + source, mask=live, other=0) + weight
    tl.atomic_min(next_ptr + sink, reached, mask=live)


def run_relax_edges(kernel):
    distance = ints(0, 40, 10, seed=5)
    kernel[(3,)](
        ints(0, 10, 34), ints(0, 10, 34, seed=1), ints(1, 9, 34, seed=2), distance, distance.clone(), 34, BLOCK=16
    )


def right_relax_edges(from_ptr, to_ptr, weight_ptr, distance_ptr, **_):
    reached = distance_ptr[from_ptr.long()] + weight_ptr
    return {"next_ptr": distance_ptr.clone().scatter_reduce_(0, to_ptr.long(), reached, "amin")}


@triton.jit
def breadth_first_level(start_ptr, neighbour_ptr, level_ptr, next_ptr, nodes, level, BLOCK: tl.constexpr):
    node = tl.program_id(0)
    own = tl.load(level_ptr + node)
    first = tl.load(start_ptr + node)
    last = tl.load(start_ptr + node + 1)
    found = 0
    for at in range(first, last, BLOCK):
        k = at + tl.arange(0, BLOCK)
        other = tl.load(neighbour_ptr + k, mask=k < last, other=0)
        theirs = tl.load(level_ptr + other, mask=k < last, other=-1)
        found += tl.sum((theirs == level).to(tl.int32), axis=0)
    tl.store(next_ptr + node, tl.where((own < 0) & (found > 0), level + 1, own))


def run_breadth_first_level(kernel):
    start = torch.tensor([0, 3, 5, 8, 10, 13, 14, 19, 20], dtype=torch.int32)
    level = torch.tensor([0, 1, -1, 1, -1, -1, -1, -1], dtype=torch.int32)
    kernel[(8,)](start, ints(0, 8, 24), level, torch.zeros(8, dtype=torch.int32), 8, 1, BLOCK=4)


def right_breadth_first_level(start_ptr, neighbour_ptr, level_ptr, level, **_):
    s, theirs, out = start_ptr.tolist(), level_ptr[neighbour_ptr.long()], level_ptr.clone()
    for i in range(8):
        if level_ptr[i] < 0 and (theirs[s[i] : s[i + 1]] == level).any():
            out[i] = level + 1
    return {"next_ptr": out}


@triton.jit
def morton_code(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    y = tl.load(y_ptr + at, mask=at < n, other=0)
    x = (x | (x << 8)) & 0x00FF00FF
    x = (x | (x << 4)) & 0x0F0F0F0F
    x = (x | (x << 2)) & 0x33333333
    x = (x | (x << 1)) & 0x55555555
    y = (y | (y << 8)) & 0x00FF00FF
    y = (y | (y << 4)) & 0x0F0F0F0F
    y = (y | (y << 2)) & 0x33333333
    y = (y | (y << 1)) & 0x55555555
    tl.store(out_ptr + at, x | (y << 1), mask=at < n)


def run_morton_code(kernel):
    kernel[(2,)](ints(0, 30000, 25), ints(0, 30000, 25, seed=1), torch.zeros(25, dtype=torch.int32), 25, BLOCK=16)


def right_morton_code(x_ptr, y_ptr, **_):
    place = torch.arange(15)

    def spread(v):
        return (((v.long()[:, None] >> place) & 1) << (2 * place)).sum(1)

    return {"out_ptr": (spread(x_ptr) + 2 * spread(y_ptr)).int()}


@triton.jit
def crc8(byte_ptr, start_ptr, out_ptr):
    message = tl.program_id(0)
    crc = 0
    for k in range(tl.load(start_ptr + message), tl.load(start_ptr + message + 1)):
        crc = crc ^ tl.load(byte_ptr + k).to(tl.int32)
        for _bit in range(8):
            shifted = (crc << 1) & 0xFF
            crc = tl.where((crc & 0x80) != 0, shifted ^ 0x07, shifted)
    tl.store(out_ptr + message, crc ^ 0x55)


def run_crc8(kernel):
    start = torch.tensor([0, 3, 9, 10, 16], dtype=torch.int32)
    kernel[(4,)](ints(0, 256, 20, dtype=torch.uint8), start, torch.zeros(4, dtype=torch.int32))


def right_crc8(byte_ptr, start_ptr, **_):
    out = []
    for first, last in zip(start_ptr[:-1].tolist(), start_ptr[1:].tolist(), strict=True):
        crc = 0
        for byte in byte_ptr[first:last].tolist():
            crc ^= byte
            for _bit in range(8):
                crc = crc << 1 ^ 0x107 if crc & 0x80 else crc << 1
        out.append(crc ^ 0x55)
    return {"out_ptr": torch.tensor(out, dtype=torch.int32)}


@triton.jit
def swap_case(text_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(text_ptr + at, mask=at < n, other=0).to(tl.int32)
    upper = (byte >= 65) & (byte <= 90)
    lower = (byte >= 97) & (byte <= 122)
    byte = tl.where(upper | lower, byte ^ 32, byte)
    tl.store(out_ptr + at, byte.to(tl.uint8), mask=at < n)


def run_swap_case(kernel):
    text = torch.tensor(list(b"The Zebra {jazz} [QUIZ] of @at `a' zZ AaMm 09!"), dtype=torch.uint8)
    kernel[(3,)](text, torch.zeros_like(text), text.numel(), BLOCK=16)


def right_swap_case(text_ptr, **_):
    return {"out_ptr": torch.tensor(list(bytes(text_ptr.tolist()).swapcase()), dtype=torch.uint8)}


@triton.jit
def word_lengths(text_ptr, word_ptr, length_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    byte = tl.load(text_ptr + at, mask=at < n, other=32)
    before = tl.load(text_ptr + at - 1, mask=(at > 0) & (at < n), other=32)
    letter = byte != 32
    opens = letter & (before == 32)
    word = tl.cumsum(opens.to(tl.int32), axis=0) - 1
    tl.store(word_ptr + at, tl.where(letter, word, -1), mask=at < n)
    tl.atomic_add(length_ptr + word, 1, mask=letter)


def run_word_lengths(kernel):
    text = torch.tensor(list(b"to be  or not to be that is  the question "), dtype=torch.uint8)
    n = text.numel()
    kernel[(1,)](text, torch.zeros(n, dtype=torch.int32), torch.zeros(20, dtype=torch.int32), n, BLOCK=64)


def right_word_lengths(text_ptr, **_):
    word, length = torch.full((text_ptr.numel(),), -1, dtype=torch.int32), torch.zeros(20, dtype=torch.int32)
    at = -1
    for i, byte in enumerate(text_ptr.tolist()):
        if byte != 32:
            at += i == 0 or text_ptr[i - 1] == 32
            word[i] = at
            length[at] += 1
    return {"word_ptr": word, "length_ptr": length}


@triton.jit
def base64_encode(byte_ptr, table_ptr, out_ptr, groups, BLOCK: tl.constexpr):
    g = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = g < groups
    a = tl.load(byte_ptr + 3 * g, mask=live, other=0).to(tl.int32)
    b = tl.load(byte_ptr + 3 * g + 1, mask=live, other=0).to(tl.int32)
    c = tl.load(byte_ptr + 3 * g + 2, mask=live, other=0).to(tl.int32)
    word = (a << 16) | (b << 8) | c
    for k in tl.static_range(4):
        six = (word >> (18 - 6 * k)) & 63
        tl.store(out_ptr + 4 * g + k, tl.load(table_ptr + six), mask=live)


ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def run_base64_encode(kernel):
    table = torch.tensor(list(ALPHABET), dtype=torch.uint8)
    kernel[(2,)](ints(0, 256, 30, dtype=torch.uint8), table, torch.zeros(40, dtype=torch.uint8), 10, BLOCK=8)


def right_base64_encode(byte_ptr, **_):
    return {"out_ptr": torch.tensor(list(base64.b64encode(bytes(byte_ptr.tolist()))), dtype=torch.uint8)}


@triton.jit
def rank_sort(x_ptr, out_ptr, place_ptr, n, BLOCK: tl.constexpr, TILE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    rank = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, n, TILE):
        j = start + tl.arange(0, TILE)
        other = tl.load(x_ptr + j, mask=j < n, other=1000000)
        less = other[None, :] < x[:, None]
        tied = (other[None, :] == x[:, None]) & (j[None, :] < i[:, None])
        rank += tl.sum((less | tied).to(tl.int32), axis=1)
    tl.store(out_ptr + rank, x, mask=i < n)
    tl.store(place_ptr + rank, i, mask=i < n)


def run_rank_sort(kernel):
    kernel[(3,)](
        ints(0, 12, 21), torch.zeros(32, dtype=torch.int32), torch.zeros(32, dtype=torch.int32), 21, BLOCK=8, TILE=8
    )


def right_rank_sort(x_ptr, **_):
    value, place = torch.sort(x_ptr, stable=True)

    def pad(t):
        return torch.nn.functional.pad(t.int(), (0, 11))

    return {"out_ptr": pad(value), "place_ptr": pad(place)}


@triton.jit
def lower_bound(sorted_ptr, query_ptr, out_ptr, n, queries, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    q = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wanted = tl.load(query_ptr + q, mask=q < queries, other=0)
    low = tl.zeros((BLOCK,), tl.int32)
    high = tl.full((BLOCK,), 0, tl.int32) + n
    for _step in range(STEPS):
        open = low < high
        middle = (low + high) // 2
        value = tl.load(sorted_ptr + middle, mask=open, other=0)
        right = value < wanted
        low = tl.where(open & right, middle + 1, low)
        high = tl.where(open & (value >= wanted), middle, high)
    tl.store(out_ptr + q, low, mask=q < queries)


def run_lower_bound(kernel):
    ordered = ints(0, 30, 24).sort().values
    kernel[(2,)](ordered, ints(0, 32, 26, seed=1), torch.zeros(26, dtype=torch.int32), 24, 26, STEPS=6, BLOCK=16)


def right_lower_bound(sorted_ptr, query_ptr, **_):
    return {"out_ptr": torch.searchsorted(sorted_ptr, query_ptr).int()}


@triton.jit
def digit_counts(key_ptr, count_ptr, n, shift, RADIX: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(key_ptr + at, mask=at < n, other=0)
    digit = (key >> shift) & (RADIX - 1)
    bins = tl.arange(0, RADIX)
    hit = (digit[:, None] == bins[None, :]) & (at < n)[:, None]
    tl.store(count_ptr + bins * tl.num_programs(0) + pid, tl.sum(hit.to(tl.int32), axis=0))


def run_digit_counts(kernel):
    kernel[(3,)](ints(0, 4096, 41), torch.zeros(8, 3, dtype=torch.int32), 41, 3, RADIX=8, BLOCK=16)


def right_digit_counts(key_ptr, **_):
    digit = (key_ptr >> 3) & 7
    return {"count_ptr": torch.stack([torch.bincount(d, minlength=8) for d in digit.split(16)], 1).int()}


@triton.jit
def cluster_sums(x_ptr, label_ptr, sum_ptr, count_ptr, n, dim, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, BLOCK)
    label = tl.load(label_ptr + r, mask=r < n, other=0)
    inside = (r < n)[:, None] & (d < dim)[None, :]
    x = tl.load(x_ptr + r[:, None] * dim + d[None, :], mask=inside, other=0.0)
    tl.atomic_add(sum_ptr + label[:, None] * dim + d[None, :], x, mask=inside)
    tl.atomic_add(count_ptr + label, 1, mask=r < n)


def run_cluster_sums(kernel):
    kernel[(5,)](
        randn(18, 5), ints(0, 4, 18), torch.zeros(4, 5), torch.zeros(4, dtype=torch.int32), 18, 5, ROWS=4, BLOCK=8
    )


@triton.jit
def knapsack(weight_ptr, value_ptr, table_ptr, items, capacity, BLOCK: tl.constexpr):
    w = tl.arange(0, BLOCK)
    inside = w <= capacity
    width = capacity + 1
    tl.store(table_ptr + w, 0, mask=inside)
    for i in range(items):
        tl.debug_barrier()
        weight = tl.load(weight_ptr + i)
        value = tl.load(value_ptr + i)
        old = table_ptr + i * width + w
        without = tl.load(old, mask=inside, other=0)
        fits = inside & (w >= weight)
        taken = tl.load(old - weight, mask=fits, other=0) + value
        best = tl.where(fits, tl.maximum(without, taken), without)
        tl.store(table_ptr + (i + 1) * width + w, best, mask=inside)


def run_knapsack(kernel):
    kernel[(1,)](ints(1, 9, 7), ints(1, 20, 7, seed=1), torch.zeros(8, 25, dtype=torch.int32), 7, 24, BLOCK=32)


def right_knapsack(weight_ptr, value_ptr, **_):
    table = torch.zeros(8, 25, dtype=torch.int32)
    for i, (a, b) in enumerate(zip(weight_ptr.tolist(), value_ptr.tolist(), strict=True)):
        for w in range(25):
            table[i + 1, w] = max(int(table[i, w]), int(table[i, w - a]) + b if w >= a else 0)
    return {"table_ptr": table}


@triton.jit
def viterbi(logit_ptr, move_ptr, score_ptr, back_ptr, steps, STATES: tl.constexpr):
    sample = tl.program_id(0)
    i = tl.arange(0, STATES)
    move = tl.load(move_ptr + i[:, None] * STATES + i[None, :])
    score = tl.load(logit_ptr + sample * steps * STATES + i)
    for t in range(1, steps):
        through = score[:, None] + move
        best = tl.max(through, axis=0)
        place = tl.argmax(through, axis=0)
        at = (sample * steps + t) * STATES + i
        score = best + tl.load(logit_ptr + at)
        tl.store(back_ptr + at, place)
    tl.store(score_ptr + sample * STATES + i, score)


def run_viterbi(kernel):
    kernel[(3,)](
        randn(3, 6, 8), randn(8, 8, seed=1), torch.zeros(3, 8), torch.zeros(3, 6, 8, dtype=torch.int32), 6, STATES=8
    )


def right_viterbi(logit_ptr, move_ptr, **_):
    score, back = logit_ptr[:, 0], torch.zeros(3, 6, 8, dtype=torch.int32)
    for t in range(1, 6):
        best = (score[:, :, None] + move_ptr).max(1)
        score, back[:, t] = best.values + logit_ptr[:, t], best.indices.int()
    return {"score_ptr": score, "back_ptr": back}


DATA = (
    Subject(
        ell_product,
        run_ell_product,
        (
            Slip(
                "stride or address",
                "column_ptr + k * rows + r",
                "column_ptr + r * width + k",
                "row major in place of column major",
            ),
            Slip("accumulator", "acc += value", "acc = value", "the last entry alone"),
        ),
        right_ell_product,
    ),
    Subject(
        coo_product,
        run_coo_product,
        (
            Slip(
                "exchanged operands",
                "tl.load(x_ptr + column[:, None] * n",
                "tl.load(x_ptr + row[:, None] * n",
                "the row's own vector",
            ),
            Slip("race", "tl.atomic_add(y_ptr", "tl.store(y_ptr", "several edges of a row"),
            Slip("missing factor", "value[:, None] * x", "x", "the matrix as if of ones"),
        ),
        right_coo_product,
    ),
    Subject(
        sampled_product,
        run_sampled_product,
        (
            Slip("wrong operand", "b_ptr + column[:, None]", "b_ptr + row[:, None]", "the row on both sides"),
            Slip("index", "d = start + tl.arange(0, BLOCK)", "d = tl.arange(0, BLOCK)", "the first features each time"),
        ),
        lambda row_ptr, column_ptr, a_ptr, b_ptr, **_: {
            "out_ptr": (a_ptr[row_ptr.long()] * b_ptr[column_ptr.long()]).sum(1)
        },
    ),
    Subject(
        block_sparse_product,
        run_block_sparse_product,
        (
            Slip(
                "transposition",
                "i[:, None] * SIDE + i[None, :]",
                "i[None, :] * SIDE + i[:, None]",
                "blocks stored the other way",
            ),
            Slip(
                "index",
                "at = (column * SIDE + i)[:, None] * n",
                "at = (column + i)[:, None] * n",
                "the block's column as an element's",
            ),
        ),
        right_block_sparse_product,
    ),
    Subject(
        page_rank_step,
        run_page_rank_step,
        (
            Slip("index", "degree_ptr + source", "degree_ptr + k", "the edge's place in place of its source"),
            Slip(
                "exchanged operands",
                "(1 - damping) / nodes + damping * total",
                "damping / nodes + (1 - damping) * total",
                "damping turned round",
            ),
            Slip("divisor", "(1 - damping) / nodes", "(1 - damping)", "the ranks do not sum to one"),
        ),
        right_page_rank_step,
    ),
    Subject(
        relax_edges,
        run_relax_edges,
        (
            Slip("operator", "tl.atomic_min(", "tl.atomic_max(", "the longest way"),
            Slip("missing term", ", other=0) + weight", ", other=0)", "edges without their length"),
            Slip(
                "exchanged operands",
                "tl.load(distance_ptr + source, mask",
                "tl.load(distance_ptr + sink, mask",
                "the distance of the other end",
            ),
        ),
        right_relax_edges,
    ),
    Subject(
        breadth_first_level,
        run_breadth_first_level,
        (
            Slip("comparison", "theirs == level", "theirs <= level", "unvisited ones count"),
            Slip("constant", "level + 1, own)", "level, own)", "the level of the parents"),
            Slip("missing condition", "(own < 0) & (found > 0)", "(found > 0)", "visited nodes are visited again"),
        ),
        right_breadth_first_level,
    ),
    Subject(
        morton_code,
        run_morton_code,
        (
            Slip(
                "constant",
                "x = (x | (x << 2)) & 0x33333333",
                "x = (x | (x << 4)) & 0x33333333",
                "the shift of the line before",
            ),
            Slip(
                "wrong operand",
                "y = (y | (y << 1)) & 0x55555555",
                "y = (y | (x << 1)) & 0x55555555",
                "copied from x and not renamed",
            ),
            Slip("last step", "x | (y << 1)", "x | y", "both on the even places"),
        ),
        right_morton_code,
    ),
    Subject(
        crc8,
        run_crc8,
        (
            Slip("constant", "shifted ^ 0x07", "shifted ^ 0x09", "another polynomial"),
            Slip("bits", "(crc & 0x80) != 0", "(crc & 0x01) != 0", "the lowest bit is tested"),
            Slip("last step", "crc ^ 0x55", "crc", "the final exclusive or"),
        ),
        right_crc8,
    ),
    Subject(
        swap_case,
        run_swap_case,
        (
            Slip("comparison", "(byte <= 90)", "(byte < 90)", "Z is left"),
            Slip("operator", "byte ^ 32", "byte + 32", "lower case is not turned back"),
        ),
        right_swap_case,
    ),
    Subject(
        word_lengths,
        run_word_lengths,
        (
            Slip("index", "text_ptr + at - 1, mask=(at > 0)", "text_ptr + at - 2, mask=(at > 1)", "two bytes before"),
            Slip(
                "off by one",
                "tl.cumsum(opens.to(tl.int32), axis=0) - 1",
                "tl.cumsum(opens.to(tl.int32), axis=0)",
                "words from 1",
            ),
        ),
        right_word_lengths,
    ),
    Subject(
        base64_encode,
        run_base64_encode,
        (
            Slip("direction", "(word >> (18 - 6 * k))", "(word >> (6 * k))", "the last letter first"),
            Slip("constant", "(b << 8)", "(b << 10)", "bytes as if of another width"),
        ),
        right_base64_encode,
    ),
    Subject(
        rank_sort,
        run_rank_sort,
        (
            Slip("comparison", "j[None, :] < i[:, None]", "j[None, :] <= i[:, None]", "an element comes after itself"),
            Slip(
                "axis",
                "rank += tl.sum((less | tied).to(tl.int32), axis=1)",
                "rank += tl.sum((less | tied).to(tl.int32), axis=0)",
                "summed along the other axis",
            ),
            Slip("missing condition", "(less | tied)", "less", "equal ones share a place"),
        ),
        right_rank_sort,
    ),
    Subject(
        lower_bound,
        run_lower_bound,
        (
            Slip("comparison", "right = value < wanted", "right = value <= wanted", "the upper bound"),
            Slip(
                "off by one",
                "tl.where(open & (value >= wanted), middle, high)",
                "tl.where(open & (value >= wanted), middle - 1, high)",
                "as in a closed interval",
            ),
        ),
        right_lower_bound,
    ),
    Subject(
        digit_counts,
        run_digit_counts,
        (
            Slip("bits", "& (RADIX - 1)", "& RADIX", "the mask of one bit"),
            Slip(
                "mask",
                "(digit[:, None] == bins[None, :]) & (at < n)[:, None]",
                "digit[:, None] == bins[None, :]",
                "the padding counts as zeros",
            ),
            Slip(
                "stride or address",
                "bins * tl.num_programs(0) + pid",
                "pid * RADIX + bins",
                "counts as [program, digit]",
            ),
        ),
        right_digit_counts,
    ),
    Subject(
        cluster_sums,
        run_cluster_sums,
        (
            Slip(
                "mask",
                "count_ptr + label, 1, mask=r < n)",
                "count_ptr + label, 1)",
                "the padding is counted to the first",
            ),
            Slip(
                "index", "sum_ptr + label[:, None] * dim", "sum_ptr + label[:, None]", "the row's stride is forgotten"
            ),
        ),
        lambda x_ptr, label_ptr, **_: {
            "sum_ptr": torch.zeros(4, 5).index_add_(0, label_ptr.long(), x_ptr),
            "count_ptr": torch.bincount(label_ptr, minlength=4).int(),
        },
    ),
    Subject(
        knapsack,
        run_knapsack,
        (
            Slip("comparison", "(w >= weight)", "(w > weight)", "an exact fit is refused"),
            Slip("wrong operand", ", other=0) + value", ", other=0) + weight", "the weight as the value"),
            Slip("loop", "for i in range(items):", "for i in range(items - 1):", "the last item is left out"),
        ),
        right_knapsack,
    ),
    Subject(
        viterbi,
        run_viterbi,
        (
            Slip(
                "axis",
                "through = score[:, None] + move",
                "through = score[None, :] + move",
                "the score of the state gone to",
            ),
            Slip(
                "transposition",
                "i[:, None] * STATES + i[None, :]",
                "i[None, :] * STATES + i[:, None]",
                "moves from the column to the row",
            ),
            Slip(
                "function",
                "best = tl.max(through, axis=0)",
                "best = tl.sum(through, axis=0)",
                "a sum in place of the best",
            ),
        ),
        right_viterbi,
    ),
)
