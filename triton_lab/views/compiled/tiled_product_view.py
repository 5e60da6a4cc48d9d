"""A product of two matrices by tiles: what one program loads, what all of them move, and what a GPU's roof says to it.

The tile is dragged in the browser, which computes the same formula (`compiled/cost/tiled_product.py`) anew.
"""

from __future__ import annotations

from dataclasses import astuple
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from triton_lab import messages
from triton_lab.compiled.cost.gpu_limits import gpu as gpu_called
from triton_lab.compiled.cost.occupancy import register_bytes
from triton_lab.compiled.cost.tiled_product import MOST, ProductBytes, TiledProduct, sides
from triton_lab.localization import N_, _, all_translated
from triton_lab.views.compiled.product_drawing import HUES, bare_matrices, boxes, marked
from triton_lab.views.compiled.roofline import HIGH, LEFT, MARK, TOP, WIDE, Axes, axes_for, bare_roofline
from triton_lab.views.drawing.drawing import Drawing, DrawnItem, DrawnText, Line, Rectangle
from triton_lab.views.drawing.drawing_pieces import lines, paragraphs, spaced, table, title
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.drawing_text import bytes_text
from triton_lab.views.drawing.scene_bounds import Coordinate, Few, Name, Named, Number, Sentence, Within
from triton_lab.views.drawing.style import CHARACTER, SMALL
from triton_lab.views.view import View

if TYPE_CHECKING:
    import torch

STEP = 17.0  # from one label in the roofline up to the next
HEADINGS = (
    "", N_("Loaded of A"), N_("Loaded of B"), N_("Moved in all"), N_("flop per byte"), N_("At best"), N_("The limit"),
)  # fmt: skip
SAYS = {
    "title": N_("C = A @ B in tiles of {rows} by {columns}"),
    "tile": N_(
        "The program of tile ({row}, {column}) loads rows {top} to {bottom} of A and columns {left} to {right} of B: "
        "{bytes}."
    ),
    "again": N_("Each element of A is loaded by {across}, and each element of B by {down}."),
    "held": N_("The tile's accumulator has {bytes}. The registers of a multiprocessor have {room}."),
    "full": N_("That is too much: take a smaller tile."),
    "tiles": N_("tiles of {rows} by {columns}"),
    "once": N_("each byte once"),
    "memory": N_("memory"),
    "arithmetic": N_("arithmetic"),
    "rate": N_("{rate}flop/s"),
}
NAMES = {
    "float64": "float64", "float32": "float32", "float16": "float16", "bfloat16": "bfloat16", "int8": "int8",
    "float8_e4m3fn": "float8", "float8_e5m2": "float8",
}  # fmt: skip

Size = Annotated[int, Within(1, MOST)]


class ProductScene(TypedDict):
    """The product of A (m, k) and B (k, n). ``sizes``: m, n and k; ``tile``: rows and columns; ``program``: its tile.

    ``heights`` and ``widths`` are what a tile may have. ``matrices`` and ``roof`` are the drawings without what the
    tile changes. ``boxes``: x, y, width and height of A, B and C, and ``hues`` the colours of their parts; ``axes``:
    left, right, low and high of the roofline as powers of ten. ``peak`` is in flop/s, ``memory`` in bytes a second,
    ``registers`` in bytes. ``says``: the sentences, with places for numbers.
    """

    kind: Literal["product"]
    sizes: tuple[Size, Size, Size]
    itemsize: Annotated[int, Within(1, 16)]
    tile: tuple[Size, Size]
    program: tuple[Annotated[int, Within(0, MOST)], Annotated[int, Within(0, MOST)]]
    heights: Few[Size]
    widths: Few[Size]
    matrices: DrawingScene
    boxes: Few[tuple[Coordinate, Coordinate, Coordinate, Coordinate]]
    hues: Few[Name]
    roof: DrawingScene
    axes: tuple[Coordinate, Coordinate, Coordinate, Coordinate]
    peak: Number
    memory: Number
    registers: Number
    headings: Few[Sentence]
    says: Named[Sentence]
    notes: Few[Sentence]


def tiled_product(
    a: torch.Tensor,
    b: torch.Tensor,
    tile: tuple[int, int] = (32, 32),
    program: tuple[int, int] = (0, 0),
    gpu: str = "H100",
) -> TiledProductView:
    """A picture of ``a @ b`` (m, k) and (k, n) by programs that compute one ``tile`` (rows, columns) each.

    In the browser the tile and its corner are dragged, or moved by arrow keys. ``program`` is the row and the column of
    the tile that is shown, and ``gpu`` the roof. Only shapes and dtypes are looked at: tensors of the device "meta" do.
    Raises TypeError for tensors that are no two matrices of one numeric dtype, ValueError for sizes that do not go
    together or a tile that is not there, and LookupError for a GPU whose figures are not known.

    >>> a, b = torch.empty(512, 256), torch.empty(256, 512)
    >>> lab.tiled_product(a, b, tile=(32, 64)).rows()[1][:4]
    ['tiles of 32 by 64', '4 MiB', '8 MiB', '13 MiB']
    """
    dtype = str(a.dtype).removeprefix("torch.")
    if a.dim() != 2 or b.dim() != 2 or a.dtype != b.dtype or dtype not in NAMES:
        raise TypeError(_("tiled_product() needs two matrices of one dtype: {names}").format(names=", ".join(NAMES)))
    if a.shape[1] != b.shape[0]:
        raise ValueError(
            _("a has {columns} and b has {rows}: there is no product a @ b").format(
                columns=messages.count(a.shape[1], "column"), rows=messages.count(b.shape[0], "row")
            )
        )
    product = TiledProduct(a.shape[0], b.shape[1], a.shape[1], a.element_size(), NAMES[dtype], tile)
    return TiledProductView(product, program, gpu)


class TiledProductView(View):
    """``product``, the tile of ``program`` (row, column) in it, and the roof of ``gpu``; see `tiled_product`."""

    def __init__(self, product: TiledProduct, program: tuple[int, int] = (0, 0), gpu: str = "H100") -> None:
        self.product, self.program, self.gpu = product, program, gpu_called(gpu)
        self.inside = product.inside(*program)

    # --- Words ------------------------------------------------------------------------------------

    @cached_property
    def says(self) -> dict[str, str]:
        """The sentences in the user's language, with places for numbers."""
        return dict(zip(SAYS, all_translated(tuple(SAYS.values())), strict=True))

    def title(self) -> str:
        rows, columns = self.product.tile
        return self.says["title"].format(rows=rows, columns=columns)

    def told(self) -> list[str]:
        """The sentences about the tile, those about all tiles, and those about its accumulator."""
        product, (rows, columns) = self.product, self.inside
        down, across = product.tiles
        held = [
            self.says["held"].format(bytes=bytes_text(product.accumulator), room=bytes_text(self.registers)),
            *([self.says["full"]] if product.accumulator >= self.registers else []),
        ]
        return [
            self.says["tile"].format(
                row=self.program[0],
                column=self.program[1],
                top=rows[0],
                bottom=rows[-1],
                left=columns[0],
                right=columns[-1],
                bytes=bytes_text((len(rows) + len(columns)) * product.k * product.itemsize),
            ),
            self.says["again"].format(across=messages.count(across, "program"), down=messages.count(down, "program")),
            " ".join(held),
        ]

    @cached_property
    def compared(self) -> list[tuple[str, ProductBytes]]:
        """What is compared: a program for each element, these tiles, and a cache that keeps everything."""
        rows, columns = self.product.tile
        return [
            (self.says["tiles"].format(rows=1, columns=1), self.product.with_tile(1, 1).moved),
            (self.says["tiles"].format(rows=rows, columns=columns), self.product.moved),
            (self.says["once"], self.product.once),
        ]

    def rows(self) -> list[list[str]]:
        """The rows under `HEADINGS`."""
        peak = self.gpu.rate(self.product.kind)
        found = []
        for name, moved in self.compared:
            rate = self.product.rate(moved, self.gpu)
            limit = self.says["memory" if rate < peak else "arithmetic"]
            intensity = messages.three_digits(self.product.intensity(moved))
            size = [bytes_text(each) for each in (moved.a, moved.b, moved.total)]
            found.append([name, *size, intensity, self.says["rate"].format(rate=messages.si(rate)), limit])
        return found

    def notes(self) -> list[str]:
        """What the numbers leave out, and where the GPU's figures are from."""
        return [
            _(
                "Every program loads its strips from memory, except in the last row: there a cache keeps all that "
                "programs share. A GPU lies in between."
            ),
            _("At best: a bound of {gpu} for {kind}, not measured. Figures: {source}.").format(
                gpu=self.gpu.name, kind=self.product.kind, source=self.gpu.source
            ),
        ]

    def text(self) -> str:
        rows = [list(all_translated(HEADINGS)), *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADINGS))]
        told = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.title(), *self.told(), *told, *self.notes()])

    @property
    def registers(self) -> int:
        """Bytes of the registers of a multiprocessor."""
        return register_bytes(self.gpu.target)

    # --- Pictures ---------------------------------------------------------------------------------

    @cached_property
    def axes(self) -> Axes:
        """The edges of the roofline, which do not depend on the tile."""
        ends = [self.product.intensity(moved) for moved in (self.compared[0][1], self.compared[2][1])]
        return axes_for(self.gpu, self.gpu.rate(self.product.kind), ends)

    def bare_roof(self) -> Drawing:
        """The roof with its name, where no mark comes."""
        peak = self.gpu.rate(self.product.kind)
        made = bare_roofline(self.gpu, peak, self.axes)
        right, top = self.axes.at(10.0**self.axes.right, peak)
        made.add(DrawnText(right, top - 9, f"{self.gpu.name}, {self.product.kind}", SMALL, "accent", "right"))
        return made

    def under_roof(self) -> list[DrawnItem]:
        """A mark for each row of the table, with a line down to its label."""
        bottom = TOP + HIGH
        made: list[DrawnItem] = []
        labels: list[DrawnItem] = []
        for k, (name, moved) in enumerate(self.compared):
            x, y = self.axes.at(self.product.intensity(moved), self.product.rate(moved, self.gpu))
            line = 3.0 if k == 1 else 1.5
            made.append(Line(((x, y + MARK / 2), (x, bottom)), "error", arrow=False))
            made.append(Rectangle(x - MARK / 2, y - MARK / 2, MARK, MARK, "none", "error", line=line, radius=0))
            # To the right of its line, so that one label does not seem to belong to two; but within the picture.
            left = x + 7 + len(name) * CHARACTER <= LEFT + WIDE
            at = bottom - STEP * (k + 0.7)
            align: Literal["left", "right"] = "left" if left else "right"
            labels.append(DrawnText(x + 7 if left else x - 7, at, name, SMALL, "error", align, k == 1, halo="ground"))
        return [*made, *labels]

    def pieces(self) -> list[Drawing]:
        matrices, roof = bare_matrices(self.product), self.bare_roof()
        matrices.add(*marked(self.product, self.inside))
        roof.add(*self.under_roof())
        return [
            title(self.title()),
            spaced(matrices),
            lines([(line, "ink") for line in self.told()]),
            spaced(table([all_translated(HEADINGS), *self.rows()])),
            spaced(roof),
            *paragraphs(self.notes()),
        ]

    def scene(self) -> ProductScene:
        product = self.product
        label = _("the matrices A, B and C: click into C to choose a tile")
        return {
            "kind": "product",
            "sizes": (product.m, product.n, product.k),
            "itemsize": product.itemsize,
            "tile": product.tile,
            "program": self.program,
            "heights": _offered(product.m, product.tile[0]),
            "widths": _offered(product.n, product.tile[1]),
            "matrices": bare_matrices(self.product).scene("", label),
            "boxes": [(box.x, box.y, box.width, box.height) for box in boxes(self.product)],
            "hues": list(HUES),
            "roof": self.bare_roof().scene("", _("the roofline of {gpu}").format(gpu=self.gpu.name)),
            "axes": astuple(self.axes),
            "peak": self.gpu.rate(product.kind),
            "memory": self.gpu.bytes,
            "registers": self.registers,
            "headings": list(all_translated(HEADINGS)),
            "says": self.says,
            "notes": self.notes(),
        }


def _offered(size: int, own: int) -> list[int]:
    """The sides of tiles to choose from, the own one among them."""
    return sorted({*sides(size), own})
