"""``--compile``: what GPUs' compilers make of the kernels that a cell launched, shown below its launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from triton_lab.notebook.options import Options

if TYPE_CHECKING:
    from triton_lab.compiled.failure import CompileError
    from triton_lab.launch.launch import Launch


def show_compiled(shell: Any, launches: Sequence[Launch], chosen: Options) -> None:
    """A table for each kernel and what it was launched with, with the stages folded away under it.

    Raises the first CompileError once all is shown; its message has those of the others, too.
    """
    from IPython.display import display

    from triton_lab.compiled.compiled import Compiled
    from triton_lab.compiled.failure import CompileError
    from triton_lab.compiled.launched import attempts
    from triton_lab.compiled.several import CompiledList
    from triton_lab.notebook.progress import working

    if not launches:
        print("--compile is for the kernels that a cell launches, and this one launched none.")
    errors: dict[str, CompileError] = {}
    shown: set[tuple[int, ...]] = set()
    for launch in launches:
        with working(shell) as sign, sign.doing(f"Compiling {launch.kernel} for {', '.join(chosen.gpus)}"):
            made = attempts(launch, chosen.gpus, {})
        errors |= {str(one): one for one in made if isinstance(one, CompileError)}
        compiled = [one for one in made if isinstance(one, Compiled)]
        # What was compiled before comes out of the cache, the same object.
        names = tuple(map(id, compiled))
        if compiled and names not in shown:
            shown.add(names)
            display(compiled[0] if len(compiled) == 1 else CompiledList(compiled))  # type: ignore[no-untyped-call]
    if errors:
        raise _joined(list(errors.values()))


def _joined(errors: Sequence[CompileError]) -> CompileError:
    from triton_lab.compiled.failure import CompileError

    first = errors[0]
    return CompileError("\n".join(map(str, errors)), first.target, first.stage, (first.file, first.line), first.said)
