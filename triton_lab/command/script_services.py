"""What a process that a script starts asks of the command line: what `providers` finds, by name."""

from __future__ import annotations

PROVIDED = {"join_script": "triton_lab.command.child_journal:join"}
