"""A new picture of launches is two modules, its Python and its script, its row in the table, and its method.

All else follows: tabs, words and help, the declarations for the browser and the table of who draws what. It is added to
a copy of the package, file by file, as somebody would do it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import triton_lab
from tests import warm
from triton_lab.views.declarations import FILES

PACKAGE = Path(triton_lab.__file__).parent
REPOSITORY = PACKAGE.parent

# File 1.
VIEW = '''
from typing import Literal, TypedDict

from triton_lab.views.drawing.scene_bounds import Name, Whole
from triton_lab.views.drawing.drawing_pieces import lines, title
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, unknown
from triton_lab.views.view import View


class CensusScene(TypedDict):
    """How many accesses of this ``sort`` there are."""

    kind: Literal["census"]
    sort: Name
    count: Whole


class Census(View):
    """How many accesses of each kind there are."""

    def __init__(self, launch, kind="load"):
        self.launch, self.kind = launch, kind

    def count(self):
        return sum(one.kind == self.kind for one in self.launch.accesses)

    def title(self):
        return f"{self.launch.kernel}: {self.kind}s"

    def text(self):
        return f"{self.title()}\\n{self.count()} of them"

    def pieces(self):
        return [title(self.title()), lines([(self.text(), "#000000")])]

    def scene(self) -> CensusScene:
        return {"kind": "census", "sort": self.kind, "count": self.count()}


class CensusPanel(Panel):
    def view(self, path, first=0, numbers=NUMBERS):
        if len(path) > 1:
            raise unknown(path)
        return Census(self.launch)

    def drawn(self):
        return [Census(self.launch)]
'''

# File 2.
SCRIPT = """/** Census: how many accesses of each kind there are. */

import { make } from "../drawing/dom.js";
import { countOf } from "../drawing/words.js";

/**
 * @param {import("../scenes.js").CensusScene} scene
 * @returns {import("../part.js").Part}
 */
export function censusOf(scene) {
  return { node: make("div", { class: "tl-census" }, countOf(scene.count, scene.sort)), draw: () => {} };
}
"""

# A row of the table, and a method. (File 3 is its test.)
HOME = "triton_lab.views.launch.census"
ROW = f'    Tab("census", "Census", "how many accesses there are", "{HOME}:CensusPanel"),\n'
METHOD = f'''
    def census(self, kind="load"):
        """Accesses of a kind. Example: ``launch.plot.census("store")``"""
        from {HOME} import Census

        return Census(self._launch, kind)
'''
TABLE, METHODS = "views/launch/card/launch_tabs.py", "views/launch/card/launch_plot.py"
ADDED = {"views/launch/census.py": VIEW, "views/front/launch/census.js": SCRIPT}

ASKED = """
import torch, triton_lab as lab
from triton_lab.examples.vector_add import add
from triton_lab.notebook.cell.magic_options import parse, usage
from triton_lab.views.html_page import page

with lab.target("cpu"), lab.record() as launches:
    add(torch.ones(100), torch.ones(100), block=16)
launch = launches[0]
assert parse("--show census").show == ("census",)
assert "census         how many accesses there are\\n" in usage()
card = launch.plot("census")
scene = card.scene()
assert scene["tabs"][-1] == {"name": "census", "label": "Census"} and scene["opened"] == "census"
assert scene["parts"]["census"] == launch.plot.census().scene() == card.part("census")
assert scene["parts"]["census"] == {"kind": "census", "sort": "load", "count": 2}
assert card.part("census/3")["text"] == "a card has no part 'census/3'"
assert "add_kernel: loads\\n  2 of them" in card.text()
height = lambda shown: shown.figure().get_size_inches()[1]
assert height(card) > height(launch.plot("findings")) + 0.5
assert launch.plot.census("store").text() == "add_kernel: stores\\n1 of them"
assert ".plot.census(...)" in repr(launch.plot) and "census" in card.standalone()["parts"]
assert "function censusOf(scene)" in page(card)
print(lab.__file__)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with the new view in it; its generated files are made anew."""
    package = tmp_path_factory.mktemp("new") / "triton_lab"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "labextension"))
    before = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}

    for name, text in ADDED.items():
        (package / name).write_text(text, encoding="utf-8")
    beside, last = "    # A card shows these beside its tabs.\n", "\n    def __repr__"
    for name, new, before_what in ((TABLE, ROW, beside), (METHODS, METHOD, last)):
        text = (package / name).read_text(encoding="utf-8")
        assert text.count(before_what) == 1
        (package / name).write_text(text.replace(before_what, new + before_what), encoding="utf-8")
    ran(package, "-m", "triton_lab.views.declarations")

    files = [path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    touched = {path.relative_to(package).as_posix() for path in files if before.get(path) != path.read_bytes()}
    generated = {f"views/front/{name}" for name in FILES}
    assert touched - generated == {*ADDED, TABLE, METHODS}
    assert touched & generated == {"views/front/scenes.d.ts", "views/front/kinds.js", "views/front/shapes.js"}
    return package


def ran(package: Path, *arguments: str) -> str:
    """What Python prints that has the copy for its package."""
    env = {**os.environ, "PYTHONPATH": str(package.parent), "TRITON_CACHE_DIR": str(package.parent / "cache")}
    done = subprocess.run(warm.command(*arguments), capture_output=True, text=True, env=env, cwd=package.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_all_that_a_view_has_follows_from_its_modules_and_its_row(copy: Path) -> None:
    assert ran(copy, "-c", ASKED) == str(copy / "__init__.py")


def test_its_script_is_held_to_the_type_that_python_declares(copy: Path) -> None:
    compiler = REPOSITORY / "labextension" / "node_modules" / ".bin" / "tsc"
    if not compiler.exists():
        pytest.skip("no TypeScript beside the extension: `make check-extension` installs it")

    # Beside the script another that is wrong: all is compiled once.
    wrong = copy / "views/front/launch/wrong.js"
    wrong.write_text(SCRIPT.replace("scene.count", "scene.number"), encoding="utf-8")
    command = [compiler, "-p", copy / "views" / "front" / "jsconfig.json"]
    told = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    wrong.unlink()
    assert all("launch/wrong.js(" in line for line in told), told
    assert any(re.search("'number' .* 'CensusScene'", line) for line in told)
