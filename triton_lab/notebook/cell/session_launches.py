"""The session's launches: which cell launched what, as plain data; the newest can still answer all requests.

The list holds launches weakly: the views in a notebook keep the newest alive (see `views.comm_handlers`), and pins keep
the two that the user compares. So the list costs a few words a launch, however large the records are.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable
from typing import Any

from triton_lab import messages
from triton_lab.launch.diagnosis.severity import counted, gravest
from triton_lab.launch.launch import Launch
from triton_lab.localization import _
from triton_lab.views.extension_queries import SessionLaunch, SessionLaunches

MOST_LISTED = 500
MOST_PINNED = 2


class LaunchSession:
    """The launches of one kernel process, each with a unique number."""

    def __init__(self) -> None:
        self._rows: dict[int, SessionLaunch] = {}
        self._launches: weakref.WeakValueDictionary[int, Launch] = weakref.WeakValueDictionary()
        self._numbers: weakref.WeakKeyDictionary[Launch, int] = weakref.WeakKeyDictionary()
        self._pinned: dict[int, Launch] = {}
        self._next = 1
        self.news = False
        """Whether there are launches that `scene` has not reported yet."""

    def note(self, launches: Iterable[Launch], cell: str | None, execution: int | None) -> None:
        """Add launches to the list, as launched by a run of a cell, unless they are in it already."""
        for launch in launches:
            if launch not in self._numbers:
                self.news = True
                number, self._next = self._next, self._next + 1
                self._launches[number], self._numbers[launch] = launch, number
                self._rows[number] = _row(number, launch, cell, execution)
        while len(self._rows) > MOST_LISTED:
            self._rows.pop(next(iter(self._rows)))

    def launch(self, number: int) -> Launch:
        """The launch of that number. Raises LookupError, with a message for the user, if it no longer exists."""
        launch = self._launches.get(number)
        if launch is None:
            raise LookupError(
                _("This launch is no longer stored, because many launches followed it. Run its cell again.")
            )
        return launch

    def newest(self) -> dict[str, Launch]:
        """The newest launch of each kernel that still exists, by the kernel's name."""
        return {launch.kernel: launch for _number, launch in sorted(self._launches.items())}

    def pin(self, number: int) -> None:
        """Keep a launch until it is pinned again; at most two are kept, and the one pinned first is dropped."""
        if self._pinned.pop(number, None) is not None:
            return
        self._pinned[number] = self.launch(number)
        while len(self._pinned) > MOST_PINNED:
            self._pinned.pop(next(iter(self._pinned)))

    def scene(self) -> SessionLaunches:
        """The list as it is now."""
        self.news = False
        for number, row in self._rows.items():
            launch = self._launches.get(number)
            row["kept"], row["pinned"] = launch is not None, number in self._pinned
            if launch is not None:
                row["findings"], row["severity"] = _findings(launch)
        return {"launches": list(self._rows.values()), "dropped": self._next - 1 - len(self._rows)}


def _row(number: int, launch: Launch, cell: str | None, execution: int | None) -> SessionLaunch:
    findings, severity = _findings(launch)
    return {
        "number": number,
        "cell": cell,
        "execution": execution,
        "kernel": launch.kernel,
        "grid": f"({', '.join(map(str, launch.grid))})",
        "target": "both" if launch.outputs else "gpu" if launch.target == "gpu" else "cpu",
        "time": messages.seconds_text(launch.seconds) if launch.error is None else "",
        "findings": findings,
        "severity": severity,
        "kept": True,
        "pinned": False,
    }


def _findings(launch: Launch) -> tuple[str, str | None]:
    """The known findings in a few words, and the gravest severity; the list never runs checks."""
    failed = ["failed"] if launch.error is not None else []
    if "verdict" not in vars(launch):
        return ", ".join(failed) or "not checked", "error" if failed else None
    severities = Counter(finding.severity for finding in launch.verdict.findings)
    told = ", ".join(filter(None, [*failed, counted(severities)]))
    return told or "none", "error" if failed else gravest(severities)


session = LaunchSession()


def of_cell(shell: Any) -> tuple[str | None, int | None]:
    """The front end's id of the running cell, and the number of its run."""
    parent = getattr(shell, "get_parent", dict)() or getattr(shell, "parent_header", {})
    cell = parent.get("metadata", {}).get("cellId") if isinstance(parent, dict) else None
    return cell if isinstance(cell, str) else None, messages.running_cell()
