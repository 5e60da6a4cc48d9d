"""What a widget is made of, and nothing that touches pyplot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests import warm
from triton_lab.views import script_bundle, widget
from triton_lab.views.scenes import WordsScene
from triton_lab.views.script_bundle import FRONT


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
    subprocess.run(warm.command("-c", program), check=True)


def test_another_style_sheet_is_another_name_to_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A page keeps the first sheet of a name; a notebook may hold pictures of an older version beside new ones."""
    names = []
    for rule in ("a {}", "b {}", "a {}"):
        shutil.copytree(FRONT, tmp_path, dirs_exist_ok=True)
        (tmp_path / "view.css").write_text(rule)
        monkeypatch.setattr(script_bundle, "FRONT", tmp_path)
        widget._class_of.cache_clear()
        names.append(widget.scene_widget(WordsScene(kind="words", text=""))._anywidget_id)
    widget._class_of.cache_clear()
    assert names[0] == names[2] != names[1]
