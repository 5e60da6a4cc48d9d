"""A new picture of launches is a module and its row and method in the table; all else follows.

It is added to a copy of the package, file by file, as somebody would do it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import triton_lab

PACKAGE = Path(triton_lab.__file__).parent

# File 1. (Drawn by a scene that the front has; a drawing of its own is one more module in `front/`.)
VIEW = '''
from triton_lab.views.drawing.pieces import lines, stack, title
from triton_lab.views.launch.tab import NUMBERS, Panel, unknown
from triton_lab.views.view import View


class Census(View):
    """How many accesses of each kind there are."""

    def __init__(self, launch, kind="load"):
        self.launch, self.kind = launch, kind

    def title(self):
        return f"{self.launch.kernel}: {self.kind}s"

    def text(self):
        return f"{self.title()}\\n{sum(one.kind == self.kind for one in self.launch.accesses)} of them"

    def pieces(self):
        return [title(self.title()), lines([(self.text(), "#000000")])]

    def figure(self):
        return stack(self.pieces())

    def scene(self):
        return {"kind": "words", "text": self.text()}


class CensusPanel(Panel):
    def view(self, path, first=0, numbers=NUMBERS):
        if len(path) > 1:
            raise unknown(path)
        return Census(self.launch)

    def drawn(self):
        return [Census(self.launch)]
'''

# File 2: a row, and a method.
ROW = '    Tab("census", "Census", "how many accesses there are", "triton_lab.views.census:CensusPanel"),\n'
METHOD = '''
    def census(self, kind="load"):
        """Accesses of a kind. Example: ``launch.plot.census("store")``"""
        from triton_lab.views.census import Census

        return Census(self._launch, kind)
'''

ASKED = """
import torch, triton_lab as lab
from triton_lab.examples.vector_add import add
from triton_lab.notebook.options import USAGE, parse
from triton_lab.views.page import page

with lab.target("cpu"), lab.record() as launches:
    add(torch.ones(100), torch.ones(100), block=16)
launch = launches[0]
assert parse("--show census").show == ("census",)
assert "census    how many accesses there are\\n" in USAGE
card = launch.plot("census")
scene = card.scene()
assert scene["tabs"][-1] == {"name": "census", "label": "Census"} and scene["opened"] == "census"
assert scene["parts"]["census"] == launch.plot.census().scene() == card.part("census")
assert card.part("census/3")["text"] == "a card has no part 'census/3'"
assert "add_kernel: loads\\n  2 of them" in card.text()
height = lambda shown: shown.figure().get_size_inches()[1]
assert height(card) > height(launch.plot("findings")) + 0.5
assert launch.plot.census("store").text() == "add_kernel: stores\\n1 of them"
assert ".plot.census(...)" in repr(launch.plot) and "census" in card.standalone()["parts"]
assert page(card)
print(lab.__file__)
"""


def test_a_new_view_is_one_module_and_its_entry_in_the_table(tmp_path: Path) -> None:
    copy = tmp_path / "triton_lab"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "labextension"))
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}

    (copy / "views" / "census.py").write_text(VIEW, encoding="utf-8")
    table = copy / "views" / "launch_plot.py"
    text = table.read_text(encoding="utf-8")
    beside, last = "    # A card shows these beside its tabs.\n", "\n    def __repr__"
    assert text.count(beside) == text.count(last) == 1
    table.write_text(text.replace(beside, ROW + beside).replace(last, METHOD + last), encoding="utf-8")

    touched = [path for path in copy.rglob("*") if path.is_file() and before.get(path) != path.read_bytes()]
    assert {path.name for path in touched} == {"census.py", "launch_plot.py"}
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(copy / "__init__.py")
