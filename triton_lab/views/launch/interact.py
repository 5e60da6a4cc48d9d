"""`lab.interact`: a launch that runs again whenever a slider moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton_lab.launch.launch import Launch
from triton_lab.launch.record import record
from triton_lab.views.launch.card import Card
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Draw = Callable[[Launch], View]


class Interact(View):
    """``run(**choices)`` launches a kernel; the picture is of the last launch it made.

    ``choices`` gives the values that each argument may take; the first is where it starts.
    """

    def __init__(self, run: Callable[..., Any], choices: Mapping[str, Sequence[Any]], draw: Draw = Card) -> None:
        for name, values in choices.items():
            if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
                raise TypeError(f"{name} needs a list of values to choose from, such as [16, 32, 64], not {values!r}")
        self.run, self.draw = run, draw
        self.choices = {name: list(values) for name, values in choices.items()}
        self.chosen = {name: values[0] for name, values in self.choices.items()}
        self.trouble = ""
        self.result = self._made()
        if self.trouble:
            raise ValueError(self.trouble)

    def _made(self) -> View | None:
        """Run with what is chosen; None, and `trouble` says why, where that makes no picture."""
        self.trouble = ""
        try:
            with record() as launches:
                self.run(**self.chosen)
        except Exception as error:  # the user's own: it is shown where the picture would be
            if not launches:
                self.trouble = f"{type(error).__name__}: {error}"
                return None
        if not launches:
            self.trouble = f"{getattr(self.run, '__name__', 'the function')} launched no kernel"
            return None
        return self.draw(launches[-1])

    def choose(self, **chosen: Any) -> None:
        """Change arguments and run again; the live picture follows."""
        for name, value in chosen.items():
            if name not in self.choices:
                raise TypeError(
                    f"there is no argument {name!r} to choose; there is {', '.join(self.choices) or 'none'}"
                )
            if value not in self.choices[name]:
                raise ValueError(f"{name} is one of {', '.join(map(str, self.choices[name]))}, not {value!r}")
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

    def panel(self) -> Any:
        """Sliders above the live picture (ipywidgets)."""
        import ipywidgets

        said = ipywidgets.Label(self.trouble)
        sliders = []
        for name, values in self.choices.items():
            slider = ipywidgets.SelectionSlider(
                options=[(str(value), value) for value in values], description=name, continuous_update=False
            )

            def changed(change: Mapping[str, Any], name: str = name) -> None:
                self.choose(**{name: change["new"]})
                said.value = self.trouble

            slider.observe(changed, names="value")
            sliders.append(slider)
        return ipywidgets.VBox([*sliders, said, self.widget])

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

    def figure(self) -> Figure:
        return self.shown.figure()

    def title(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.chosen.items())
        return f"{told}: {self.shown.title()}" if told else self.shown.title()

    def text(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.chosen.items())
        return "\n".join(filter(None, [told, self.trouble, self.shown.text()]))

    has_panel = True

    def panel_id(self) -> str:
        """The sliders' model."""
        return str(self._shown_panel.model_id)

    @cached_property
    def _shown_panel(self) -> Any:
        """The sliders that are shown, alive as long as this is."""
        return self.panel()

    @property
    def beginning(self) -> Scene:
        return self.saved()  # of the last launch, whenever it is shown


def interact(run: Callable[..., Any], *, draw: Draw = Card, **choices: Sequence[Any]) -> Interact:
    """Run ``run`` now, and again whenever a slider moves: ``lab.interact(launch, BLOCK=[16, 32, 64])``.

    ``run`` gets one value of each of ``choices`` by name and launches a kernel. ``draw`` makes the
    picture of its last launch, by itself the launch's card.

    >>> picture = lab.interact(lambda BLOCK: add(x, y, block=BLOCK), BLOCK=[128, 256])
    >>> picture.title()
    'BLOCK=128: add_kernel[8, 1, 1]'
    >>> picture.choose(BLOCK=256)
    >>> picture.title()
    'BLOCK=256: add_kernel[4, 1, 1]'
    """
    return Interact(run, choices, draw)
