"""`Proof.plot`: each access with its verdict beside its line, for which sizes, and under which assumptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypedDict

from triton_lab.localization import _
from triton_lab.messages import access_noun
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED, UNKNOWN, AccessProof, Outcome, Proof
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnItem, DrawnText, Line
from triton_lab.views.drawing.drawing_pieces import LINE, WIDTH, column, paragraphs, spaced, title, wrapped
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.scene_bounds import Many, Sentence
from triton_lab.views.proofs.refuted_access import refuted_pieces
from triton_lab.views.view import View

_SIGN, _CODE = 26.0, 60.0  # CSS pixels from the left: line numbers after the sign, then the text
_COLOURS = {PROVED: "good", REFUTED: "error", UNKNOWN: "warning"}
_MOST = 4  # refuted accesses that are drawn with their launches


class ProofScene(TypedDict):
    """A proof; its ``assumptions``, of which there may be many, are folded away."""

    kind: Literal["proof"]
    title: Sentence
    drawing: DrawingScene
    refuted: DrawingScene | None
    assumptions: Many[Sentence]


class ProofView(View):
    """A `Proof`: a tick, a question mark or a cross beside each access, its line and its verdict in words."""

    def __init__(self, proof: Proof) -> None:
        self.proof = proof

    def title(self) -> str:
        return repr(self.proof)

    def text(self) -> str:
        return str(self.proof)

    def scene(self) -> ProofScene:
        refuted = self._refuted()
        return {
            "kind": "proof",
            "title": self.title(),
            "drawing": column(self._verdicts()).fitted().framed(2).scene("", self.title()),
            "refuted": column(refuted).fitted().framed(2).scene("", self.title()) if refuted else None,
            "assumptions": list(map(str, self.proof.assumptions)),
        }

    def pieces(self) -> list[Drawing]:
        return [*self._verdicts(), *_assumptions(self.proof), *self._refuted()]

    def _verdicts(self) -> list[Drawing]:
        proof = self.proof
        made = [title(self.title()), *paragraphs([_grid(proof)])]
        made += [self._access(one) for one in proof.accesses]
        if proof.properties:
            made.append(spaced(column([_signed(one.outcome, str(one)) for one in proof.properties], 0), 10))
        return made

    def _refuted(self) -> list[Drawing]:
        """Accesses that are wrong, with the launches that show it."""
        refuted = [one for one in self.proof.accesses if one.outcome == REFUTED and one.launch is not None]
        return [piece for one in refuted[:_MOST] for piece in refuted_pieces(one)]

    def _access(self, one: AccessProof) -> Drawing:
        """The line as it is written, and the verdict below it."""
        made = Drawing()
        made.add(*_mark(one.outcome, LINE / 2))
        made.add(DrawnText(_CODE - 10, LINE / 2, str(one.line or "?"), style.SMALL, "faint", "right", mono=True))
        made.add(DrawnText(_CODE, LINE / 2, _cut(one.code), style.SMALL, mono=True))
        reason = f": {one.reason}" if one.reason else ""
        told = f"{access_noun(one.kind)} {one.argument or '?'}: {one.verdict}{reason}"
        for k, line in enumerate(wrapped(told, WIDTH - _CODE)):
            made.add(DrawnText(_CODE, LINE * (k + 1.5), line.strip(), colour=_COLOURS[one.outcome], bold=not k))
            made.height = LINE * (k + 2) + 8
        return made


def _grid(proof: Proof) -> str:
    constants = "".join(f", {name} = {value}" for name, value in proof.constants.items())
    return _("for every size, with a grid of ({grid}){constants}").format(
        grid=", ".join(proof.grid), constants=constants
    )


def _assumptions(proof: Proof) -> list[Drawing]:
    if not proof.assumptions:
        return []
    return paragraphs([_("As long as {conditions}").format(conditions=", ".join(map(str, proof.assumptions)))])


def _signed(outcome: Outcome, text: str) -> Drawing:
    """A line of words after the sign of its verdict."""
    made = Drawing()
    made.add(*_mark(outcome, LINE / 2))
    for k, line in enumerate(wrapped(text, WIDTH - _SIGN, "")):
        made.add(DrawnText(_SIGN, LINE * (k + 0.5), line))
        made.height = LINE * (k + 1) + 3
    return made


def _mark(outcome: Outcome, y: float) -> Iterator[DrawnItem]:
    """A tick, a cross or a question mark."""
    colour = _COLOURS[outcome]
    if outcome == UNKNOWN:
        yield DrawnText(8, y, "?", style.TITLE + 1, colour, "center", bold=True)
    elif outcome == PROVED:
        yield Line(((2.5, y + 0.5), (6.5, y + 4.5), (14, y - 5)), colour, 2.4, arrow=False)
    else:
        yield Line(((3, y - 5), (13, y + 5)), colour, 2.6, arrow=False)
        yield Line(((3, y + 5), (13, y - 5)), colour, 2.6, arrow=False)


def _cut(text: str) -> str:
    """The text, as much as fits."""
    for end in range(len(text), 0, -1):
        shown = text if end == len(text) else text[:end] + "…"
        if width_of(shown, style.SMALL, mono=True) <= WIDTH - _CODE:
            return shown
    return text
