"""`lab.interact`: a launch that runs again whenever a slider moves."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.record import record
from triton_lab.localization import _
from triton_lab.views.launch.benchmark.newest_choice import NewestChoice
from triton_lab.views.launch.benchmark.untried_sizes_line import UntriedSizesLine
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.views.drawing.drawing import Drawing
    from triton_lab.views.widget import SliderWidget


Draw = Callable[[Launch], View]


class Interact(View):
    """``run(**choices)`` launches a kernel; the picture is of the last launch it made.

    ``choices`` has the values that each argument may take (see `interact`). An argument starts with the function's own
    default, or with the first value if the default is not among them. ``untried`` is the line about other sizes.
    """

    def __init__(self, run: Callable[..., Any], choices: Mapping[str, Sequence[Any]], draw: Draw = Card) -> None:
        self.run, self.draw = run, draw
        self.choices = {name: _values(name, values) for name, values in choices.items()}
        defaults = _defaults(run)
        self.chosen = {
            name: defaults[name] if name in defaults and defaults[name] in values else values[0]
            for name, values in self.choices.items()
        }
        self.trouble = ""
        self.untried = UntriedSizesLine()
        self.result = self._made()
        if self.trouble:
            raise ValueError(self.trouble)

    def _made(self) -> View | None:
        """Run with the chosen values; returns None, with the reason in `trouble`, if that makes no picture."""
        self.trouble = ""
        try:
            with record() as launches:
                self.run(**self.chosen)
        except Exception as error:  # the user's own exception: it is shown in place of the picture
            if not launches:
                self.trouble = f"{type(error).__name__}: {error}"
                return None
        if not launches:
            self.trouble = _("{getattr} launched no kernel").format(
                getattr=getattr(self.run, "__name__", "the function")
            )
            return None
        self.untried.follow(launches[-1])
        return self.draw(launches[-1])

    def choose(self, **chosen: Any) -> None:
        """Change arguments and run again; the live picture follows."""
        for name, value in chosen.items():
            if name not in self.choices:
                raise TypeError(
                    _("there is no argument {name} to choose; there is {text}").format(
                        name=repr(name), text=", ".join(self.choices) or "none"
                    )
                )
            if value not in self.choices[name]:
                raise ValueError(
                    _("{name} is {told}, not {value}").format(
                        name=name, told=_told(self.choices[name]), value=repr(value)
                    )
                )
        self.chosen.update(chosen)
        made = self._made()
        if made is not None:
            self.result = made
            if "widget" in self.__dict__:
                self.widget.scene = dict(made.live())

    @property
    def shown(self) -> View:
        """The view of the last launch that made a picture."""
        assert self.result is not None
        return self.result

    @cached_property
    def widget(self) -> SliderWidget:
        """The sliders above the live picture, and what is said and proved of the launch."""
        from triton_lab.views.widget import slider_widget

        at = {name: values.index(self.chosen[name]) for name, values in self.choices.items()}
        sliders = [_slider(name, values, at[name]) for name, values in self.choices.items()]
        widget = slider_widget(self.beginning, self, sliders=sliders, chosen=at, said=self.trouble)
        self.untried.show(lambda text: setattr(widget, "proved", text))

        def grant(wishes: dict[str, Any]) -> None:
            widget.said = _("running")
            try:
                self.choose(**wishes)
            except KeyboardInterrupt:
                self.trouble = _("interrupted: the picture shows the previous launch")
            widget.said = self.trouble

        newest = NewestChoice(grant)

        def changed(change: Mapping[str, Mapping[str, object]]) -> None:
            for name, place in change["new"].items():
                values = self.choices.get(name, ())
                if place != change["old"].get(name) and isinstance(place, int) and 0 <= place < len(values):
                    newest.wish(**{name: values[place]})

        widget.observe(changed, names="chosen")
        return widget

    # --- A view like any other ------------------------------------------------------------------------

    def scene(self) -> Scene:
        return self.shown.scene()

    def live(self) -> Scene:
        return self.shown.live()

    def saved(self) -> Scene:
        return self.shown.saved()

    def standalone(self) -> Scene:
        return self.shown.standalone()

    def part(self, name: str) -> Scene:
        return self.shown.part(name)

    def drawing(self) -> Drawing:
        return self.shown.drawing()

    def title(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.chosen.items())
        return f"{told}: {self.shown.title()}" if told else self.shown.title()

    def text(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.chosen.items())
        return "\n".join(filter(None, [told, self.trouble, self.untried.text, self.shown.text()]))

    has_panel = True

    def panel_id(self) -> str:
        """The model of the sliders with the picture, which lives as long as this view."""
        return str(self.widget.model_id)

    @property
    def beginning(self) -> Scene:
        return self.saved()  # of the last launch at the time of display


def _slider(name: str, values: Sequence[Any], at: int) -> dict[str, object]:
    """A slider as `SliderWidget` wants it."""
    if isinstance(values, range):
        return {"name": name, "at": at, "low": values.start, "step": values.step, "count": len(values)}
    return {"name": name, "at": at, "words": [str(value) for value in values]}


# The most positions of a slider of floats: each is sent to the browser.
_MOST = 10_000


def _values(name: str, wish: Any) -> Sequence[Any]:
    """The values of an argument. Raises TypeError, and ValueError for a range with fewer than two values."""
    numbers = isinstance(wish, tuple) and all(type(each) in (int, float) for each in wish)
    if not numbers or len(wish) not in (2, 3):
        if isinstance(wish, (str, bytes)) or not isinstance(wish, Sequence) or not len(wish):
            raise TypeError(
                _(
                    "{name} needs a list of values, such as [16, 32, 64], or a minimum and a maximum, such as (1, "
                    "100), not {wish}"
                ).format(name=name, wish=repr(wish))
            )
        return wish if isinstance(wish, range) and wish.step > 0 else list(wish)
    whole = all(type(each) is int for each in wish)
    low, high, step = (*wish, 1 if whole else 0.1)[:3]
    count = math.floor((high - low) / step + 1e-9) + 1 if step > 0 and math.isfinite(high - low) else 0
    if count < 2:
        raise ValueError(
            _(
                "{name}={wish} is a slider from {low} to {high} in steps of {step}, which has only one value. Pass a "
                "list of values: {name}={list}"
            ).format(name=name, wish=wish, low=low, high=high, step=step, list=list(wish))
        )
    if whole:
        return range(low, high + 1, step)
    if count > _MOST:
        raise ValueError(
            _("{name}={wish} has {count} values, but a slider has at most {MOST}: use larger steps").format(
                name=name, wish=wish, count=f"{count:,}", MOST=f"{_MOST:,}"
            )
        )
    return [round(low + k * step, 12) for k in range(count)]


def _told(values: Sequence[Any]) -> str:
    """The values in words: ``one of 16, 32, 64``, or ``1 to 100``."""
    if not isinstance(values, range):
        return _("one of {values}").format(values=", ".join(map(str, values)))
    return _("{low} to {high}").format(low=values[0], high=values[-1]) + (
        _(" in steps of {step}").format(step=values.step) if values.step > 1 else ""
    )


def _defaults(run: Callable[..., Any]) -> dict[str, Any]:
    """The defaults of ``run`` that are plain values."""
    try:
        parameters = inspect.signature(run).parameters.values()
    except (TypeError, ValueError):  # not every callable has a signature
        return {}
    return {each.name: each.default for each in parameters if isinstance(each.default, (bool, int, float, str))}


def interact(run: Callable[..., Any], *, draw: Draw = Card, **choices: Sequence[Any]) -> Interact:
    """Run ``run`` now, and again while a slider is dragged: ``lab.interact(launch, BLOCK=[16, 32, 64])``.

    ``run`` gets one value of each of ``choices`` by name and launches a kernel. As in ipywidgets, a list has the values
    themselves, and a tuple of two or three numbers is a slider: ``n=(1, 100)`` from the least to the greatest, both
    included, ``n=(0, 100, 5)`` in steps of 5. Without steps integers go by 1 and floats by 0.1. ``draw`` makes the
    picture of the last launch, by default the launch's card. Raises TypeError for choices that are none of these, and
    ValueError for a slider with fewer than two values, or if the first run fails or launches nothing.

    >>> picture = lab.interact(lambda BLOCK: add(x, y, block=BLOCK), BLOCK=[128, 256])
    >>> picture.title()
    'BLOCK=128: add_kernel[8, 1, 1]'
    >>> picture.choose(BLOCK=256)
    >>> picture.title()
    'BLOCK=256: add_kernel[4, 1, 1]'
    """
    return Interact(run, choices, draw)
