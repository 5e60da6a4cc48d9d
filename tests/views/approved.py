"""Pictures that somebody has looked at, as records: ``python -m tests.views.approved`` writes them anew.

A record has lines for all that is drawn (see `artists`) and for the fields of the scene; places are CSS pixels. Of many
points it has how many they are, the first and the last, and the middle of all; of an image the most frequent colours,
and where they are; of areas the width of the edge, the radius of corners and the opacity. Nothing in it depends on
fonts, time or the machine: words are taken to be as wide as they have letters.
"""

from __future__ import annotations

import functools
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from tests.views.artists import Areas, Dots, Drawn, Pixels, Strokes, Words, artists, size
from triton_lab.views.drawing import fonts
from triton_lab.views.view import View

# Where the kernels are: as errors say it, and as cards do, which name files from the working directory.
HERE = (f"{Path(__file__).parent}/", "tests/views/")
RECORDS = Path(__file__).with_name("approved.json")
MANY = 6  # so many lines, polygons or numbers are told one by one
COLOURS = 10  # of an image, the most frequent
LETTERS = 120  # of a field of a scene
DEEP = 2
# What the figure's artists say, too; and what depends on which launch was the last of all.
ELSEWHERE = {("", "items"), ("", "compare")}
NEAR = 0.02
_NUMBER = re.compile(r"#[0-9a-f]{6}|-?\d+(?:\.\d+)?")


@contextmanager
def words_as_wide_as_letters() -> Iterator[None]:
    with patch.object(fonts, "advance", lambda letter, mono, bold: 0.6):
        yield


def record(view: View) -> list[str]:
    """The lines of one picture."""
    with words_as_wide_as_letters():
        figure = view.figure()
        drawn = [line for key, some in groupby(artists(figure), _look) for line in _told(key, list(some))]
        return [f"figure {_numbers(size(figure))}", *drawn, *_fields("", view.live())]


def differences(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """``-`` and ``+`` lines; numbers that differ in the last digit alone are the same."""
    from difflib import SequenceMatcher

    if len(before) == len(after) and all(map(_alike, before, after)):
        return []
    # What is alike is spelled alike first.
    known = {line: line for line in before}
    for old, new in zip_longest(before, after, fillvalue=""):
        if _alike(old, new):
            known[new] = old
    after = [known.get(line, line) for line in after]
    found = []
    for kind, a, b, c, d in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if kind != "equal":
            found += [f"- {line}" for line in before[a:b]] + [f"+ {line}" for line in after[c:d]]
    return found


def _alike(a: str, b: str) -> bool:
    if a == b:
        return True
    if _NUMBER.sub("", a) != _NUMBER.sub("", b):
        return False
    return all(map(_near, _NUMBER.findall(a), _NUMBER.findall(b)))


def _near(a: str, b: str) -> bool:
    if a.startswith("#") and b.startswith("#"):
        return all(abs(int(a[k : k + 2], 16) - int(b[k : k + 2], 16)) <= 1 for k in (1, 3, 5))
    whole = "." not in a + b  # counted, and not computed
    return "#" not in a + b and (a == b if whole else abs(float(a) - float(b)) <= NEAR + 1e-4 * abs(float(a)))


def _look(drawn: Drawn) -> str:
    """What things that follow each other share, whose places then are told together."""
    match drawn:
        case Words():
            return " ".join((_numbers([drawn.size]), drawn.colour, drawn.align, *drawn.look))
        case Strokes():
            look = f"lines {drawn.colour} {_at((drawn.width, drawn.opacity))}" + (" with a head" if drawn.arrow else "")
            return look + (" dashed " + _numbers(drawn.dashes) if drawn.dashes else "")
        case Areas():
            return f"areas edge {drawn.edge} {_at((drawn.width, drawn.radius, drawn.opacity))}"
        case Dots():
            return f"dots {_numbers([drawn.radius])} ring {drawn.ring} {_numbers([drawn.width])}"
    return f"image {_at((drawn.x, drawn.y))} {_at((drawn.width, drawn.height))} of {drawn.pixels.shape}"


def _told(look: str, some: Sequence[Drawn]) -> Iterator[str]:
    if isinstance(some[0], Words):
        rows = groupby((one for one in some if isinstance(one, Words)), lambda one: _numbers([one.y]))
        told = [f"y {y} " + " ".join(f"{_numbers([one.x])} {one.text!r}" for one in row) for y, row in rows]
        for start in range(0, len(told), MANY):
            yield f"{look}: {'; '.join(told[start : start + MANY])}"
        return
    shapes: list[npt.NDArray[np.float64]] = []
    fills: list[str] = []
    for one in some:
        match one:
            case Strokes():
                shapes += one.lines
            case Areas():
                shapes, fills = [*shapes, *one.corners], [*fills, one.fill]
            case Dots():
                shapes, fills = [*shapes, one.centres], [*fills, *one.fills]
    fills = [colour for colour, _ in groupby(fills)]
    shown = fills if len(fills) <= MANY else [*fills[:2], f"{len(fills)} colours", *fills[-2:]]
    yield " ".join([f"{look}:", *([_many(shapes)] if shapes else []), *shown])
    for one in some:
        if isinstance(one, Pixels):
            yield from _colours(one.pixels)


def _colours(pixels: npt.NDArray[np.int64]) -> Iterator[str]:
    """Of each colour how many pixels there are, between which, and their middle."""
    codes = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    found, counts = np.unique(codes, return_counts=True)
    for number in sorted(range(len(found)), key=lambda k: (-counts[k], found[k]))[:COLOURS]:
        rows, columns = np.nonzero(codes == found[number])
        box = f"{columns.min()}-{columns.max()} x {rows.min()}-{rows.max()}"
        yield f" #{found[number]:06x} {counts[number]} in {box} about {_at((columns.mean(), rows.mean()))}"


def _at(place: Any) -> str:
    return "(" + _numbers(place) + ")"


def _numbers(numbers: Any) -> str:
    """To hundredths."""
    return " ".join("0" if abs(one) < 0.005 else f"{one:.2f}".rstrip("0").rstrip(".") for one in map(float, numbers))


def _many(shapes: Sequence[npt.NDArray[np.float64]]) -> str:
    """Shapes of points."""
    every = np.concatenate([np.asarray(shape, dtype=float).reshape(-1, 2) for shape in shapes] or [np.zeros((0, 2))])
    if len(every) <= 2 * MANY:
        return "; ".join(" ".join(map(_at, shape)) for shape in shapes)
    weights = np.arange(1, len(every) + 1) / len(every)
    told = f"{len(shapes)} of {len(every)}: {_at(every[0])} {_at(every[1])} .. {_at(every[-1])} about"
    return f"{told} {_at(every.mean(axis=0))} {_at((every * weights[:, None]).mean(axis=0))}"


def _fields(at: str, value: Any, depth: int = 0) -> Iterator[str]:
    """A line for each field with all that is in it; long ones are cut up, down to some depth."""
    plain = _plain(value)
    nested = isinstance(value, Mapping | list | tuple) and not _is_buffer(value)
    if len(plain) <= LETTERS or not nested or depth == DEEP:
        rest = f" ... {len(plain)} letters {zlib.crc32(plain.encode()):08x}" if len(plain) > LETTERS else ""
        yield f"{at}: {plain[:LETTERS]}{rest}"
        return
    for name, item in value.items() if isinstance(value, Mapping) else enumerate(value):
        if (at, name) not in ELSEWHERE:
            yield from _fields(f"{at}.{name}" if at else str(name), item, depth + 1)


def _plain(value: Any) -> str:
    """Numbers to hundredths, long runs of them and bytes in short."""
    match value:
        case {"type": str(kind), "bytes": bytes(packed)}:
            return _buffer(np.frombuffer(packed, dtype="<" + kind))
        case Mapping():
            return "{" + ", ".join(f"{name}: {_plain(item)}" for name, item in value.items()) + "}"
        case bytes():
            return "bytes"
        case list() | tuple() if len(value) > 2 * MANY and all(type(one) in (int, float) for one in value):
            return _buffer(np.array(value))
        case list() | tuple():
            return "[" + ", ".join(map(_plain, value)) + "]"
        case float():
            return _numbers([value])
    return without_folder(repr(value))


def without_folder(text: str) -> str:
    """The text without the folder of the kernels, wherever it names one."""
    return functools.reduce(lambda text, folder: text.replace(folder, ""), HERE, text)


def _is_buffer(value: Any) -> bool:
    return _plain(value)[:1] not in "{["


def _buffer(numbers: npt.NDArray[Any]) -> str:
    """By its type, how many, and two sums: of all, and with each by its place."""
    held = numbers.astype(np.float64)
    there = np.isfinite(held)
    odd = f" {(~there).sum()} not finite" if not there.all() else ""
    held = np.where(there, held, 0.0)
    weights = np.arange(1, held.size + 1) / max(held.size, 1)
    sums = f"{held.sum():.5g} {(held * weights).sum():.5g}"
    return f"{numbers.size} {numbers.dtype.name}{odd}: {_numbers(held[:MANY])} .. sums {sums}"


def load() -> dict[str, list[str]]:
    return dict(json.loads(RECORDS.read_text(encoding="utf-8")))


def main() -> None:
    """Write the records of all pictures."""
    import os

    os.environ.setdefault("TRITON_LAB_RAISE", "1")
    from tests.views.pictures import PICTURES

    made = {name: record(make()) for name, make in PICTURES.items()}
    before = load() if RECORDS.exists() else {}
    RECORDS.write_text(json.dumps(made, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    for name in sorted({*made, *before}):
        found = differences(before.get(name, []), made.get(name, []))
        if found:
            print(f"{name}: {len(found)} lines differ")
    print(f"{RECORDS}: {RECORDS.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
