"""The base of tabs with a picture of each compilation, in a launch's card or in a card of compilations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from triton_lab.compiled.compiled_list import labels
from triton_lab.localization import _
from triton_lab.views.launch.card.card_scenes import ItemScene
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, item, unknown

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.views.drawing.drawing import Drawing
    from triton_lab.views.scenes import Scene
    from triton_lab.views.view import View


class CompiledPanel(Panel):
    """One picture for each compilation, called ``word/0``, ``word/1`` and so on.

    The parts of a picture have names that begin with its own: ``word/1/passes``.
    """

    word: ClassVar[str]

    @abstractmethod
    def picture(self, compiled: Compiled, name: str) -> View:
        """The picture of ``compiled``, whose own parts are called ``name/...``."""

    @property
    def there(self) -> bool:
        """Whether anything was compiled."""
        return bool(self.card.compiled)

    def items(self) -> list[ItemScene] | None:
        """An item for each compilation."""
        return [item(f"{self.word}/{k}", label) for k, label in enumerate(labels(self.card.compiled))]

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> View:
        """The picture of that name."""
        if len(path) < 2 or not path[1].isdigit() or int(path[1]) >= len(self.card.compiled):
            raise unknown(path)
        return self._pictured(int(path[1]))

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        """The picture's scene, or one of its parts."""
        view = self.view(path, first, numbers)
        return view.part("/".join(path)) if len(path) > 2 else view.scene()

    def draws(self, compiled: Compiled) -> bool:
        """Whether ``compiled`` has such a picture."""
        return True

    def drawn(self) -> list[View]:
        """The pictures of all compilations that have one."""
        return [self._pictured(k) for k, one in enumerate(self.card.compiled) if self.draws(one)]

    def _pictured(self, number: int) -> View:
        return self.picture(self.card.compiled[number], f"{self.word}/{number}")

    def pieces(self) -> list[Drawing]:
        """The pieces of the first picture, and a note about the others: with all pictures the PNG would be too long."""
        from triton_lab.views.drawing.drawing_pieces import paragraphs, title

        called = labels(self.card.compiled)
        first, *others = [k for k, one in enumerate(self.card.compiled) if self.draws(one)]
        pieces = self._pictured(first).pieces()
        if len(called) == 1:
            return pieces
        same = ", ".join(called[k] for k in others)
        told = [_("For {same}, use compiled.plot.{word}().").format(same=same, word=self.word)] if others else []
        return [title(called[first]), *pieces, *paragraphs(told)]
