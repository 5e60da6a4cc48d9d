"""What Python and the browser say to each other: scenes, selections and messages, by type.

A *scene* is a picture as plain data; ``kind`` names what draws it. Its type, a TypedDict, stands in the module of its
view; what several share, in the ``scenes`` of a folder. `front/scenes.d.ts` is made from these classes (see
`declarations`), so both sides hold one contract. Tuples arrive in the browser as lists of that length, None as null;
bulk data is bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict

from triton_lab.views.drawing.scene_bounds import Many, Number, Sentence, Text, Whole

Target = Literal["cpu", "gpu", "both"]
Scene = Mapping[str, object]  # any of them: which there are, `declarations` finds by their ``kind``


class WordsScene(TypedDict):
    kind: Literal["words"]
    text: Text


class Picked(TypedDict, total=False):
    """What is picked in a picture, and what Python is asked to draw: parameters' values, iterators and where."""

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
    """The browser asks for a part by its name."""

    part: str


class Answer(TypedDict):
    """The part; in ``scene``, ``{"buffer": k}`` stands for the k-th buffer of the message."""

    part: str
    scene: object


class ViewQuestion(Question):
    """The same over a comm, to the view of that id; the part "" is the whole picture."""

    view: str


class ViewPicked(TypedDict):
    """What was picked in a view of which the kernel draws another picture then: the answer is the part ""."""

    view: str
    picked: Picked


class ViewAnswer(Answer):
    """The answer over a comm; ``panel`` is the widget's model that stands for the view, if it has one."""

    view: str
    panel: str | None


class Whereabouts(TypedDict):
    """Where a kernel's lines stand: in the cell with that number beside it, else in the file ``path``.

    The path goes from the folder of the notebook, or from where its package lies. Earlier notebooks have whole ones.
    """

    cell: Whole | None
    path: Sentence


class LineNote(TypedDict):
    """``text`` stands beside the line, ``told`` says it in full; ``share``: of the bytes that the kernel moves."""

    line: Whole
    share: Number
    text: Sentence
    told: Sentence


class FindingNote(TypedDict):
    """``fix``: for each edit its line, before and after; none where there is none."""

    line: Whole
    severity: Literal["error", "warning", "note"]
    message: Sentence
    hint: Sentence
    fix: Many[tuple[Whole, Sentence, Sentence]]


class NotedSource(Whereabouts):
    """``lines`` from the ``first`` on, as they were when the launch ran."""

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

    ``scene`` is packed (see `packing`), and missing where it was too large. ``view`` is the id by which the kernel is
    asked for more, ``follows`` whether it is told what is picked, ``panel`` whether widgets stand around the picture.
    ``annotations`` are what the editor shows beside the lines of kernels.
    """

    scene: str
    view: str
    annotations: list[NotedSource]


class Ran(TypedDict):
    """What an output's metadata say below ``triton_lab``: where its launch ran."""

    target: Target
