from __future__ import annotations

from triton.backends.compiler import GPUTarget

from triton_lab.backend import compiler

TARGET = GPUTarget("fakegpu", 70, 32)


class FakeCompiler(compiler.CPUBackend):
    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "fakegpu"

    def hash(self) -> str:
        return "fakegpu-" + super().hash()
