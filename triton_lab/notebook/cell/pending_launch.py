"""A launch before its checks have ended, for pictures of its accesses."""

from __future__ import annotations

import copy

from triton_lab.launch.diagnosis.verdict import Unchecked, Verdict
from triton_lab.launch.launch import Launch

STILL = "still checking this launch; what is wrong with it comes here once it is found"
ENDED = "the checks of this launch were interrupted: run the cell again to know what is wrong with it"


class PendingVerdict(Unchecked):
    """The verdict before the checks have ended: ``why`` is all it says."""

    def __str__(self) -> str:
        return self.why


def not_yet_checked(launch: Launch, why: str = STILL) -> Launch:
    """The same launch, with no findings but that."""
    launch.accesses  # noqa: B018  (both share these)
    known = copy.copy(launch)
    vars(known).pop("findings", None)
    vars(known)["verdict"] = Verdict([], [PendingVerdict("anything", why)])
    return known
