"""The types of everything that Python and the browser exchange: scenes, selections and messages.

A *scene* is a picture as plain data; ``kind`` says which module draws it. Its type, a TypedDict, is defined in the
module of its view; types that several views share are in the modules of a folder whose names end in ``scenes``.
`declarations` makes `front/scenes.d.ts` from these classes, so both sides share one contract. Tuples arrive in the
browser as lists of that length, None as null; bulk data is bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict

from triton_lab.views.drawing.scene_bounds import Many, Number, Sentence, Text, Whole

Target = Literal["cpu", "gpu", "both"]
Scene = Mapping[str, object]  # any scene: `declarations` finds them all by their ``kind``


class WordsScene(TypedDict):
    kind: Literal["words"]
    text: Text


class Picked(TypedDict, total=False):
    """What is picked in a picture, and what Python has to draw for it: parameters' values, iterators, the place."""

    program: int | None
    line: int | None
    iteration: int | None
    step: int | None
    operation: str
    parameters: dict[str, int]
    at: dict[str, int]
    dims: list[str]
    automatic: bool
    instance: list[int] | None


class Question(TypedDict):
    """A request of the browser for a part, by name."""

    part: str


class Answer(TypedDict):
    """The part that answers a `Question`; in ``scene``, ``{"buffer": k}`` stands for the k-th buffer of the message."""

    part: str
    scene: object


class ViewQuestion(Question):
    """A `Question` over a comm, to the view of that id; the part "" is the whole picture."""

    view: str


class ViewPicked(TypedDict):
    """What was picked in a view whose kernel then draws another picture; the answer is the part ""."""

    view: str
    picked: Picked


class ViewAnswer(Answer):
    """An `Answer` over a comm; ``panel`` is the widget model around the view, if there is one."""

    view: str
    panel: str | None


class Whereabouts(TypedDict):
    """The place of a kernel's lines: the cell with that run's number, else the file ``path``.

    The path is relative to the notebook's folder, or to the folder of the file's package. Older notebooks have absolute
    paths.
    """

    cell: Whole | None
    path: Sentence


class LineNote(TypedDict):
    """A note beside a line: ``text`` is the short form, ``told`` the long one; ``share`` is its part of all bytes."""

    line: Whole
    share: Number
    text: Sentence
    told: Sentence


class FindingNote(TypedDict):
    """A finding beside a line. ``fix``: for each edit its line, before and after; missing if there is no fix."""

    line: Whole
    severity: Literal["error", "warning", "note"]
    message: Sentence
    hint: Sentence
    fix: Many[tuple[Whole, Sentence, Sentence]]


class NotedSource(Whereabouts):
    """The ``lines`` of a source from line ``first`` on, as they were when the launch ran."""

    first: Whole
    lines: Many[Sentence]
    notes: Many[LineNote]
    findings: Many[FindingNote]


class _Saved(TypedDict):
    version: Literal[1]
    follows: bool
    panel: bool


class Saved(_Saved, total=False):
    """A notebook's output of type ``application/vnd.triton-lab.scene.v1+json``.

    ``scene`` is packed (see `scene_packing`), and missing if it was too large. ``view`` is the id by which the kernel
    is asked for more. ``follows``: whether the kernel wants to know what is picked. ``panel``: whether widgets stand
    around the picture. ``annotations`` are shown by the editor beside the lines of kernels. ``language`` is that of its
    texts, if that is not English.
    """

    scene: str
    view: str
    annotations: list[NotedSource]
    language: str


class Ran(TypedDict):
    """The metadata of an output under ``triton_lab``: where its launch ran."""

    target: Target
