"""The script of a widget: one text made of modules, and nothing that touches pyplot."""

from __future__ import annotations

import re
import subprocess
import sys

from triton_lab.views.widget import FRONT, script

DECLARATION = re.compile(r"^(?:export )?(?:const|let|class|function) (\w+)", re.MULTILINE)


def test_no_two_modules_declare_the_same_name() -> None:
    names = DECLARATION.findall(script("view.js"))
    assert len(names) == len(set(names))


def test_a_script_imports_nothing_and_exports_its_default_alone() -> None:
    text = script("view.js")
    assert "import {" not in text
    assert re.findall(r"^export .*", text, re.MULTILINE) == ["export default { render };"]


def test_words_never_become_markup() -> None:
    for path in FRONT.glob("*.js"):
        assert "innerHTML" not in path.read_text() and "insertAdjacentHTML" not in path.read_text()


def test_views_are_found_late_and_leave_pyplot_alone() -> None:
    program = (
        "import sys, triton_lab\n"
        "assert 'matplotlib' not in sys.modules and 'anywidget' not in sys.modules\n"
        "import torch\nx = torch.zeros(3)\ntriton_lab.storage(x)._repr_mimebundle_()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
