"""What a process that a script starts asks of the command line: what `providers` finds, by name."""

from __future__ import annotations

PROVIDED = {
    "join_script": "triton_lab.command.child_journal:join",
    "stop_at_breakpoints": "triton_lab.command.debugging.breakpoint_front:stop_at_breakpoints",
}
