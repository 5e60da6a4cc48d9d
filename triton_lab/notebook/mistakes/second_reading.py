"""Reads a refused kernel once more, quietly: Triton removes the frames of its code generator from its errors."""

from __future__ import annotations

import contextlib
import io
import linecache
import traceback
from collections.abc import Iterator, Sequence
from types import FrameType

from triton_lab.notebook.cell.compiler_output import HeldOutput


def failure(error: BaseException) -> tuple[Sequence[FrameType], str]:
    """The frames of Triton's front end where it refused the kernel of ``error``, the innermost last, and MLIR's words.

    Both are empty if the kernel cannot be read again.
    """
    from triton import knobs
    from triton._C.libtriton import ir

    asked = next((frame.f_locals for frame in frames(error) if "codegen_fns" in frame.f_locals), None)
    if asked is None or not {"src", "target", "options", "module_map", "backend"} <= set(asked):
        return [], ""
    context = ir.context()
    ir.load_dialects(context)
    asked["backend"].load_dialects(context)
    found: Sequence[FrameType] = []
    with knobs.compilation.scope(), contextlib.redirect_stdout(io.StringIO()):
        knobs.compilation.front_end_debugging = True
        held = HeldOutput([])
        try:
            asked["src"].make_ir(*(asked[name] for name in ("target", "options", "codegen_fns", "module_map")), context)
        except Exception as failed:
            found = [frame for frame, _ in traceback.walk_tb(failed.__traceback__)]
        finally:
            said = held.end()
    return found, said


def asserted(frames: Sequence[FrameType]) -> str:
    """The assertion without a text at which Triton's front end stopped: its own line; "" if it stopped elsewhere."""
    line = linecache.getline(frames[-1].f_code.co_filename, frames[-1].f_lineno).strip() if frames else ""
    return line if line.startswith("assert ") else ""


def frames(error: BaseException) -> Iterator[FrameType]:
    """All frames that ``error`` and its causes passed through, the innermost last."""
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        for frame, _ in traceback.walk_tb(current.__traceback__):
            yield frame
        current = current.__cause__ or current.__context__
