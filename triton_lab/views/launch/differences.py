"""What two targets made of one launch: the panel of a card's comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.views.launch.difference import Difference
from triton_lab.views.launch.scenes import ItemScene
from triton_lab.views.launch.tab import NUMBERS, Panel, item, unknown


class DifferencePanel(Panel):
    """What two targets made of one launch, for each argument that was written."""

    @property
    def there(self) -> bool:
        return bool(self.card.differences)

    def items(self) -> list[ItemScene]:
        return [item(f"differences/{number}", one.name) for number, one in enumerate(self.card.differences)]

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Difference:
        match path:
            case ["differences", number] if number in map(str, range(len(self.card.differences))):
                return self.card.differences[int(number)]
        raise unknown(path)

    def drawn(self) -> Sequence[Difference]:
        return self.card.differences
