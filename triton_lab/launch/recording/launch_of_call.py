"""The `Launch` of a call, and an autotuner's configuration of it."""

from __future__ import annotations

from triton_lab.backend.plugin.recorders import LaunchCall
from triton_lab.launch.argument import arguments_of
from triton_lab.launch.byte_ranges import NOTHING, Ranges
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording import snapshot
from triton_lab.launch.recording.tape import Tape
from triton_lab.launch.replay.instrumented_copy import Surroundings
from triton_lab.launch.source_lines import SourceLines
from triton_lab.localization import _


def described(
    call: LaunchCall, tape: Tape | None, kept: snapshot.Snapshot | None, tried_writes: Ranges = NOTHING
) -> Launch:
    """The `Launch` of a call that has ended, with or without an error; its trials wrote ``tried_writes``.

    Without a tape and memory, of a call that did not run.
    """
    function = call.source.fn
    return Launch(
        kernel=call.metadata.name,
        grid=call.grid,
        arguments=arguments_of(call.signature, list(call.objects.values())),
        target=call.target,
        outputs=call.outputs,
        remark=call.remark,
        source="".join(function.raw_src),
        first_line=function.starting_line_number,
        file=call.written.file or "",
        executable=call.executable,
        compiled=(call.source, call.metadata),
        surroundings=Surroundings.of(function),
        events={} if tape is None else tape.events,
        kinds={} if tape is None else tape.kinds,
        lines=SourceLines(call.source, call.executable),
        tape=tape,
        snapshot=kept,
        seconds=call.seconds,
        time=call.time,
        interpreted=call.interpreted,
        error=call.error,
        tuning=call.tuning,
        site=call.site,
        tried_writes=tried_writes,
        dropped=_("it did not run")
        if tape is None or kept is None
        else "; ".join(filter(None, (tape.cut, kept.missing))),
    )


def configuration(call: LaunchCall) -> str:
    """An autotuner's configuration for this launch as text: constexprs, warps and stages."""
    parts = [
        f"{name}={value}"
        for name, value in call.objects.items()
        if call.signature[name] == "constexpr" and isinstance(value, (int, float, str, bool))
    ]
    parts += [f"{name}={getattr(call.metadata, name)}" for name in ("num_warps", "num_stages")]
    return ", ".join(parts)
