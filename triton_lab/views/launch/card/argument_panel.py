"""A tab with a picture for each argument that is touched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

from triton_lab.views.launch.card.card_scenes import ItemScene
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, item, unknown
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

Picture = TypeVar("Picture", bound=View)


class ArgumentPanel(Panel, Generic[Picture]):
    """The panel of such a tab; ``word`` begins the names of its pictures and of their windows."""

    MOST: ClassVar[int] = 6  # in the static picture
    ROOM: ClassVar[tuple[float, float]] = (290.0, 240.0)  # for one of several
    word: ClassVar[str]

    @property
    def names(self) -> list[str]:
        """The arguments that get a picture."""
        return self.card.drawn

    def items(self) -> list[ItemScene]:
        return [item(f"{self.word}/{name}", name, self.card.lines(name)) for name in self.names]

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Picture:
        match path:
            case [self.word, argument]:
                return self.of(argument)
        raise unknown(path)

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        """The scene of a picture, or of a window of it if the path names one."""
        return self.view(path[:2]).part("/".join(path)) if path[2:] else super().scene(path, first, numbers)

    def of(self, argument: str) -> Picture:
        """The picture of an argument, made once: finding its touches takes a while."""
        if argument not in self._made:
            self._made[argument] = self.picture(argument)
        return self._made[argument]

    @cached_property
    def _made(self) -> dict[str, Picture]:
        return {}

    def picture(self, argument: str) -> Picture:
        """A new picture of an argument."""
        raise NotImplementedError
