"""The values of the lanes that findings list, found by one replay for all findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.ir import Op
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.recording.progress_callback import TookTooLong
from triton_lab.launch.recording.tape import block_shape, brought
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import CannotReplay, replay

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]


def with_values(launch: Recorded, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, with the values of their listed lanes if a replay is possible."""
    watcher = _Watcher(findings)
    if not watcher.wanted:
        return list(findings)
    try:
        replay(launch, access_observer=watcher)
    except TookTooLong:
        raise
    except CannotReplay:
        return list(findings)
    return [_with(finding, watcher.values.get(number)) for number, finding in enumerate(findings)]


def _with(finding: Finding, values: dict[int, Any] | None) -> Finding:
    if values is None or len(values) < len(finding.programs):
        return finding
    return replace(finding, values=np.array([values[position] for position in range(len(values))]))


class _Watcher(Watcher):
    """Counts events as the tape does, and collects the values of the listed lanes."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        # By event: number of the finding, position in its list, program, lane.
        self.wanted: dict[int, list[tuple[int, int, int, int]]] = {}
        self.values: dict[int, dict[int, Any]] = {}
        self._count = 0
        for number, finding in enumerate(findings):
            listed = zip(finding.events.tolist(), finding.programs.tolist(), finding.lanes.tolist(), strict=False)
            for position, (time, program, lane) in enumerate(listed):
                if time >= 0:
                    self.wanted.setdefault(time, []).append((number, position, program, lane))

    def barrier(self, frame: Frame, op: Op) -> None:
        self._count += 1

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        wanted = self.wanted.get(self._count)
        self._count += 1
        values = brought(frame, op, values) if wanted else None
        if wanted is None or values is None:
            return
        whole = np.broadcast_to(values, (frame.count, *block_shape(frame, op, pointer)))
        whole = whole.reshape(frame.count, -1)
        row_of = {program: row for row, program in enumerate(frame.programs.tolist())}
        for number, position, program, lane in wanted:
            self.values.setdefault(number, {})[position] = whole[row_of[program], lane].item()
