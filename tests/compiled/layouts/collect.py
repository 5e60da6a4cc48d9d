"""Writes `types-<Triton's version>.txt`: each layout, with a shape, that the examples' kernels have on seven GPUs.

`python -m tests.compiled.layouts.collect` (some minutes): compiles all examples, for each GPU in a process of its own.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from triton.backends.compiler import GPUTarget

from triton_lab.compiled.layouts.layout_parser import aliases_of, types_of

HERE = Path(__file__).parent
TARGETS = {
    **{f"sm_{number}": GPUTarget("cuda", number, 32) for number in (80, 90, 100, 120)},
    **{name: GPUTarget("hip", name, 32 if name == "gfx1200" else 64) for name in ("gfx942", "gfx950", "gfx1200")},
}


def spelled(ttgir: str) -> set[str]:
    """The types of a module that have a layout, aliases written out and element types made plain."""
    lines = [line.split(" = ", 1) for line in ttgir.splitlines() if line.startswith("#") and " = #tt" in line]
    known = dict(lines)
    assert set(aliases_of(ttgir)) <= {name.lstrip("#") for name in known}

    def written_out(text: str) -> str:
        while (found := re.sub(r"#\w+(?![\w.<])", lambda name: known[name[0]], text)) != text:
            text = found
        return text

    types = set()
    for each in types_of(ttgir):
        shape, layout = "x".join(map(str, each.shape)), written_out(each.spelled)
        if "#ttng." in layout:
            types.add(f"!ttg.memdesc<{shape}xf32, {layout}, #ttng.tensor_memory, mutable>")
        elif "shared" in layout:
            element = re.search(r"elementBitWidth = (\d+)", layout)
            types.add(f"!ttg.memdesc<{shape}xi{element[1] if element else 16}, {layout}, #ttg.shared_memory, mutable>")
        else:
            types.add(f"tensor<{shape}xf16, {layout}>")
    return types


def compile_all(target: GPUTarget) -> set[str]:
    """The types of all kernels of the examples, compiled for a GPU that need not be there."""
    import torch
    from triton.runtime import JITFunction, driver

    from triton_lab.examples import all_examples

    class CompileOnly:
        def get_current_target(self) -> GPUTarget:
            return target

        def get_current_device(self) -> str:
            return f"compile only {target}"

        def get_current_stream(self, device: object) -> int:
            return 0

        def get_active_torch_device(self) -> torch.device:
            return torch.device("cpu")

    run, types = JITFunction.run, set[str]()

    def compile_only(self: Any, *arguments: Any, warmup: bool, **options: Any) -> Any:
        kernel = run(self, *arguments, warmup=True, **options)
        types.update(spelled(kernel.asm["ttgir"]))
        return kernel

    driver._active = CompileOnly()
    JITFunction.run = compile_only
    for each in all_examples():
        for size in ("small", "bench"):
            each.run(**each.inputs(size, 0, "cpu"))
    return types


def collect() -> None:
    import triton

    by_type = defaultdict(list)
    for name, target in TARGETS.items():
        reader, writer = os.pipe()
        if not os.fork():
            os.close(reader)
            with os.fdopen(writer, "w", encoding="utf-8") as file:
                file.write("\n".join(compile_all(target)))
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as file:
            for each in file.read().splitlines():
                by_type[each].append(name)
        os.wait()
    write(by_type, ".".join(triton.__version__.split(".")[:2]))


def write(by_type: dict[str, list[str]], version: str) -> None:
    lines = [f"{','.join(targets)} {each}" for each, targets in sorted(by_type.items())]
    (HERE / f"types-{version}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(collect())
