"""Random kernels of many operations and dtypes, other lawful roundings of them, and differences planted in results."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tests.interpreter.support import kernel_from
from tests.launch.comparison.kernels import recorded
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import elements
from triton_lab.interpreter.variants import arithmetic_variants
from triton_lab.interpreter.variants.arithmetic_variants import Table, ordinary
from triton_lab.ir import Op
from triton_lab.ir.fma_contraction import contracted
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.gpu_ways import emulations
from triton_lab.launch.comparison.launch_results import of_launch, read
from triton_lab.launch.comparison.number_formats import is_float
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import replay

LANES, PROGRAMS = 32, 2
ORDER = ("f32", "f64", "f16", "bf16", "i32", "i64", "i8", "u8", "i1")  # of the kernel's outputs

# A statement's type, and its text with the types of its operands in braces.
FORMS: tuple[tuple[str, str], ...] = (
    *(("f32", text) for text in (
        "{f32} + {f32}", "{f32} - {f32}", "{f32} * {f32}", "{f32} / (tl.abs({f32}) + 0.5)", "tl.exp({f32} * 0.0625)",
        "tl.sqrt(tl.abs({f32}))", "tl.log(tl.abs({f32}) + 1.0)", "tl.sin({f32})", "tl.maximum({f32}, {f32})",
        "tl.minimum({f32}, {f32})", "tl.where({i1}, {f32}, {f32})", "tl.floor({f32})", "tl.ceil({f32})", "-{f32}",
        "tl.abs({f32})", "tl.fma({f32}, {f32}, {f32})", "{f32} * {f32} + {f32}", "{f32} * 3.0 - {f32}",
        "tl.clamp({f32}, -2.0, 2.5)", "{f16}.to(tl.float32)", "{bf16}.to(tl.float32)", "{i32}.to(tl.float32)",
        "{i1}.to(tl.float32)", "libdevice.rint({f32})", "{f32} * 8.0", "{f32} / 3.0",
        "{f32} + tl.sum({f32}, 0)", "tl.max({f32}, 0) - {f32}", "tl.min({f32}, 0) + {f32}", "tl.cumsum({f32}, 0)",
        "tl.gather({f32}, {i32} & 31, 0)", "tl.sort({f32})", "tl.flip({f32})",
        "tl.sum(tl.reshape({f32}, (4, 8)), 0, keep_dims=True).broadcast_to((4, 8)).reshape((32,))",
        "tl.trans(tl.reshape({f32}, (4, 8))).reshape((32,))", "tl.associative_scan({f32}, 0, multiplied)",
        "tl.load(x_ptr + ({i32} & 31))", "tl.load(x_ptr + k, mask={i1}, other={f32})",
        "tl.load(f32_ptr + program * WIDTH + k)", "{f64}.to(tl.float32)",
    )),
    *(("f64", text) for text in ("{f32}.to(tl.float64)", "{f64} + {f64}", "{f64} * {f64}", "{f64} / 3.0")),
    *(("f16", text) for text in ("{f32}.to(tl.float16)", "{f16} + {f16}", "{f16} * {f16}", "{i8}.to(tl.float16)")),
    *(("bf16", text) for text in ("{f32}.to(tl.bfloat16)", "{bf16} + {bf16}", "{bf16} * {bf16}")),
    *(("i1", text) for text in (
        "{f32} < {f32}", "{f32} >= 0.5", "{i32} == {i32}", "{i32} > {i32}", "{f16} != {f16}", "{i1} & {i1}",
        "{i1} | {i1}", "{i1} ^ {i1}", "({i8} >= {i8})", "{f32} <= {f32} + 0.25",
    )),
    *(("i32", text) for text in (
        "{f32}.to(tl.int32)", "({f32} * 4.0).to(tl.int32)", "{i32} + {i32}", "{i32} - {i32}", "{i32} * {i32}",
        "{i32} * 5", "{i32} // 3", "{i32} % 7", "{i32} & {i32}", "{i32} | {i32}", "{i32} ^ {i32}", "{i32} >> 1",
        "{i32} << 2", "tl.maximum({i32}, {i32})", "tl.minimum({i32}, {i32})", "tl.where({i1}, {i32}, {i32})",
        "{i1}.to(tl.int32)", "{i8}.to(tl.int32)", "{u8}.to(tl.int32)", "{i32} + tl.sum({i32}, 0)",
        "tl.cumsum({i32}, 0)", "tl.max({i32}, 0) - {i32}", "{i32} + tl.argmax({f32}, 0)", "{i32} - tl.argmin({f32}, 0)",
        "tl.gather({i32}, {i32} & 31, 0)", "tl.sort({i32})", "tl.histogram({i32} & 31, 32)", "{i64}.to(tl.int32)",
        "tl.load(n_ptr + ({i32} & 31))", "tl.load(i32_ptr + program * WIDTH + k)", "tl.abs({i32})",
        "{f32}.to(tl.int32, bitcast=True)", "tl.floor({f32} + 0.5).to(tl.int32)", "tl.xor_sum({i32}, 0) + {i32}",
    )),
    *(("i64", text) for text in (
        "{i32}.to(tl.int64)", "{i64} * {i64}", "{i64} + {i64}", "({f32} * 16.0).to(tl.int64)",
    )),
    *(("i8", text) for text in (
        "{f32}.to(tl.int8)", "{i32}.to(tl.int8)", "{i8} + {i8}", "libdevice.rint({f32}).to(tl.int8)",
    )),
    *(("u8", text) for text in ("tl.abs({f32}).to(tl.uint8)", "{i32}.to(tl.uint8)", "{u8} * {u8}")),
)  # fmt: skip
# Statements with no value.
BLOCKS = (
    "tl.atomic_add(count_ptr + ({i32} & 7), {i32})",
    "tl.atomic_max(count_ptr + ({i32} & 7), {i32})",
    "tl.atomic_add(total_ptr + ({i32} & 7), {f32})",
    "tl.store(n_ptr + 32 + k, {i32}, mask={i1})",
    "tl.store(count_ptr + k, {i32})",
)
TYPES = {
    "f32": ("tl.float32", torch.float32), "f64": ("tl.float64", torch.float64), "f16": ("tl.float16", torch.float16),
    "bf16": ("tl.bfloat16", torch.bfloat16), "i32": ("tl.int32", torch.int32), "i64": ("tl.int64", torch.int64),
    "i8": ("tl.int8", torch.int8), "u8": ("tl.uint8", torch.uint8), "i1": ("tl.int8", torch.int8),
}  # fmt: skip


def source(rng: random.Random, statements: int) -> tuple[str, dict[str, int]]:
    """The text of a kernel, and how many values of each type it stores."""
    have = {
        "f32": ["x", "y"], "f64": ["d"], "f16": ["h"], "bf16": ["g"], "i32": ["n", "k"], "i64": ["m"], "i8": ["c"],
        "u8": ["e"], "i1": ["t"],
    }  # fmt: skip
    stored = dict.fromkeys(have, 0)
    lines = [
        "program = tl.program_id(0)", "k = tl.arange(0, 32)", "x = tl.load(x_ptr + program * 32 + k)",
        "y = tl.load(y_ptr + program * 32 + k)", "n = tl.load(n_ptr + k)", "h = x.to(tl.float16)",
        "g = y.to(tl.bfloat16)", "c = n.to(tl.int8)", "e = n.to(tl.uint8)", "m = n.to(tl.int64)", "t = n > 3",
        "d = x.to(tl.float64)",
    ]  # fmt: skip

    def filled(text: str) -> str:
        for type in have:
            while "{" + type + "}" in text:
                # Mostly the newest values, so that errors meet decisions.
                names = have[type]
                name = names[-1 - min(len(names) - 1, int(rng.expovariate(0.5)))]
                text = text.replace("{" + type + "}", name, 1)
        return text

    for number in range(statements):
        kind = rng.random()
        if kind < 0.06:
            lines.append(filled(rng.choice(BLOCKS)))
            continue
        if kind < 0.12:
            limit = filled(rng.choice(("(tl.max({f32}, 0)).to(tl.int32) & 3", "tl.max({i32}, 0) & 3")))
            value = filled("{f32}")
            lines += [
                f"v{number} = {value}",
                f"for _ in range({limit}):",
                filled(f"    v{number} = v{number} * 0.5 + {{f32}}"),
            ]
            type = "f32"
        elif kind < 0.18:
            test = filled(rng.choice(("tl.sum({f32}, 0) > 0.5", "tl.max({i32}, 0) > 3")))
            lines += [f"v{number} = {filled('{i32}')}", f"if {test}:", filled(f"    v{number} = v{number} + {{i32}}")]
            type = "i32"
        else:
            type, text = rng.choice(FORMS)
            lines.append(f"v{number} = {filled(text)}")
        have[type].append(f"v{number}")
        stored[type] += 1
        at = f"{type}_ptr + program * WIDTH + {32 * stored[type]} + k"
        value = f"v{number}.to(tl.int8)" if type == "i1" else f"v{number}"
        lines.append(f"tl.store({at}, {value})")
    names = ", ".join(f"{type}_ptr" for type in have)
    text = (
        "@triton.jit\ndef multiplied(a, b):\n    return a * b\n\n"
        f"@triton.jit\ndef kernel(x_ptr, y_ptr, n_ptr, count_ptr, total_ptr, {names}, WIDTH: tl.constexpr):\n"
        + "".join(f"    {line}\n" for line in lines)
    )
    return text, stored


def program(seed: int, statements: int = 14) -> tuple[Launch, dict[str, int]]:
    """A recorded launch of a random kernel, and how many blocks of each type it stores for each program.

    Its inputs are such that results often lie near decisions.
    """
    rng = random.Random(seed)
    text, stored = source(rng, statements)
    generator = torch.Generator().manual_seed(seed)
    shape = (PROGRAMS * LANES,)
    whole = torch.randint(-6, 7, shape, generator=generator).float()
    x, y = whole / rng.choice((1, 2, 3, 8, 10)), torch.randn(shape, generator=generator) * rng.choice((1.0, 4.0))
    if rng.random() < 0.3:
        y = torch.randint(-4, 5, shape, generator=generator).float() * 0.5
    n = torch.randint(-8, 40, (2 * LANES,), generator=generator, dtype=torch.int32)
    width = LANES * (statements + 2)
    outputs = [torch.zeros(PROGRAMS * width, dtype=dtype) for _, dtype in TYPES.values()]
    count, total = torch.zeros(LANES, dtype=torch.int32), torch.zeros(LANES)
    order = dict(zip(TYPES, outputs, strict=True))
    kernel = kernel_from(text)
    launch = recorded(lambda: kernel[(PROGRAMS,)](x, y, n, count, total, *(order[name] for name in ORDER), WIDTH=width))
    return launch, stored


# --- Other roundings -----------------------------------------------------------------------------------

_BASIC = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "math.sqrt", "arith.truncf", "arith.sitofp")
_LONG: dict[str, Any] = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "math.sqrt": np.sqrt, "arith.truncf": lambda x: x, "arith.sitofp": lambda x: x,
}  # fmt: skip


def faithful(rng: np.random.Generator, often: float, only: int = 0) -> Table:
    """Arithmetic that rounds to either neighbour of the exact result, at random; ``only`` up (1) or down (-1)."""

    def changed(name: str) -> Any:
        inner = ordinary(name)

        def run(frame: Frame, op: Op, *operands: Any) -> Any:
            result = inner(frame, op, *operands)
            array = elements(result, frame.result_type(op))
            given = [elements(value, frame.type(op.operands[k])) for k, value in enumerate(operands)]
            if any(each.dtype == np.bool_ for each in given) or array.dtype.itemsize == 8:
                return result
            with np.errstate(all="ignore"):
                exact = _LONG[name](*(each.astype(np.float64).astype(np.longdouble) for each in given))
                side = np.sign(exact - array.astype(np.float64)).astype(np.float64)
                side[~np.isfinite(array.astype(np.float64)) | ~np.isfinite(exact.astype(np.float64))] = 0
                side = np.where((rng.random(side.shape) < often) & ((only == 0) | (side == only)), side, 0)
            return moved(array, side)

        return run

    return {name: changed(name) for name in _BASIC}


def moved(array: Any, side: Any) -> Any:
    """Floats moved to their next neighbours up or down, by walking through their bits."""
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").astype(np.int64)
    top = 1 << (8 * array.dtype.itemsize - 1)
    ordered = np.where(bits & top, -(bits & (top - 1)), bits) + side.astype(np.int64)
    back = np.where(ordered < 0, -ordered | top, ordered)
    return np.where(side == 0, bits, back).astype(f"u{array.dtype.itemsize}").view(array.dtype)


def others(launch: Launch, seed: int, same: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Results of other lawful evaluations, by name: other orders, fused and approximate ones, other roundings."""
    plan = launch.executable.plan
    tables: dict[str, tuple[Any, Table]] = {
        "fused": (contracted(plan), {}), "wide sums": (plan, arithmetic_variants.WIDE_SUMS),
        **{name: (plan, table) for name, table in arithmetic_variants.ORDERS.items()},
    }  # fmt: skip
    if not same:
        rng = np.random.default_rng(seed)
        for often, only in ((1.0, 0), (1.0, 1), (1.0, -1), (0.5, 0), (0.5, 1), (0.5, -1), (0.25, 0)):
            tables[f"roundings {len(tables)}"] = (plan, faithful(rng, often, only))
        if not any(op.name in arithmetic_variants.NARROW_ONLY for op in plan.walk()):
            tables["float64"] = (plan, arithmetic_variants.THROUGHOUT)
    runs = {name: Executable.of(other, table) for name, (other, table) in tables.items()}
    if same:
        # What spills into a neighbour's byte is no rounding.
        known = [switch for switch in emulations(launch) if "bytes" not in switch.name]
        runs |= {switch.name: switch.executable(launch) for switch in known}
    for name, executable in runs.items():
        memory = replay(launch, executable=executable)
        yield name, {one: read(memory, launch.argument(one)) for one in of_launch(launch).written}


# --- What is found -------------------------------------------------------------------------------------


@dataclass
class Counts:
    """What became of planted differences of one unit, and of other evaluations, in elements."""

    programs: int = 0
    planted: int = 0
    found: int = 0  # said to be different
    unknown: int = 0
    reached: int = 0  # said to be rounding, and another evaluation gave it
    unreached: int = 0  # said to be rounding, and no evaluation gave it
    lawful: int = 0
    false: int = 0  # elements of other evaluations that are called different
    seen: str = ""


def tried(seed: int, counts: Counts, same: bool = False) -> None:
    """Add what becomes of one random program to ``counts``."""
    launch, stored = program(seed)
    results = of_launch(launch)
    found = bounds(launch, same)
    counts.programs += 1
    reached: dict[str, list[Any]] = {name: [] for name in results.written}
    for what, arrays in others(launch, seed, same):
        for name, array in arrays.items():
            one = Compared(name, results.arrays[name], array, bound=found[name])
            wrong = ~one.explained & ~one.unknown
            counts.lawful += one.a.size
            if wrong.any():
                at = int(np.argmax(wrong))
                counts.false += int(np.count_nonzero(wrong))
                counts.seen += f"seed {seed}: {name}[{at}] {one.a.reshape(-1)[at]}, {what}: {array.reshape(-1)[at]}\n"
            reached[name].append(array)
    for name in results.written:
        mine = results.arrays[name]
        if not stored.get(name.removesuffix("_ptr")):
            continue
        written = np.arange(mine.size) % (mine.size // PROGRAMS) // LANES
        written = (written > 0) & (written <= stored[name.removesuffix("_ptr")])
        for by in (-1, 1):
            other, there = moved_by_one(mine, by, written, found[name].size)
            one = Compared(name, mine, other, bound=found[name])
            near = one.explained & there
            hit = np.logical_or.reduce([array == other for array in reached[name]])
            counts.planted += int(np.count_nonzero(there))
            counts.found += int(np.count_nonzero(there & ~near & ~one.unknown))
            counts.unknown += int(np.count_nonzero(there & one.unknown))
            counts.reached += int(np.count_nonzero(near & hit))
            missed = near & ~hit
            counts.unreached += int(np.count_nonzero(missed))
            if missed.any():
                at = int(np.argmax(missed))
                counts.seen += f"seed {seed}: {name}[{at}] {mine.reshape(-1)[at]} by {by} is called rounding\n"


def moved_by_one(mine: Any, by: int, written: Any, bound: Any) -> tuple[Any, Any]:
    """Results that are one unit off, and where that tells: in integers everywhere, in floats where they are exact."""
    if not is_float(mine.dtype):
        return (mine.astype(np.int64) + by).astype(mine.dtype), written
    with np.errstate(invalid="ignore"):
        there = written & np.isfinite(mine.astype(np.float64)) & (bound == 0)
    if mine.dtype.itemsize == 8:
        return np.nextafter(mine, np.inf * by), there
    return moved(mine, np.full(mine.shape, float(by))), there
