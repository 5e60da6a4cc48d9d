"""The target of a cell."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from triton_lab.notebook.cell.magic_options import Options


@contextlib.contextmanager
def switched(chosen: Options) -> Iterator[list[str]]:
    """Launches inside run on the target that ``chosen`` names; yields remarks to print."""
    from triton_lab.backend.targets.active_target import as_it_is, has_gpu, target
    from triton_lab.backend.targets.loop_and_memory_limits import limits

    notes: list[str] = []
    name = chosen.target
    if os.environ.get("TRITON_INTERPRET") == "1":
        notes.append(
            "TRITON_INTERPRET=1 is set: kernels defined now run in Triton's own interpreter, and their launches "
            "cannot be recorded. Unset it and restart the notebook's kernel."
        )
    if name == "both" and not has_gpu():
        notes.append("There is no GPU that Triton can use here: the cell ran on the CPU alone.")
        name = "cpu"
    with contextlib.ExitStack() as stack:
        stack.enter_context(as_it_is() if name == "auto" else target("cpu" if name == "cpu" else "gpu"))
        if chosen.steps is not None:
            stack.enter_context(limits(max_steps=chosen.steps))
        yield notes
