"""`predict`: a question before a picture, which is shown once the reader has answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triton_lab.views.prediction_view import PredictionView
    from triton_lab.views.view import View


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
    from triton_lab.views.prediction_view import PredictionView

    return PredictionView(question, choices, right, picture, why, within)
