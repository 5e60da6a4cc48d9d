"""Writes every view of every example kernel: ``python -m triton_lab.views.launch.gallery [FOLDER]``.

It makes a page with live pictures for each example, and ``index.html`` with the static ones.
"""

from __future__ import annotations

import argparse
import base64
import html
from collections.abc import Callable
from functools import partial
from pathlib import Path

import triton_lab
from triton_lab.examples import all_examples
from triton_lab.examples.example import Example
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.views.drawing.png import png
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.card.launch_tabs import SHOWN
from triton_lab.views.view import View

FOLDER = Path("gallery")


def launches_of(example: Example) -> list[Launch]:
    """The launches of an example on its small inputs, on the CPU."""
    with triton_lab.target("cpu"), triton_lab.record() as launches:
        example.run(**example.inputs("small", 0, "cpu"))
    return launches


def pictures(launch: Launch) -> str:
    """The static forms, as HTML, of the card, which has most views in it, and of the other views."""
    makers: list[Callable[[], View]] = [partial(launch.plot, *SHOWN)]
    for name in Card(launch).drawn[:1]:
        makers.append(partial(launch.plot.tiling, name))
        makers += [partial(launch.plot.accesses, name, by) for by in ("program", "order", "reuse", "values")]
        makers.append(partial(launch.plot.accesses, name, "count", "storage"))
    if launch.programs:
        makers.append(partial(launch.plot.grid, "shared", program=0))
    return "".join(map(_picture, makers))


def _picture(make: Callable[[], View]) -> str:
    try:
        made = make()
        image = base64.b64encode(png(made.figure())).decode("ascii")
    except (CannotReplay, LookupError, ValueError) as error:
        return f"<p>{html.escape(str(error))}</p>"
    return f'<img alt="{html.escape(made.title())}" src="data:image/png;base64,{image}">'


def main() -> None:
    """Write the gallery."""
    parser = argparse.ArgumentParser(prog="python -m triton_lab.views.launch.gallery", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--only", action="append", help="this example (may be repeated)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    body = []
    for example in all_examples():
        if options.only and example.name not in options.only:
            continue
        body.append(f"<h2>{html.escape(example.title)}</h2>")
        for number, launch in enumerate(launches_of(example)[:2]):
            name = f"{example.name}_{number}.html"
            launch.to_html(options.folder / name)
            body.append(f'<p><a href="{name}">{html.escape(launch.kernel)}, live</a></p>{pictures(launch)}')
            print(f"{name}: {(options.folder / name).stat().st_size / 1e6:.2f} MB", flush=True)
    look = "<style>body{font-family:sans-serif;margin:24px}img{zoom:50%;display:block;margin:16px 0}</style>"
    page = f"<!doctype html><meta charset='utf-8'><title>triton-lab: gallery</title>{look}{''.join(body)}"
    (options.folder / "index.html").write_text(page, encoding="utf-8")
    print(options.folder / "index.html")


if __name__ == "__main__":
    main()
