"""Right Gluon kernels on blocks of elements: layouts, views of shared memory, reductions, scans, gathers, atomics."""

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2

copy = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared

LINE = gl.constexpr(gl.BlockedLayout([2], [32], [4], [0]))
TILE = gl.constexpr(gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))
COLUMNS = gl.constexpr(gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))
SWIZZLED = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 32, [1, 0]))
PADDED = gl.constexpr(gl.PaddedSharedLayout.with_identity_for([[32, 4]], [32, 32], [1, 0]))
# Lanes along the rows, then registers; each warp has eight rows.
LINEAR = gl.constexpr(
    gl.DistributedLinearLayout(
        reg_bases=[[0, 8], [0, 16], [4, 0]],
        lane_bases=[[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]],
        warp_bases=[[8, 0], [16, 0]],
        block_bases=[],
        shape=[32, 32],
    )
)


@gluon.jit
def places(layout: gl.constexpr, ROWS: gl.constexpr, WIDTH: gl.constexpr):
    down = gl.arange(0, ROWS, gl.SliceLayout(1, layout))
    return down[:, None] * WIDTH + gl.arange(0, WIDTH, gl.SliceLayout(0, layout))[None, :]


# --- Element by element ----------------------------------------------------------------------------------------


@gluon.jit
def swished(x, y, n, BLOCK: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, LINE)
    value = gl.load(x + at, mask=at < n, other=0.0)
    gl.store(y + at, value / (1 + gl.exp(-value)), mask=at < n)


@gluon.jit
def spread_out(x, y):
    """The sum of a row and a column, in another layout than they were loaded in."""
    row = gl.load(x + gl.arange(0, 32, gl.SliceLayout(0, TILE)))
    column = gl.load(x + 32 + gl.arange(0, 32, gl.SliceLayout(1, TILE)))
    total = gl.convert_layout(row[None, :] + column[:, None], COLUMNS)
    gl.store(y + places(COLUMNS, 32, 32), total)


@gluon.jit
def by_bases(x, y):
    """A layout that is given by its bases."""
    value = gl.load(x + places(LINEAR, 32, 32))
    gl.store(y + places(TILE, 32, 32), gl.convert_layout(value * value, TILE))


@gluon.jit
def taken_apart(x, y):
    """Pairs are split, changed, joined and turned."""
    value = gl.load(x + gl.arange(0, 256, LINE))
    even, odd = gl.split(gl.reshape(value, (128, 2)))
    turned = gl.permute(gl.join(odd, even * 2), (1, 0))
    flat = gl.reshape(turned, (256,))
    gl.store(y + gl.arange(0, 256, LINE), gl.convert_layout(flat, LINE))


@gluon.jit
def narrowed(x, y):
    """To eight bits and back, to bfloat16 and back."""
    value = gl.load(x + gl.arange(0, 256, LINE))
    small = value.to(gl.float8e4nv).to(gl.float32) + value.to(gl.float8e5).to(gl.float32)
    gl.store(y + gl.arange(0, 256, LINE), small + value.to(gl.bfloat16).to(gl.float32))


# --- Across elements -------------------------------------------------------------------------------------------


@gluon.jit
def softmax_of_rows(x, y):
    value = gl.load(x + places(TILE, 32, 32))
    raised = gl.exp(value - gl.max(value, 1)[:, None])
    gl.store(y + places(TILE, 32, 32), raised / gl.sum(raised, 1)[:, None])


@gluon.jit
def added(a, b):
    return a + b


@gluon.jit
def larger(value, at, other, other_at):
    wins = (value > other) | ((value == other) & (at < other_at))
    return gl.where(wins, value, other), gl.where(wins, at, other_at)


@gluon.jit
def running_sums(x, y):
    value = gl.load(x + places(TILE, 32, 32))
    gl.store(y + places(TILE, 32, 32), gl.associative_scan(value, 1, added, reverse=True))


@gluon.jit
def largest_of_columns(x, y):
    """The place of the largest element of each column."""
    value = gl.load(x + places(TILE, 32, 32))
    down = gl.arange(0, 32, gl.SliceLayout(1, TILE))[:, None] + gl.zeros([32, 32], gl.int32, TILE)
    _most, where = gl.reduce((value, down), 0, larger)
    gl.store(y + gl.arange(0, 32, gl.SliceLayout(0, TILE)), where)


@gluon.jit
def picked(x, y):
    """Elements of each row, at places that the row says."""
    at = places(TILE, 32, 32)
    gl.store(y + at, gl.gather(gl.load(x + at), (at * 7 + at // 32) % 32, 1))


@gluon.jit
def counted_in_bins(x, y):
    bins: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    found = gl.histogram(gl.load(x + gl.arange(0, 256, LINE)), 128, layout=bins)
    gl.atomic_add(y + gl.arange(0, 128, bins), found)


@gluon.jit
def all_atomics(x, y):
    """Each program and lane changes a few counters, in ways whose order does not matter."""
    value = gl.load(x + gl.program_id(0) * 256 + gl.arange(0, 256, LINE))
    at = gl.arange(0, 256, LINE) % 8
    gl.atomic_add(y + at, value)
    gl.atomic_max(y + 8 + at, value)
    gl.atomic_min(y + 16 + at, value)
    gl.atomic_or(y + 24 + at, value)
    gl.atomic_xor(y + 32 + at, value)
    gl.atomic_and(y + 40 + at, value)


@gluon.jit
def swapped_once(x, y):
    """Of all programs one puts its number into each place, and the last digit says whether it did."""
    at = gl.arange(0, 256, LINE)
    before = gl.atomic_cas(y + at, gl.zeros([256], gl.int32, LINE), gl.load(x + at))
    gl.atomic_add(y + 256 + at, (before == 0).to(gl.int32))


# --- Shared memory ---------------------------------------------------------------------------------------------


@gluon.jit
def turned_by(x, y, layout: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], layout, gl.load(x + places(TILE, 32, 32)))
    gl.store(y + places(TILE, 32, 32), tile.permute((1, 0)).load(TILE))


if hasattr(gl.shared_memory_descriptor, "reinterpret"):

    @gluon.jit
    def as_integers(tile, layout: gl.constexpr):
        return tile.reinterpret(gl.int32, [8, 32], layout)

else:  # up to Triton 3.8

    @gluon.jit
    def as_integers(tile, layout: gl.constexpr):
        return tile._reinterpret(gl.int32, [8, 32], layout)


@gluon.jit
def seen_as_other_bytes(x, y):
    """The bits of floats, read as integers from the same bytes, in another shape."""
    tile = gl.allocate_shared_memory(gl.float32, [256], PLAIN, gl.load(x + gl.arange(0, 256, LINE)))
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    bits = as_integers(tile, plain).load(TILE)
    gl.store(y + places(TILE, 8, 32), bits ^ 0x40000000)


@gluon.jit
def parts_of_parts(x, y):
    """A ring of tiles: one is sliced twice, the slice is reshaped, and the rest stays as it was."""
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    ring = gl.allocate_shared_memory(gl.float32, [2, 32, 32], plain)
    ring.index(0).store(gl.load(x + places(TILE, 32, 32)))
    ring.index(1).store(gl.load(x + 1024 + places(TILE, 32, 32)))
    for k in range(2):
        part = ring.index(1 - k).slice(16, 16, 0).slice(16, 16, 1)
        part.store(part.load(TILE) * (k + 2))
    gl.store(y + places(TILE, 32, 32), ring.index(0).load(TILE))
    gl.store(y + 1024 + places(TILE, 32, 32), ring.index(1).load(TILE))


@gluon.jit
def copied_by_rows(x, y):
    """cp.async of 16 bytes a lane into swizzled memory, read by columns."""
    wide: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    swizzle: gl.constexpr = gl.SwizzledSharedLayout(4, 1, 8, [1, 0])
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], swizzle)
    copy(tile, x + places(wide, 32, 32))
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(y + places(COLUMNS, 32, 32), tile.load(COLUMNS) + 1)


# --- Products without wgmma ------------------------------------------------------------------------------------


@gluon.jit
def product_by_fma(x, z, y):
    left: gl.constexpr = gl.DotOperandLayout(0, TILE, 0)
    right: gl.constexpr = gl.DotOperandLayout(1, TILE, 0)
    a = gl.convert_layout(gl.load(x + places(TILE, 32, 32)), left)
    b = gl.convert_layout(gl.load(z + places(TILE, 32, 32)), right)
    gl.store(y + places(TILE, 32, 32), gl.dot_fma(a, b, gl.zeros([32, 32], gl.float32, TILE)))


@gluon.jit
def product_by_mma(x, z, y, K: gl.constexpr, DEPTH: gl.constexpr):
    """The product of Ampere: a ring of cp.async, operands by ldmatrix, and mma.sync."""
    SLOTS: gl.constexpr = DEPTH + 1
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
    swizzle: gl.constexpr = gl.SwizzledSharedLayout(8, 2, 4, [1, 0])
    a = gl.allocate_shared_memory(gl.float16, [SLOTS, 64, 32], swizzle)
    b = gl.allocate_shared_memory(gl.float16, [SLOTS, 32, 64], swizzle)
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    down = gl.arange(0, 64, gl.SliceLayout(1, wide))[:, None]
    along = gl.arange(0, 32, gl.SliceLayout(0, wide))[None, :]
    rows = gl.arange(0, 32, gl.SliceLayout(1, wide))[:, None]
    across = gl.arange(0, 64, gl.SliceLayout(0, wide))[None, :]
    acc = gl.zeros([64, 64], gl.float32, mma)
    steps: gl.constexpr = K // 32
    for k in gl.static_range(steps + DEPTH):
        if k < steps:
            copy(a.index(k % SLOTS), x + down * K + k * 32 + along)
            copy(b.index(k % SLOTS), z + (k * 32 + rows) * 64 + across)
        async_copy.commit_group()
        if k >= DEPTH:
            async_copy.wait_group(DEPTH)
            left = a.index((k - DEPTH) % SLOTS).load(gl.DotOperandLayout(0, mma, 2))
            right = b.index((k - DEPTH) % SLOTS).load(gl.DotOperandLayout(1, mma, 2))
            acc = mma_v2(left, right, acc)
    gl.store(y + places(mma, 64, 64), acc)
