"""One script from many modules: for every entry, and never a wrong one in silence."""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wordings import Wording
from triton_lab.views.script_bundle import (
    ENTRIES,
    FRONT,
    LOADER,
    OUTPUT,
    PAGE,
    PICTURE,
    SAVED,
    SITE,
    VIEW,
    WIDGET,
    CannotAssemble,
    needs,
    script,
)

KINDS = "kinds.js"
RENDERS = ["export default { render };"]
HANDED_OVER = {WIDGET: RENDERS, PICTURE: RENDERS, PAGE: [], SAVED: [], SITE: [], OUTPUT: [], VIEW: []}


def node() -> str:
    """Node comes with the environment that runs the tests."""
    found = shutil.which("node", path=f"{Path(sys.executable).parent}:{Path('/usr/bin')}") or shutil.which("node")
    if found is None:
        pytest.skip("no Node beside this Python: it comes with the test requirements")
    return found


def parses(text: str, path: Path) -> subprocess.CompletedProcess[str]:
    """What Node says of a module."""
    path.write_text(text, encoding="utf-8")
    return subprocess.run([node(), "--check", str(path)], capture_output=True, text=True)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_script_is_one_module_that_needs_no_other(entry: str, tmp_path: Path) -> None:
    text = script(entry)
    assert not re.search(r"^import\b|\bfrom \"", text, re.MULTILINE)
    assert re.findall(r"^export .*", text, re.MULTILINE) == HANDED_OVER[entry]
    # Node refuses a module that declares a name twice.
    found = parses(text, tmp_path / "script.mjs")
    assert found.returncode == 0, found.stderr


def test_every_module_is_part_of_every_picture() -> None:
    """No module that nobody imports, and no entry that draws less than another."""
    adapters = {WIDGET, PAGE, SAVED, SITE, OUTPUT, PICTURE}
    every = {path.relative_to(FRONT).as_posix() for path in FRONT.rglob("*.js")}

    def needed(*entries: str) -> set[str]:
        found, left = set(entries), list(entries)
        while left:
            name = left.pop()
            more = {module for _, module in needs(name, (FRONT / name).read_text())} - found
            left += more
            found |= more
        return found

    # What only the adapters need is how a scene comes in, and draws nothing.
    assert every - {LOADER} == needed(*adapters)
    assert every - {LOADER} - needed(VIEW) == adapters | {
        "packed.js",
        "check.js",
        "shapes.js",
        "nearby.js",
        "sliders.js",
    }
    assert all(VIEW in needed(name) for name in adapters)


def test_the_scripts_lie_in_the_folders_of_the_views() -> None:
    """Folder by folder as in Python; what draws cells knows no view, and views of one kind none of another."""
    folders = {path.parent.name for path in FRONT.parent.glob("*/__init__.py")}
    # Lazy graphs and proofs are boxes, lines and words, which drawing/ draws for everybody.
    assert {path.name for path in FRONT.iterdir() if path.is_dir()} == folders - {"lazy", "proofs"}
    doors = {WIDGET, PAGE, SAVED, SITE, OUTPUT, PICTURE, "nearby.js", VIEW, KINDS}
    for path in FRONT.rglob("*.js"):
        name = path.relative_to(FRONT).as_posix()
        known = {"drawing", path.parent.name} | ({""} if path.parent.name != "drawing" else set())
        known |= {"launch"} if path.parent.name == "compiled" else set()  # whose programs' passes are shown
        for _, needed in needs(name, path.read_text(encoding="utf-8")):
            below = needed == "localization.js" or posixpath.dirname(needed) in known
            assert name in doors or (below and needed not in doors), (name, needed)


def test_code_is_kept_where_comments_go(tmp_path: Path) -> None:
    lines = [
        "/** Told. */",
        "/** @type {any} */ (a).b = 1;",
        "  /** Two",
        "   * lines. */",
        "c = '*/';",
        "/** x */",
        "",
    ]
    (tmp_path / "one.js").write_text("\n".join(lines))
    assert script("one.js", tmp_path).splitlines() == ["/** @type {any} */ (a).b = 1;", "c = '*/';"]


MODULES = {
    "main.js": 'import { twice } from "./helper.js";\nconst four = twice(2);\n',
    "helper.js": "export function twice(x) {\n  return 2 * x;\n}\nconst own = 1;\n",
}


@pytest.mark.parametrize(
    ("file", "old", "new", "label", "facts"),
    [
        ("main.js", "const four", "const own", "twice", {"name": "own", "file": "helper.js"}),
        ("main.js", "const four", "async function twice", "twice", {"name": "twice", "file": "helper.js"}),
        ("helper.js", "function twice", "function double", "export", {"name": "'twice'", "file": "helper.js"}),
        ("helper.js", "export function", "function", "export", {"name": "'twice'", "file": "helper.js"}),
        ("main.js", "{ twice }", "{ twice as two }", "export", {"name": "'twice as two'", "file": "helper.js"}),
        ("main.js", "./helper.js", "../front/helper.js", "missing", {"file": "../front/helper.js"}),
        (
            "main.js",
            "import { twice }",
            "import * as helper",
            "form",
            {"line": 'import * as helper from "./helper.js";'},
        ),
        ("main.js", "import { twice }", "import twice", "form", {"line": 'import twice from "./helper.js";'}),
        ("main.js", "const four", "const { four }", "form", {"line": "const { four } = twice(2);"}),
        ("helper.js", "const own = 1;", "const own = 1;\nexport { own };", "form", {"line": "export { own };"}),
        ("helper.js", "export function", 'import { four } from "./main.js";\nexport function', "itself", {}),
    ],
)
def test_what_would_join_wrongly_is_refused(
    tmp_path: Path, file: str, old: str, new: str, label: str, facts: dict[str, str], wording: Wording
) -> None:
    for name, text in MODULES.items():
        (tmp_path / name).write_text(text.replace(old, new) if name == file else text)
    module = file if label == "form" else "main.js"
    with wording.raises(CannotAssemble, label, module=module, **facts):
        script("main.js", tmp_path)


def test_folders_are_joined_by_the_way_between_them(tmp_path: Path, wording: Wording) -> None:
    """Each module once, in whichever folder it is asked for, and two of one name in two folders."""
    main = 'import { twice } from "./helper.js";\nimport { four } from "./inner/main.js";\nconst eight = twice(four);\n'
    inner = 'import { twice } from "../helper.js";\nexport const four = twice(2);\n'
    modules = {"main.js": main, "inner/main.js": inner, "helper.js": MODULES["helper.js"]}
    (tmp_path / "inner").mkdir()
    for name, text in modules.items():
        (tmp_path / name).write_text(text)
    lines = [line for line in script("main.js", tmp_path).splitlines() if line.startswith(("function", "const"))]
    assert lines == ["function twice(x) {", "const own = 1;", "const four = twice(2);", "const eight = twice(four);"]
    (tmp_path / "inner/main.js").write_text(inner + "const eight = 8;\n")
    (tmp_path / "door.js").write_text('import { four } from "./inner/main.js";\nconst eight = four;\n')
    with wording.raises(CannotAssemble):
        script("door.js", tmp_path)


def test_what_is_refused_would_have_been_wrong(tmp_path: Path) -> None:
    """The same fault to Node: a name that two modules declare."""
    joined = "".join(MODULES.values()).replace('import { twice } from "./helper.js";\n', "").replace("export ", "")
    assert parses(joined, tmp_path / "one.mjs").returncode == 0
    assert "already been declared" in parses(joined.replace("four", "own"), tmp_path / "two.mjs").stderr
