"""Runs a recorded launch with an edit: some of its programs, for their accesses, or all, for their results."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.tape import Tape
from triton_lab.launch.replay.instrumented_copy import Surroundings, remade
from triton_lab.launch.replay.replay_run import replay
from triton_lab.launch.source_lines import SourceLines
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

_ROOM = 256 << 20  # bytes of accesses that are kept


def edited_launch(launch: Launch, edit: LaunchEdit, most: int) -> Launch:
    """The launch with ``edit``, of which ``most`` programs in the middle of the grid have run, on a copy of its memory.

    Raises KernelError, CannotReplay, and what Triton's front end raises.
    """
    source, metadata = launch.compiled
    kernel = source.fn
    names = {path: kernel.arg_names[path[0]] for path in source.constants if len(path) == 1}
    constants = {path: edit.constants.get(names.get(path, ""), value) for path, value in source.constants.items()}
    text = kernel.src if edit.text is None else edit.text
    changed = type(source)(kernel, source.signature, constants, source.attrs)
    made, executable = remade(changed, metadata, launch.surroundings, ast.parse(text), text)
    grid = edit.grid or launch.grid
    programs = grid[0] * grid[1] * grid[2]
    count = min(most, programs)
    begin = (programs - count) // 2 // count * count if programs > count else 0
    old = launch.tape
    if old is None:
        raise CannotReplay(_("the launch was recorded without the data that a rerun needs"))
    tape = Tape(_ROOM, old.limits, old.unwritten, old.blank, old.unknown)
    arguments = tuple(
        replace(one, value=edit.constants[one.name]) if one.name in edit.constants else one for one in launch.arguments
    )
    tried = replace(
        launch,
        grid=grid,
        arguments=arguments,
        executable=executable,
        compiled=(made, metadata),
        surroundings=Surroundings.of(made.fn),
        source=text,
        events=tape.events,
        kinds=tape.kinds,
        lines=SourceLines(made, executable),
        tape=tape,
        part=range(begin, begin + count),
        error=None,
        dropped="",
        watched={},
        outputs=[],
        compilations=[],
    )
    replay(tried, access_observer=tape, strict=True)
    if tape.dropped:
        raise CannotReplay(tape.cut)
    return tried
