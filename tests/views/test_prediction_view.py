"""A question before a picture: the right answer is one of the choices, and the picture comes with all its parts."""

from __future__ import annotations

import pytest

import triton_lab as lab
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.prediction_view import PredictionView


@pytest.fixture(scope="module")
def launch() -> Launch:
    return launches_of(lab.examples.example("softmax"))[0]


def asked(launch: Launch, *choices: object, right: object = 2, **more: float) -> PredictionView:
    return lab.course.predict("How many?", choices, right=right, picture=launch.plot.grid(), **more)  # type: ignore[arg-type]


def test_a_choice_is_right_by_what_it_says(launch: Launch) -> None:
    scene = asked(launch, 1, 2, 3).scene()
    assert (scene["choices"], scene["right"], scene["answer"]) == (["1", "2", "3"], 1, "2")
    picture = scene["parts"]["picture"]
    assert picture["kind"] == "nested" and picture["scene"] == launch.plot.grid().scene()


def test_a_number_may_be_asked_for(launch: Launch) -> None:
    scene = asked(launch, right=2.5, within=0.25).scene()
    assert (scene["choices"], scene["number"], scene["within"]) == ([], 2.5, 0.25)


def test_the_parts_of_the_picture_are_asked_for_behind_its_name(launch: Launch) -> None:
    card = launch.plot("grid")
    view = lab.course.predict("Which?", ["a", "b"], right="a", picture=card)
    assert view.part("picture/storage") == card.part("storage")
    assert view.part("picture")["kind"] == "nested"
    assert view.grows == card.grows
    with pytest.raises(LookupError):
        view.part("storage")


def test_words_have_question_picture_and_answer_in_this_order(launch: Launch) -> None:
    text = asked(launch, 1, 2).text()
    assert text.index("How many?") < text.index(launch.plot.grid().title()) < text.rindex("2")


@pytest.mark.parametrize(("choices", "right"), [((1, 3), 2), ((2, 2), 2), ((2,), 2), ((), "2"), (range(10), 2)])
def test_what_is_no_question_is_refused(launch: Launch, choices: tuple[int, ...], right: object) -> None:
    with pytest.raises(ValueError, match=r"2|10"):
        asked(launch, *choices, right=right)
