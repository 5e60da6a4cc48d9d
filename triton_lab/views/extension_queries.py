"""The requests that JupyterLab's extension sends to a notebook's session, apart from pictures.

They go to the desk, which answers like a view, under a name of its own. It answers even in a kernel that has run
nothing, and imports nothing for that. Its parts:

    launches              the session's launches (`SessionLaunches`), also sent without a request when they change
    targets               the targets of cells (`SessionTargets`)
    card N                the card of launch N (`SessionCard`)
    compare M N           launch N beside launch M
    page N                the card as one page (`SessionText`)
    template NAME         a kernel to start from (`SessionText`)
    pin N                 keep launch N, or drop it (`SessionLaunches`)
    proofs JSON           the marks of a cell's kernels (`CellProofs`); JSON has ``source`` and ``refute``
    breakpoints JSON      stop at these lines of a cell (`SessionText`); JSON has ``cell`` and ``breakpoints``
    first VIEW            the view that cards open with from now on, if a cell names none (`SessionText`)

If a part does not exist, the answer is a `WordsScene` that says why.
"""

from __future__ import annotations

from typing import TypedDict

from triton_lab.views.scenes import Saved, Target

DESK = "triton-lab.desk"


class SessionLaunch(TypedDict):
    """A launch of the session.

    ``cell`` is the notebook's id of its cell, ``execution`` the number of the run. ``kept``: the launch itself still
    exists, beyond this summary.
    """

    number: int
    cell: str | None
    execution: int | None
    kernel: str
    grid: str
    target: Target
    time: str
    findings: str
    severity: str | None
    kept: bool
    pinned: bool


class SessionLaunches(TypedDict):
    """The launches of the session, the newest last; ``dropped`` is the number of older ones no longer listed."""

    launches: list[SessionLaunch]
    dropped: int


class SessionTarget(TypedDict):
    """A target that a cell can choose: ``name`` is the word for its line; ``why`` says why it is missing, else ""."""

    name: str
    help: str
    why: str


class SessionTargets(TypedDict):
    """The targets of the session.

    ``known`` is false until Triton has been imported: which GPU it will find is not known before, and the lists are
    empty.
    """

    known: bool
    active: str
    gpu: str
    triton: str
    version: str
    targets: list[SessionTarget]
    compile: list[SessionTarget]


class SessionCard(TypedDict):
    """A picture in the form of an output, to be shown beside the notebook."""

    name: str
    title: str
    output: Saved
    text: str


class SessionText(TypedDict):
    name: str
    content: str


class ProofMark(TypedDict):
    """What is proved of the accesses on one line of a cell, for every size.

    ``line`` counts from 1, and ``text`` is that line. ``outcome``: ``proved``, ``refuted`` or ``unknown``; the worst of
    the line. ``message`` has a line for each access, and the assumptions.
    """

    line: int
    text: str
    outcome: str
    message: str


class CellProofs(TypedDict):
    """The marks of a cell; ``refuted`` says that launches were tried for what is not proved."""

    name: str
    marks: list[ProofMark]
    refuted: bool
