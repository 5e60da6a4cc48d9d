"""What Triton itself says of a layout, asked in a child process, since it may abort: `ask("tensor<8x8xf16, #..>")`.

Triton 3.6 gives the linear layouts of registers; 3.9 also those of swizzled, nvmma and plain linear shared memory and
of tensor memory. None gives one of padded or rotating shared layouts.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODULE = """module attributes {{"ttg.num-ctas" = {block} : i32, "ttg.num-warps" = {warp} : i32,
    "ttg.threads-per-warp" = {lane} : i32}} {{
  tt.func @f(%a: {type}) {{ tt.return }}
}}"""


class Oracle:
    """A child process that holds Triton's compiler; it is started again after an abort."""

    def __init__(self) -> None:
        self.child: subprocess.Popen[str] | None = None

    def ask(self, told: str, **sizes: int) -> dict[str, list[list[int]]] | str:
        """The bases by input, or why Triton gives none: its message, or ``aborted``."""
        if self.child is None:
            command = [sys.executable, "-m", "tests.compiled.layouts.oracle"]
            pipe = subprocess.PIPE
            self.child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        assert self.child.stdin is not None and self.child.stdout is not None
        self.child.stdin.write(json.dumps({"type": told, "lane": 32, "warp": 4, "block": 1, **sizes}) + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer:
            self.close()
            return "aborted"
        found: dict[str, list[list[int]]] | str = json.loads(answer)
        return found

    def close(self) -> None:
        if self.child is not None:
            self.child.communicate()
            self.child = None


@contextlib.contextmanager
def oracle() -> Iterator[Oracle]:
    found = Oracle()
    try:
        yield found
    finally:
        found.close()


def _answer(builder: Any, ir: Any, context: Any, question: dict[str, Any]) -> dict[str, list[list[int]]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.mlir"
        path.write_text(MODULE.format(**question), encoding="utf-8")
        module = ir.parse_mlir_module(str(path), context)
    value = module.get_function("f").args(0)
    told = question["type"]
    inside = told[told.index("<") + 1 :].split(",")[0].split("x")
    shape = [int(size) for size in inside if size.isdigit()]
    if told.startswith("tensor"):
        layout = builder.get_gluon_layout_from_tensor(value)
    else:
        layout = builder.get_gluon_layout_from_memdesc(value)
    found = builder.to_linear_layout(layout._to_ir(builder), shape)
    names = {
        "reg_bases": "register",
        "lane_bases": "lane",
        "warp_bases": "warp",
        "block_bases": "block",
        "offset_bases": "offset",
        "rows": "row",
        "cols": "column",
    }
    return {names[key]: getattr(found, key) for key in names if hasattr(found, key)}


def _serve() -> None:
    from triton._C.libtriton import gluon_ir, ir

    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)
    for line in sys.stdin:
        try:
            answer: object = _answer(builder, ir, context, json.loads(line))
        except (RuntimeError, ValueError, AssertionError, TypeError) as error:
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
