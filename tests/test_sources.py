"""Each source of the package is read once, until it is forgotten."""

from __future__ import annotations

import ast
from pathlib import Path

from tests import sources


def test_a_file_is_parsed_once_until_it_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "a.py").write_text("y = 'ü'\n", encoding="utf-8")
    first, second = sources.python(tmp_path)
    assert [first.path.name, second.path.name, first.text] == ["a.py", "b.py", "y = 'ü'\n"]
    assert [type(node) for node in second.nodes] == [type(node) for node in ast.walk(ast.parse("x = 1\n"))]
    assert sources.source(tmp_path / "a.py") is first
    sources.forget()
    assert sources.source(tmp_path / "a.py") is not first


def test_the_packages_files_are_named_by_their_path_in_it() -> None:
    assert sources.source(sources.PACKAGE / "ir" / "parse.py").name == "ir/parse.py"
