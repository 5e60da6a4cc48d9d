"""`EditedSource`: a kernel's text with one place written otherwise, compiled when it is first run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.instrumented_copy import other_function, remade
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True, eq=False)
class EditedSource:
    """Copies of the tree of one function of the kernel's, the kernel itself or the ``helper`` of that name."""

    copied: Callable[[], ast.Module]
    helper: str = ""

    def executable(self, launch: Launch) -> Executable:
        """The kernel with this text, for a launch. Raises CannotReplay, also for a text that Triton refuses."""
        for known, executable in self._made:
            if known is launch:
                return executable
        source, metadata = launch.compiled
        kernel = source.fn
        tree = self.copied()
        names: dict[str, Any] = {}
        if self.helper:
            helper = kernel.__globals__[self.helper]
            names[self.helper] = other_function(helper, tree, helper.src, helper.__globals__)
            tree = ast.parse(kernel.src)
        try:
            _source, executable = remade(source, metadata, launch.surroundings, tree, kernel.src, names)
        except CannotReplay:
            raise
        except Exception as error:  # of Triton's front end, and of what it calls
            raise CannotReplay(_("Triton refuses it")) from error
        self._made[:] = [(launch, executable)]
        return executable

    @cached_property
    def _made(self) -> list[tuple[Launch, Executable]]:
        """The launch that it was compiled for last, and the plan."""
        return []
