"""``--compile``: compile the kernels that a cell launched for GPUs; their cards then show the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.notebook.cell.magic_options import Options

if TYPE_CHECKING:
    from triton_lab.compiled.compile_failure import CompileError
    from triton_lab.launch.launch import Launch
    from triton_lab.notebook.cell.progress_line import Sign


def compile_launches(launches: Sequence[Launch], chosen: Options, sign: Sign) -> CompileError | None:
    """Compile each launch's kernel with the arguments of the launch.

    Returns the first error of the compilers, whose message includes the others. Raises the errors of Triton's front
    end.
    """
    from triton_lab.compiled.compile_failure import CompileError
    from triton_lab.compiled.launch_compilation import attempts

    if not launches:
        print(_("--compile compiles the kernels that a cell launches. This cell launched none."))
    errors: dict[str, CompileError] = {}
    for launch in launches:
        with sign.doing(_("Compiling {kernel} for {gpus}").format(kernel=launch.kernel, gpus=", ".join(chosen.gpus))):
            made = attempts(launch, chosen.gpus, {})
        errors |= {str(one): one for one in made if isinstance(one, CompileError)}
    return _joined(list(errors.values())) if errors else None


def _joined(errors: Sequence[CompileError]) -> CompileError:
    from triton_lab.compiled.compile_failure import CompileError

    first = errors[0]
    return CompileError("\n".join(map(str, errors)), first.target, first.stage, (first.file, first.line), first.said)
