"""Where pictures are live, reopened, moved by sliders and marked with findings: ``python -m tests.places``.

It drives each place with Playwright and writes `docs/how-to/places.md`. Places that cannot be run here keep a row that
says so. ``--marimo PYTHON`` and ``--myst PROGRAM`` name what is not a requirement of tests.
`tests/test_places.py` fails when the page is stale.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Error, Locator, Page, sync_playwright

from tests.browser.lab import VIEWPORT, Lab
from tests.browser.server import JupyterServer, serve
from triton_lab.views.myst_plugin import put_plugin
from triton_lab.views.nbconvert_exporter import LiveHTMLExporter
from triton_lab.views.notebook_output import SCENE

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "how-to" / "places.md"
RECORD = ROOT / "docs" / "how-to" / "places.json"
# What decides on the outputs: when one of these has changed, the table is to be made again.
SOURCES = (
    *("triton_lab/rich_display.py", "triton_lab/views/frontend_presence.py", "triton_lab/views/html_output.py"),
    *("triton_lab/views/myst_plugin.mjs", "triton_lab/views/nbconvert_exporter.py"),
    *("triton_lab/views/notebook_output.py", "triton_lab/views/widget.py"),
    *(f"triton_lab/views/front/{name}.js" for name in ("loader", "nearby", "output", "picture", "sliders", "widget")),
    *("labextension/src/output.ts", "labextension/vscode/src/renderer.ts"),
)
WAIT_MS = 20_000
KERNEL = """import torch, triton
import triton.language as tl
import triton_lab as lab
@triton.jit
def racy(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + tl.program_id(0))
"""
LAUNCH = "racy[(4,)](torch.zeros(16), BLOCK=16)"
SLIDERS = """def run(block):
    with lab.target("cpu"):
        racy[(4,)](torch.zeros(64), BLOCK=block)
"""
INTERACT = "lab.interact(run, block=[16, 32])"
BARE = "JupyterLab without our extension"
SPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


@dataclass(frozen=True)
class Row:
    """A place and what was seen there: ``yes``, or in words what is there instead."""

    place: str
    version: str
    live: str
    reopened: str
    sliders: str
    findings: str
    seen: str


def digest() -> str:
    """The state of the files that decide on the table."""
    return hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in SOURCES)).hexdigest()[:16]


def seen(where: Locator | Page, of: str) -> str:
    """``yes`` if that can be seen soon."""
    try:
        where.locator(of).first.wait_for(timeout=WAIT_MS)
        return "yes"
    except Error:
        return "no"


def is_live(where: Locator | Page) -> str:
    """Whether a card answers: another tab of it draws."""
    if seen(where, ".tl-card canvas") == "no":
        return "still picture" if where.locator("img[src^='data:image/png']").count() else "no"
    where.get_by_role("tab", name="Grid", exact=True).first.click()
    return seen(where, ".tl-part:visible canvas")


def moved(where: Locator | Page) -> str:
    """Whether the launch runs again when the slider moves."""
    if seen(where, ".tl-sliders input") == "no":
        return "no"
    slider = where.locator(".tl-sliders input").first
    slider.focus()
    slider.press("ArrowRight")
    return seen(where, "text=BLOCK = 32")


FINDING = ".tl-finding"


def notebook() -> nbformat.NotebookNode:
    cells = [f"%%triton cpu\n{KERNEL}{LAUNCH}", f"{SLIDERS}{INTERACT}"]
    return new_notebook(cells=[new_code_cell(one) for one in cells], metadata={"kernelspec": SPEC})


def in_jupyter(browser: Browser, server: JupyterServer, place: str, version: str, extension: bool) -> Row:
    """JupyterLab, or Notebook 7, with our extension and without."""
    folder = server.root / place.replace(" ", "-")
    folder.mkdir()
    nbformat.write(notebook(), folder / "a.ipynb")
    lab = Lab(browser.new_page(viewport=VIEWPORT), server, folder, folder)
    opened = lab.open_in_notebook_7 if place.startswith("Notebook") else lab.open
    with contextlib.nullcontext() if extension else server.extension_disabled():
        made = opened("a.ipynb")
        made.run_all()
        live, findings, sliders = is_live(made.cell(0)), seen(made.cell(0), FINDING), moved(made.cell(1))
        lab.page.wait_for_timeout(3000)  # until the still pictures are there
        made.save()
        lab.shut_down_kernels()
        again = Lab(browser.new_page(viewport=VIEWPORT), server, folder, folder)
        opened = again.open_in_notebook_7 if place.startswith("Notebook") else again.open
        reopened = is_live(opened("a.ipynb").cell(0))
    return Row(place, version, live, reopened, sliders, findings, "in a browser")


def strangers(browser: Browser, server: JupyterServer, version: str) -> Row:
    """A JupyterLab without our extension that does not trust the notebook, which ours has saved."""
    folder = server.root / "stranger"
    folder.mkdir()
    text = (server.root / "JupyterLab" / "a.ipynb").read_text(encoding="utf-8")
    (folder / "a.ipynb").write_text(text.replace("racy", "other"), encoding="utf-8")
    lab = Lab(browser.new_page(viewport=VIEWPORT), server, folder, folder)
    with server.extension_disabled():
        reopened = is_live(lab.open("a.ipynb").cell(0))
    name = f"{BARE}, notebook not trusted"
    return Row(name, version, "-", reopened, "-", "in the picture", "in a browser")


def page_of(browser: Browser, path: Path) -> Page:
    page = browser.new_page()
    page.route("http*://**", lambda route: route.abort())  # what a converter's own page fetches
    page.goto(path.as_uri(), wait_until="domcontentloaded")
    return page


def in_nbconvert(browser: Browser, saved: nbformat.NotebookNode, folder: Path) -> Iterator[Row]:
    """The page that nbconvert makes of the notebook that JupyterLab saved, and of one that has scenes alone."""
    made_by = f"nbconvert {version('nbconvert')}"
    bare = nbformat.from_dict(json.loads(json.dumps(saved)))
    for each in (each for cell in bare.cells for each in cell.outputs):
        each.get("data", {}).pop("text/html", None)
    for place, exporter, node in (
        ("nbconvert --to html", HTMLExporter(), saved),
        ("nbconvert --to triton-lab, an older notebook", LiveHTMLExporter(), bare),
    ):
        path = folder / "page.html"
        path.write_text(exporter.from_notebook_node(node)[0], encoding="utf-8")
        page = page_of(browser, path)
        yield Row(place, made_by, "-", is_live(page), "no kernel", seen(page, FINDING), "in a browser")
        page.close()


MARIMO = """import marimo
app = marimo.App()
@app.cell
def _():
{kernel}
    return lab, racy, torch
@app.cell
def _(lab, racy, torch):
    with lab.cell("cpu"):
        {launch}
    return
@app.cell
def _(lab, racy, torch):
{sliders}
    {interact}
    return
"""


def in_marimo(browser: Browser, python: str, folder: Path) -> Iterator[Row]:
    """marimo's editor, and marimo as an app, whose cells run for each visitor."""
    kernel, sliders = ("\n".join(f"    {line}" for line in text.splitlines()) for text in (KERNEL, SLIDERS))
    path = folder / "app.py"
    path.write_text(MARIMO.format(kernel=kernel, launch=LAUNCH, sliders=sliders, interact=INTERACT), encoding="utf-8")
    version = subprocess.run([python, "-m", "marimo", "--version"], capture_output=True, text=True, check=True).stdout
    name = f"marimo {version.strip()}"
    with marimo(browser, python, "edit", path) as page:
        page.locator(".marimo-cell [data-testid=run-button]:not([disabled])").last.wait_for(timeout=60_000)
        page.locator("[data-testid=run-button]").last.click()  # the page's: it runs all cells that did not run
        page.locator(".tl-sliders").wait_for(timeout=60_000)
        live, findings, sliders = is_live(page), seen(page, FINDING), moved(page)
        page.wait_for_timeout(5000)  # until the outputs are kept
    with marimo(browser, python, "edit", path) as page:
        reopened = is_live(page)
    yield Row("marimo edit", name, live, reopened, sliders, findings, "in a browser")
    with marimo(browser, python, "run", path) as page:
        page.locator(".tl-sliders").wait_for(timeout=60_000)
        live, findings, sliders = is_live(page), seen(page, FINDING), moved(page)
    yield Row("marimo run", name, live, "runs again", sliders, findings, "in a browser")


@contextlib.contextmanager
def marimo(browser: Browser, python: str, command: str, path: Path) -> Iterator[Page]:
    """A page of a server of marimo."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [python, "-m", "marimo", "-y", command, str(path), "--headless", "--no-token", "-p", str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(path.parent)}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=5).close()
                break
            time.sleep(0.1)
        page = browser.new_page(viewport=VIEWPORT)
        page.goto(f"http://127.0.0.1:{port}")
        yield page
        page.close()
    finally:
        process.terminate()
        process.wait()


def in_myst(program: str, saved: Path, folder: Path) -> Row:
    """A site's content as mystmd makes it. Its themes are fetched from the network, so none draws here."""
    shutil.copy(saved, folder / "a.ipynb")
    put_plugin(folder)
    project = "project:\n  title: t\n  plugins: [triton-lab.mjs]\n  toc:\n    - file: a.ipynb\n"
    (folder / "myst.yml").write_text(f"version: 1\n{project}site:\n  template: ./theme\n", encoding="utf-8")
    (folder / "theme").mkdir()
    theme = 'jtex: v1\ntitle: x\nversion: 1.0.0\nkind: site\nbuild:\n  start: "true"\n  install: "true"\n'
    (folder / "theme" / "template.yml").write_text(theme, encoding="utf-8")
    (folder / "theme" / "package.json").write_text('{"name": "x", "version": "1.0.0"}', encoding="utf-8")
    subprocess.run([program, "build", "--site"], cwd=folder, check=True, capture_output=True)
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    content = json.loads((folder / "_build/site/content/index.json").read_text(encoding="utf-8"))
    text = json.dumps(content["mdast"])
    made = text.count('"type": "anywidget"') == 2 and SCENE not in text
    how = "nodes made by mystmd; widget in a bare page"
    return Row("MyST", f"mystmd {version.removeprefix('v')}", "-", "yes" if made else "no", "no kernel", "yes", how)


NOT_RUN = (
    Row(
        "VS Code, with our renderer", "not run", "as saved", "yes", "-", "yes", "expected: the renderer in a bare page"
    ),
    Row("VS Code, without it", "not run", "widget", "HTML", "widget", "yes", "expected: the output in a bare page"),
    Row("Colab", "not run", "widget", "HTML", "widget", "yes", "expected: the output in a bare page"),
)


def measured(options: argparse.Namespace) -> list[Row]:
    """A row for each place."""
    rows: list[Row] = []
    with contextlib.ExitStack() as stack:
        home, work = (Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2))
        browser = stack.enter_context(sync_playwright()).chromium.launch(**options.launch)
        server = stack.enter_context(serve(home))
        lab_version = version("jupyterlab")
        rows.append(in_jupyter(browser, server, "JupyterLab", lab_version, True))
        rows.append(in_jupyter(browser, server, "Notebook 7", version("notebook"), True))
        rows.append(in_jupyter(browser, server, BARE, lab_version, False))
        rows.append(strangers(browser, server, lab_version))
        saved = server.root / "JupyterLab" / "a.ipynb"
        if options.marimo:
            rows += in_marimo(browser, options.marimo, work)
        rows += in_nbconvert(browser, nbformat.read(saved, 4), work)
        if options.myst:
            (work / "myst").mkdir()
            rows.append(in_myst(options.myst, saved, work / "myst"))
    return [*rows, *NOT_RUN]


WORDS = """# Where pictures are live

This table is made by `python -m tests.places`, which drives each place. *Live* is a picture of a running kernel,
*reopened* the saved notebook without its kernel, *sliders* is `lab.interact`. A dash stands where there is no such
thing. Where the version is *not run*, the place could not be run, and the row says what is expected there.

{table}

An output holds its picture in four forms: as a scene, which our extensions for JupyterLab and VS Code draw; as HTML,
which draws the scene itself where scripts may run; as PNG; and in words. The HTML of one picture in a notebook carries
the code that draws, 140 KB, for all others. If that cell is deleted, the others show the PNG until a cell runs again.

- **A JupyterLab without our extension** shows the HTML: live in a notebook that you trust, still in one that you do
  not. Pictures whose tabs the kernel still has to make, and sliders, are widgets there. Without their kernel a reopened
  widget says "model not found".
- **Markdown**: nbconvert prefers the HTML. For pictures as files, run `jupyter nbconvert --to markdown
  --NbConvertBase.display_data_priority=image/png --NbConvertBase.display_data_priority=text/plain`.
- **An older notebook**, or one of the course, has no HTML: `jupyter nbconvert --to triton-lab notebook.ipynb` writes a
  page with live pictures.
- **marimo** has no magics. `with lab.cell("cpu --show grid"):` does what `%%triton cpu --show grid` does. As the last
  value of a cell, a launch, a view or `lab.interact(...)` is live. marimo keeps no picture with a notebook: its place
  stays empty until you run the cell.
- **MyST**: `python -m triton_lab.views.myst_plugin FOLDER` puts a plugin beside `myst.yml`, which names it:
  `plugins: [triton-lab.mjs]` below `project`.
- **VS Code**: see [Use it in VS Code](vscode.md).
- **Colab**: see [Use it in Colab](colab.md).
"""


def rendered(rows: list[Row]) -> str:
    """The page."""
    head = ("place", "version", "live", "reopened", "sliders", "findings", "how it was seen")
    lines = [head, ("---",) * len(head), *(tuple(asdict(row).values()) for row in rows)]
    return WORDS.format(table="\n".join(f"| {' | '.join(line)} |" for line in lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--marimo", metavar="PYTHON", help="a Python that has marimo and what triton-lab needs")
    parser.add_argument("--myst", metavar="PROGRAM", help="mystmd's program")
    parser.add_argument("--chromium", metavar="PROGRAM", help="a Chromium other than Playwright's")
    options = parser.parse_args()
    options.launch = {"executable_path": options.chromium, "args": ["--no-sandbox"]} if options.chromium else {}
    rows = measured(options)
    RECORD.write_text(json.dumps({"sources": digest(), "rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    PAGE.write_text(rendered(rows), encoding="utf-8")
    for row in rows:
        print(*asdict(row).values(), sep=" | ")


if __name__ == "__main__":
    sys.exit(main())
