"""Runs one PTX function on arrays of elements: every lane is a thread that computes one element.

Lanes that agree run together; where they part, those at the earliest instruction go on until others meet them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.variants.ptx.instruction_table import CARRY, RUNS, WIDTHS, kinds, known
from triton_lab.interpreter.variants.ptx.ptx_program import NotEmulated, PtxCode, PtxInstruction, PtxProgram, constant
from triton_lab.localization import _

Array = NDArray[Any]

_STEPS = 200_000  # instructions of one run; CUDA's longest loops take a hundredth
_DEPTH = 4  # calls within calls
_PARAMETER = 1 << 48  # the address of the first parameter's tensor; each has a range of its own
_TABLE = 1 << 40  # the address of the first constant table
_RANGE = 1 << 32

_ADDRESS = re.compile(r"^\[\s*(?P<base>[^\s+\]]+)\s*(?:\+\s*(?P<offset>-?\d+))?\s*\]$")


@dataclass
class _Frame:
    """What the lanes of one function hold: ``registers`` as raw bits, and the values passed to calls."""

    code: PtxCode
    lanes: int
    registers: dict[str, Array] = field(default_factory=dict)
    passed: dict[str, Array] = field(default_factory=dict)
    carry: Array | None = None


class PtxFunction:
    """One elementwise operation as a GPU computes it.

    ``dtypes`` are those of the operands and, last, of the result. The program loads each parameter's element and
    stores the result to the last one.
    """

    def __init__(self, program: PtxProgram, dtypes: Sequence[Any]) -> None:
        self._program = program
        self._dtypes = [np.dtype(one) for one in dtypes]
        self._tables = {name: _TABLE + k * _RANGE for k, name in enumerate(program.tables)}
        for code in program.functions.values():
            for one in code.instructions:
                known(one)

    def __call__(self, *operands: Array) -> Array:
        """The results for operands that broadcast together. Raises NotEmulated."""
        arrays = np.broadcast_arrays(*operands)
        shape = arrays[0].shape
        flat = [np.ascontiguousarray(one.reshape(-1)) for one in arrays]
        found = np.empty(flat[0].size, self._dtypes[-1])
        for start in range(0, found.size, 1 << 16):
            part = slice(start, start + (1 << 16))
            with np.errstate(all="ignore"):
                parts = [one[part] for one in flat]
                found[part] = PtxRun(self._program, self._tables, len(parts[0]), parts).result(self._dtypes[-1])
        return found.reshape(shape)


class PtxRun:
    """One run of a program, by ``count`` lanes."""

    def __init__(self, program: PtxProgram, tables: dict[str, int], count: int, operands: Sequence[Array] = ()) -> None:
        self.program, self.tables, self.count = program, tables, count
        self.operands = [one.view(f"u{one.dtype.itemsize}") for one in operands]
        self.out: Array = np.zeros(0)
        self.steps = 0
        self.local: Array = np.zeros((self.count, 0), np.uint8)

    def result(self, dtype: np.dtype[Any]) -> Array:
        """What the program stores to its last parameter."""
        self.out = np.zeros(self.count, f"u{dtype.itemsize}")
        code = self.program.functions[self.program.entry]
        self.registers(
            {
                f"{name}+0": np.full(self.count, _PARAMETER + number * _RANGE, np.uint64)
                for number, name in enumerate(code.parameters)
            }
        )
        return self.out.view(dtype)

    def registers(self, given: dict[str, Array]) -> dict[str, Array]:
        """The registers after the run, as raw bits, where it begins with those ``given``."""
        frame = _Frame(self.program.functions[self.program.entry], self.count, given)
        self._run(frame, np.arange(self.count), 0)
        return frame.registers

    def _run(self, frame: _Frame, everyone: Array, depth: int) -> None:
        """Run all instructions for the lanes ``everyone``."""
        if depth > _DEPTH:
            raise NotEmulated(_("too many calls within calls"))
        for name, size in frame.code.arrays.items():
            frame.registers[name] = np.full(self.count, self.local.shape[1], np.uint64)
            self.local = np.concatenate([self.local, np.zeros((self.count, size), np.uint8)], axis=1)
        instructions = frame.code.instructions
        waiting: dict[int, Array] = {0: everyone}
        while waiting:
            at = min(waiting)
            lanes = waiting.pop(at)
            until = min(waiting, default=len(instructions))
            while at < until:
                self.steps += 1
                if self.steps > _STEPS:
                    raise NotEmulated(_("a loop that does not end soon"))
                one = instructions[at]
                chosen = lanes if not one.guard else lanes[frame.registers[one.guard][lanes] ^ one.unless]
                if one.name in ("ret", "exit"):
                    lanes = np.setdiff1d(lanes, chosen, assume_unique=True) if one.guard else lanes[:0]
                elif one.name.startswith("bra"):
                    self._to(waiting, frame.code.labels[one.operands[0]], chosen)
                    if len(chosen) == len(lanes):
                        lanes = lanes[:0]
                    elif len(chosen):
                        lanes = np.setdiff1d(lanes, chosen, assume_unique=True)
                    until = min(waiting, default=len(instructions))
                elif len(chosen):
                    self._step(frame, one, chosen, depth)
                if not len(lanes):
                    break
                at += 1
            if len(lanes) and at < len(instructions):
                self._to(waiting, at, lanes)

    @staticmethod
    def _to(waiting: dict[int, Array], at: int, lanes: Array) -> None:
        if len(lanes):
            waiting[at] = np.union1d(waiting[at], lanes) if at in waiting else lanes

    def _step(self, frame: _Frame, one: PtxInstruction, lanes: Array, depth: int) -> None:
        name = one.name
        if name.startswith(("ld.", "st.")):
            self._memory(frame, one, lanes)
        elif name.startswith("call"):
            self._call(frame, one, lanes, depth)
        elif name.startswith(("mov.", "cvta.")):
            self._move(frame, one, lanes)
        elif name in RUNS:
            types = kinds(name, len(one.operands) - 1)
            values = [self._value(frame, text, lanes, kind) for text, kind in zip(one.operands[1:], types, strict=True)]
            _put(frame, one.operands[0], lanes, np.asarray(RUNS[name](*values)))
        elif name.startswith("cvt."):
            self._resize(frame, one, lanes)
        else:
            self._carried(frame, one, lanes)

    def _move(self, frame: _Frame, one: PtxInstruction, lanes: Array) -> None:
        target, source = one.operands
        kind = one.name.rsplit(".", 1)[1]
        if target.startswith("{"):
            low, high = target.strip("{} ").split(",")
            whole = self._value(frame, source, lanes, kind)
            half = f"u{whole.dtype.itemsize // 2}"
            _put(frame, low.strip(), lanes, whole.astype(half))
            _put(frame, high.strip(), lanes, (whole >> whole.dtype.type(4 * whole.dtype.itemsize)).astype(half))
        elif source.startswith("{"):
            bits = {"b64": "b32", "b32": "b16"}[kind]
            parts = [self._value(frame, text.strip(), lanes, bits) for text in source.strip("{} ").split(",")]
            wide = np.dtype(f"u{2 * parts[0].dtype.itemsize}")
            shift = wide.type(4 * wide.itemsize)
            _put(frame, target, lanes, parts[0].astype(wide) | parts[1].astype(wide) << shift)
        else:
            _put(frame, target, lanes, self._value(frame, source, lanes, kind))

    def _resize(self, frame: _Frame, one: PtxInstruction, lanes: Array) -> None:
        """``cvt`` between integers: sign bits or zeros are added, or upper bits dropped."""
        _, target, source = one.name.split(".")
        value = self._value(frame, one.operands[1], lanes, source)
        if source[0] == "s":
            value = value.view(f"i{value.dtype.itemsize}")
        wide = value.astype(f"{'i' if source[0] == 's' else 'u'}{WIDTHS[target]}")
        _put(frame, one.operands[0], lanes, wide.view(f"u{wide.dtype.itemsize}"))

    def _carried(self, frame: _Frame, one: PtxInstruction, lanes: Array) -> None:
        found = CARRY.match(one.name)
        assert found is not None  # `known` has asked
        operation = (
            (found["name"] or found["chained"]).replace("addc", "add").replace("subc", "sub").replace("madc", "mad")
        )
        values = [self._value(frame, text, lanes, "u32").astype(np.uint64) for text in one.operands[1:]]
        if frame.carry is None:
            frame.carry = np.zeros(self.count, np.uint64)
        carry = frame.carry[lanes] if found["chained"] else np.uint64(0)
        low = np.uint64(0xFFFFFFFF)
        if operation == "sub":
            total = values[0] - values[1] - carry
            left = (total >> np.uint64(63)).astype(np.uint64)
        else:
            if operation.startswith("mad"):
                product = values[0] * values[1]
                values = [product & low if operation == "mad.lo" else product >> np.uint64(32), values[2]]
            total = values[0] + values[1] + carry
            left = total >> np.uint64(32)
        if found["leaves"]:
            frame.carry[lanes] = left
        _put(frame, one.operands[0], lanes, (total & low).astype(np.uint32))

    def _call(self, frame: _Frame, one: PtxInstruction, lanes: Array, depth: int) -> None:
        result, name, given = one.operands
        code = self.program.functions[name]
        inner = _Frame(code, self.count)
        pairs = list(zip(code.parameters, given.strip("() ").split(","), strict=True))
        for parameter, passed in pairs:
            inner.registers |= _renamed(frame.passed, passed.strip(), parameter)
        self._run(inner, lanes, depth + 1)
        frame.passed |= _renamed(inner.passed, code.result, result.strip("() "))

    def _memory(self, frame: _Frame, one: PtxInstruction, lanes: Array) -> None:
        loads = one.name.startswith("ld.")
        register, address = one.operands if loads else one.operands[::-1]
        size = WIDTHS[one.name.rsplit(".", 1)[1]]
        found = _ADDRESS.match(address)
        if found is None:
            raise NotEmulated(f"{one.name} {', '.join(one.operands)}")
        for number, part in enumerate(register.strip("{} ").split(",")):
            offset = int(found["offset"] or 0) + number * size
            if ".param." in one.name:
                self._parameter(frame, loads, f"{found['base']}+{offset}", part.strip(), size, lanes)
            else:
                self._access(frame, loads, found["base"], offset, part.strip(), size, lanes)

    def _parameter(self, frame: _Frame, loads: bool, name: str, register: str, size: int, lanes: Array) -> None:
        """Read a parameter or what a call returned, or set what a call gets or a function returns."""
        if loads:
            held = frame.passed if name in frame.passed else frame.registers
            _put(frame, register, lanes, held[name][lanes])
        else:
            value = self._value(frame, register, lanes, f"b{8 * size}")
            frame.passed.setdefault(name, np.zeros(self.count, f"u{size}"))[lanes] = value

    def _access(
        self, frame: _Frame, loads: bool, base: str, offset: int, register: str, size: int, lanes: Array
    ) -> None:
        places = self._value(frame, base, lanes, "b64").astype(np.int64) + offset
        if int(places[0]) < _TABLE:
            places &= _RANGE - 1  # addresses of local arrays have 32 bits, and wrap
        if loads:
            _put(frame, register, lanes, self._loaded(places, size, lanes))
        else:
            self._stored(places, self._value(frame, register, lanes, f"b{8 * size}"), size, lanes)

    def _loaded(self, places: Array, size: int, lanes: Array) -> Array:
        first = int(places[0])
        if first >= _PARAMETER:
            return self.operands[(first - _PARAMETER) // _RANGE][lanes]
        octets = np.arange(size)
        if first >= _TABLE:
            table = list(self.program.tables.values())[(first - _TABLE) // _RANGE]
            at = (places - _TABLE) % _RANGE
            raw = table[at[:, None] + octets]
        else:
            raw = self.local[lanes[:, None], places[:, None] + octets]
        return np.ascontiguousarray(raw).view(f"<u{size}").reshape(-1)

    def _stored(self, places: Array, value: Array, size: int, lanes: Array) -> None:
        if int(places[0]) >= _PARAMETER:
            if int(places[0] - _PARAMETER) // _RANGE != len(self.operands):
                raise NotEmulated(_("a store to an operand"))
            self.out[lanes] = value
            return
        raw = np.ascontiguousarray(value).view(np.uint8).reshape(-1, size)
        self.local[lanes[:, None], places[:, None] + np.arange(size)] = raw

    def _value(self, frame: _Frame, text: str, lanes: Array, kind: str) -> Array:
        """An operand's bits in the width of ``kind``, for these lanes."""
        dtype = np.dtype(np.bool_) if kind == "pred" else np.dtype(f"u{WIDTHS[kind]}")
        if text in frame.registers:
            held = frame.registers[text]
            found = held if len(lanes) == self.count else held[lanes]
            return found if found.dtype == dtype else found.astype(dtype)
        if text in self.tables:
            return np.full(len(lanes), self.tables[text], dtype)
        return np.full(len(lanes), constant(text, dtype), dtype)


def _renamed(values: dict[str, Array], name: str, other: str) -> dict[str, Array]:
    """The parts of one parameter under another name."""
    return {f"{other}{key[len(name) :]}": value for key, value in values.items() if key.startswith(f"{name}+")}


def _put(frame: _Frame, register: str, lanes: Array, value: Array) -> None:
    if len(lanes) == frame.lanes:
        frame.registers[register] = value
        return
    held = frame.registers.get(register)
    fits = held is not None and held.dtype == value.dtype
    held = held.copy() if held is not None and fits else np.zeros(frame.lanes, value.dtype)
    held[lanes] = value
    frame.registers[register] = held
