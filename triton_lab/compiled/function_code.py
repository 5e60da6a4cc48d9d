"""The PTX that Triton's compiler for sm_90 makes of one elementwise operation, for one element a thread.

The operation comes as its name, its attributes and the element types of its operands and result, in MLIR's spelling.
"""

from __future__ import annotations

import functools
import threading

from triton_lab.compiled import compiler_client
from triton_lab.compiled.architecture import architecture
from triton_lab.compiled.compiler_client import MAX_BYTES, SECONDS
from triton_lab.compiled.front_end import Request
from triton_lab.localization import _

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
