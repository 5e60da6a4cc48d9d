"""What Triton's compiler for sm_90 makes of a kernel that was compiled for the CPU: what it takes of a GPU, and where
what it reduces or scans lies there.

``source`` and ``metadata`` are the kernel's, as Triton keeps them. It is compiled in a process of its own, once; where
sm_90's compiler refuses the kernel, that is a RuntimeError.
"""

from __future__ import annotations

import functools
import json
import re
import threading
from typing import Any

from triton_lab.backend.targets.sm90_resources import Resources
from triton_lab.compiled import compiler_client
from triton_lab.compiled.architecture import architecture
from triton_lab.compiled.compiler_client import MAX_BYTES, SECONDS, CompileOutcome
from triton_lab.compiled.front_end import Request
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.compiled.layouts.reduction_layouts import reductions, scans
from triton_lab.compiled.resource_facts import metadata_of
from triton_lab.localization import _


def resources_of(source: Any, metadata: Any) -> Resources:
    """Registers, spills and shared memory of a program."""
    return _resources(*_told(source, metadata))


def reduced_of(source: Any, metadata: Any) -> list[Linear | None]:
    """The layout of what each reduction of a kernel takes, in the order of the TTGIR; None where it is not known."""
    return list(_taken(*_told(source, metadata))[0])


def scanned_of(source: Any, metadata: Any) -> list[Linear | None]:
    """The same of what each scan takes."""
    return list(_taken(*_told(source, metadata))[1])


def instructions_of(source: Any, metadata: Any) -> frozenset[str]:
    """The mnemonics of the PTX instructions that multiply tiles and put bytes together."""
    return _instructions(*_told(source, metadata))


def _told(source: Any, metadata: Any) -> tuple[str, str, str]:
    """What the compiler is told of a kernel: its name, its TTIR and its options in JSON."""
    import triton

    from triton_lab.backend.compiler import TARGET, options_of

    options = options_of(metadata)
    ttir = triton.compile(source, target=TARGET, options=dict(options)).asm["ttir"]
    return metadata.name, ttir, json.dumps(options)


def _outcome(name: str, ttir: str, options: str) -> CompileOutcome:
    request = Request(name, architecture("sm_90"), ttir, options)
    return compiler_client.ask(request, SECONDS, MAX_BYTES, threading.Event())


@functools.lru_cache(maxsize=256)
def _resources(name: str, ttir: str, options: str) -> Resources:
    outcome = _outcome(name, ttir, options)
    if not outcome.failure:
        known = metadata_of(architecture("sm_90"), outcome)
        if known.registers is not None and known.spills is not None and known.shared is not None:
            return Resources(known.registers, known.spills, known.shared)
        outcome.failure = _("the tool that reports it is missing")
    raise _refusal(name, outcome, _("its registers are not known"))


@functools.lru_cache(maxsize=256)
def _taken(name: str, ttir: str, options: str) -> tuple[tuple[Linear | None, ...], tuple[Linear | None, ...]]:
    """By reductions, and by scans."""
    outcome = _outcome(name, ttir, options)
    text = outcome.stages.get("ttgir")  # what fails later has its layouts all the same
    if not isinstance(text, str):
        raise _refusal(name, outcome, _("the order of its sums is not known"))
    return tuple(reductions(text)), tuple(scans(text))


_MNEMONIC = re.compile(
    r"^\s*(?:@!?%p\d+\s+)?((?:wgmma\.mma_async|mma\.sync|shl\.b16|or\.b16|and\.b16)[\w.:]*)", re.MULTILINE
)


@functools.lru_cache(maxsize=256)
def _instructions(name: str, ttir: str, options: str) -> frozenset[str]:
    outcome = _outcome(name, ttir, options)
    text = outcome.stages.get("ptx")
    if not isinstance(text, str):
        raise _refusal(name, outcome, _("its instructions are not known"))
    return frozenset(_MNEMONIC.findall(text))


def _refusal(name: str, outcome: CompileOutcome, unknown: str) -> RuntimeError:
    reason = outcome.failure.strip().splitlines()[-1]
    return RuntimeError(
        _("the kernel {name} does not compile for sm_90, so {unknown}: {reason}").format(
            name=name, unknown=unknown, reason=reason
        )
    )


_LANES = 128  # one element for each thread of four warps
_BLOCK = f"tensor<{_LANES}x"
_OPTIONS = '{"enable_fp_fusion": true}'


@functools.lru_cache(maxsize=256)
def ptx_of(name: str, symbol: str, operands: tuple[str, ...], result: str) -> str:
    """The text; ``symbol`` is that of a library's function, or empty. Raises RuntimeError if Triton refuses it."""
    request = Request("function", architecture("sm_90"), _module(name, symbol, operands, result), _OPTIONS)
    outcome = compiler_client.ask(request, SECONDS, MAX_BYTES, threading.Event())
    text = outcome.stages.get("ptx")
    if not isinstance(text, str):
        reason = (outcome.failure.strip().splitlines() or ["no PTX"])[-1]
        raise RuntimeError(
            _("{symbol} does not compile for sm_90: {reason}").format(symbol=symbol or name, reason=reason)
        )
    return text


def _module(name: str, symbol: str, operands: tuple[str, ...], result: str) -> str:
    """A kernel that loads the operands, and stores the result."""
    tensors = [*((f"x{k}", type) for k, type in enumerate(operands)), ("out", result)]
    parameters = ", ".join(f"%{one}: !tt.ptr<{type}>" for one, type in tensors)
    lines = [f"%lanes = tt.make_range {{end = {_LANES} : i32, start = 0 : i32}} : {_BLOCK}i32>"]
    for one, type in tensors:
        lines.append(f"%{one}_all = tt.splat %{one} : !tt.ptr<{type}> -> {_BLOCK}!tt.ptr<{type}>>")
        lines.append(f"%{one}_at = tt.addptr %{one}_all, %lanes : {_BLOCK}!tt.ptr<{type}>>, {_BLOCK}i32>")
    lines += [f"%{one}_value = tt.load %{one}_at : {_BLOCK}!tt.ptr<{type}>>" for one, type in tensors[:-1]]
    given = ", ".join(f"%{one}_value" for one, _ in tensors[:-1])
    types = ", ".join(f"{_BLOCK}{type}>" for type in operands)
    if symbol:
        attributes = f'{{libname = "", libpath = "", pure = true, symbol = "{symbol}"}}'
        lines.append(f"%made = tt.extern_elementwise {given} {attributes} : ({types}) -> {_BLOCK}{result}>")
    else:
        lines.append(f'%made = "{name}"({given}) : ({types}) -> {_BLOCK}{result}>')
    lines.append(f"tt.store %out_at, %made : {_BLOCK}!tt.ptr<{result}>>")
    body = "\n".join(f"    {line}" for line in [*lines, "tt.return"])
    return f"module {{\n  tt.func public @function({parameters}) {{\n{body}\n  }}\n}}\n"
