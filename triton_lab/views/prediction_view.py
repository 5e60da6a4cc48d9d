"""A question before a picture: the picture is shown once the reader has answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from triton_lab.localization import _
from triton_lab.views.drawing.scene_bounds import Few, Named, Number, Sentence, Whole
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.views.drawing.drawing import Drawing

MOST_CHOICES = 9
PICTURE = "picture"  # the name of the picture's part


class PredictionScene(TypedDict):
    """A question, and the picture as a part.

    ``right`` is the index of the right choice. Without choices, the answer is a number: right if it is ``number``, or
    at most ``within`` away from it.
    """

    kind: Literal["prediction"]
    question: Sentence
    choices: Few[Sentence]
    right: Whole
    number: Number
    within: Number
    answer: Sentence
    why: Sentence
    parts: Named[Scene]


class PredictionView(View):
    """``picture`` behind a ``question``; see `predict`."""

    def __init__(
        self, question: str, choices: Sequence[object], right: object, picture: View, why: str = "", within: float = 0.0
    ) -> None:
        self.question, self.picture, self.why, self.within = question, picture, why, within
        self.choices = [str(one) for one in choices]
        self.answer = str(right)
        if len(set(self.choices)) < len(self.choices) or len(self.choices) == 1:
            raise ValueError(_("the choices must be at least two, and differ: {choices}").format(choices=self.choices))
        if len(self.choices) > MOST_CHOICES:
            raise ValueError(
                _("there are {count} choices; at most {most} have a key").format(
                    count=len(self.choices), most=MOST_CHOICES
                )
            )
        if self.choices and self.answer not in self.choices:
            raise ValueError(
                _("the right answer is {answer}, which is none of the choices {choices}").format(
                    answer=self.answer, choices=", ".join(self.choices)
                )
            )
        self.number = 0.0
        if not self.choices:
            if isinstance(right, str):
                raise ValueError(_("give choices, or a number as the right answer, not {answer}").format(answer=right))
            self.number = float(right)  # type: ignore[arg-type]

    def title(self) -> str:
        return self.question

    def text(self) -> str:
        return "\n".join([*self._asked(), self.picture.text(), *self._told()])

    def brief(self) -> str:
        return "\n".join([*self._asked(), self.picture.brief(), *self._told()])

    def _asked(self) -> list[str]:
        return [self.question, *(f"  {line}" for line in self._choices())]

    def _choices(self) -> list[str]:
        """The choices with their letters: ``a. 1``."""
        return [f"{chr(ord('a') + k)}. {one}" for k, one in enumerate(self.choices)]

    def _told(self) -> list[str]:
        told = _("The answer: {answer}.").format(answer=self.answer)
        return [f"{told} {self.why}".strip()]

    def pieces(self) -> list[Drawing]:
        """The question above the picture, and the answer below it."""
        from triton_lab.views.drawing.drawing_pieces import lines, paragraphs, spaced, title, wrapped

        asked = [(line, "ink") for line in wrapped(self.question, indent="")]
        asked += [(line, "faint") for line in self._choices()]
        return [title(_("Predict first")), lines(asked), spaced(self._picture()), *paragraphs(self._told(), "ink")]

    def _picture(self) -> Drawing:
        from triton_lab.views.drawing.drawing_pieces import column

        return column(self.picture.pieces())

    def _scene(self, picture: Scene) -> PredictionScene:
        return {
            "kind": "prediction",
            "question": self.question,
            "choices": self.choices,
            "right": self.choices.index(self.answer) if self.choices else 0,
            "number": self.number,
            "within": self.within,
            "answer": self.answer,
            "why": self.why,
            "parts": {PICTURE: {"kind": "nested", "name": PICTURE, "scene": picture}},
        }

    def scene(self) -> PredictionScene:
        return self._scene(self.picture.scene())

    def live(self) -> PredictionScene:
        return self._scene(self.picture.live())

    def saved(self) -> PredictionScene:
        return self._scene(self.picture.saved())

    def standalone(self) -> PredictionScene:
        return self._scene(self.picture.standalone())

    @property
    def grows(self) -> bool:
        return self.picture.grows

    def part(self, name: str) -> Scene:
        """The picture, or a part of it: ``picture/tiling``."""
        start, _unused, rest = name.partition("/")
        if start != PICTURE:
            return super().part(name)
        return self.picture.part(rest) if rest else {"kind": "nested", "name": PICTURE, "scene": self.picture.live()}


def predict(
    question: str,
    choices: Sequence[object] = (),
    *,
    right: object,
    picture: View,
    why: str = "",
    within: float = 0.0,
) -> PredictionView:
    """Ask ``question`` before ``picture``: the answer is one of ``choices``, or a number if there are none.

    ``right`` should be computed, so that it stays true; a number may be ``within`` so much of it. ``why`` is shown with
    the answer. Nothing is graded. It works in saved notebooks and pages, too. Raises ValueError if the right answer is
    none of the choices.

    >>> counts = launch.plot.accesses("x_ptr")
    >>> asked = lab.course.predict("How often is each element loaded?", [1, 2, 8], right=1, picture=counts)
    >>> asked.title(), asked.answer
    ('How often is each element loaded?', '1')
    """
    return PredictionView(question, choices, right, picture, why, within)
