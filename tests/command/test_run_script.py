"""A script runs as Python runs it: Python itself, in a process of its own, is what it is held to."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
import zipfile
from pathlib import Path

import click
import pytest

from tests.wordings import Wording
from triton_lab.command import exception_text
from triton_lab.command.run_script import INTERRUPTED, Script, run

# Scripts that end in every way, and tell what they see of the world.
ENDINGS = {
    "the end": "print('fine')",
    "exit": "import sys; sys.exit()",
    "exit 3": "import sys; sys.exit(3)",
    "exit 257": "import sys; sys.exit(257)",
    "exit -1": "import sys; sys.exit(-1)",
    "exit with a text": "import sys; sys.exit('no more')",
    "quit": "quit(4)",
    "an exception": "def f(x):\n    return 1 / x\n\nf(0)",
    "a chain": "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('größe') from error",
    "a group": "raise SystemExit(None)",
    "a syntax error": "x = (1",
    "a coding cookie": "# -*- coding: latin-1 -*-\nprint('\\xe9')",
    "a hook": "import sys\nsys.excepthook = lambda *error: print('hooked', error[0].__name__)\nraise KeyError",
    "an interrupt": "raise KeyboardInterrupt",
    "argv": "import sys; print(sys.argv[1:])",
    "path": "import sys, os; print(os.path.realpath(sys.path[0]))",
    "names": "SOME = {'SOME', '__annotations__', '__cached__'}\n"  # not in every Python
    "print(__name__, __doc__, __package__, __spec__, __file__, sorted({*vars()} - SOME), type(__loader__).__name__)",
    "main": "import sys; print(sys.modules['__main__'].__dict__ is globals(), __builtins__)",
    "neighbours": "import neighbour; print(neighbour.x)",
    "a thread": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(.1), print('late'))).start()",
    "future": "def f(x: nothing = 1): pass",
}


def by_python(*words: str, folder: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, env=environment()
    )
    return done.returncode & 0xFF, done.stdout, done.stderr


def environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith(("COV", "PYTHONPATH"))}


def by_us(script: Script, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    ended = run(script)
    if ended.error is not None and not isinstance(ended.error, SystemExit):
        exception_text.tell(ended.error, False)
    sys.stdout.flush()
    out, err = capfd.readouterr()
    if (handled := sys.exc_info()[1]) is not None:
        # Seen once in a run of all tests: an exception that this thread handled before stays, and is told first.
        told = "".join(traceback.format_exception(handled))
        err = err.removeprefix(f"{told}\nDuring handling of the above exception, another exception occurred:\n\n")
    return ended.code, out, err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a name that no encoding makes easy, and a module beside the scripts."""
    folder = tmp_path / "Größe 1"
    folder.mkdir()
    (folder / "neighbour.py").write_text("x = 5")
    monkeypatch.chdir(folder)
    monkeypatch.delitem(sys.modules, "neighbour", raising=False)
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    return folder


@pytest.mark.parametrize("text", ENDINGS.values(), ids=ENDINGS)
def test_a_script_does_what_it_does_in_python(text: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "skript ü.py").write_text(text, encoding="latin-1" if "latin" in text else "utf-8")
    expected = by_python("skript ü.py", "--flag", "ä b", folder=folder)
    code, out, err = by_us(Script("skript ü.py", ("--flag", "ä b")), capfd)
    if "KeyboardInterrupt" in text:
        # Python ends itself with the signal, of which a shell makes 130.
        assert code == INTERRUPTED and err == expected[2]
    else:
        assert (code, out, err) == expected


def test_modules_packages_folders_and_zip_files_run_as_they_do_in_python(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told = "import sys; print(__name__, __package__, __spec__.name, sys.argv[1:], sys.path[0]); import neighbour"
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("print('imported')")
    (package / "__main__.py").write_text(told)
    (package / "inner.py").write_text("from . import __main__\n")
    plain = folder / "plain"
    plain.mkdir()
    (plain / "__main__.py").write_text(told.removesuffix("import neighbour"))
    with zipfile.ZipFile(folder / "zipped.zip", "w") as archive:
        archive.writestr("__main__.py", told.removesuffix("import neighbour"))
    for words, script in [
        (("-m", "package", "a"), Script("package", ("a",), module=True)),
        (("plain", "-m"), Script("plain", ("-m",))),
        (("zipped.zip",), Script("zipped.zip")),
        (("-m", "neighbour"), Script("neighbour", module=True)),
    ]:
        for name in [name for name in sys.modules if name.split(".")[0] in ("package", "neighbour")]:
            del sys.modules[name]
        assert by_us(script, capfd) == by_python(*words, folder=folder), words


@pytest.mark.parametrize(
    ("script", "label", "facts"),
    [
        (Script("nowhere.py"), "file", {"file": "nowhere.py"}),
        (Script("empty"), "folder", {"main": "__main__", "folder": "empty"}),
        (Script("no.such", module=True), "module", {"module": "no.such"}),
        (Script("bare", module=True), "package", {"package": "bare"}),
    ],
)
def test_what_is_not_there_is_told_as_python_tells_it(
    script: Script, label: str, facts: dict[str, str], folder: Path, wording: Wording
) -> None:
    (folder / "empty").mkdir()
    (folder / "bare").mkdir()
    (folder / "bare" / "__init__.py").write_text("")
    with wording.raises(click.UsageError, label, **facts):
        run(script)


def test_a_module_that_imports_what_is_not_there_fails_by_itself(folder: Path) -> None:
    (folder / "lame.py").write_text("import no_such_thing")
    assert isinstance(run(Script("lame", module=True)).error, ModuleNotFoundError)


def test_afterwards_all_is_as_it_was(folder: Path) -> None:
    (folder / "a.py").write_text("import os, sys; os.chdir('/'); sys.argv[:] = []; sys.path.insert(0, 'x')")
    before = list(sys.argv), list(sys.path), sys.modules["__main__"], os.getcwd()
    run(Script("a.py"))
    assert (sys.argv, sys.path, sys.modules["__main__"], os.getcwd()) == before


def test_the_script_ends_when_its_last_thread_does(folder: Path) -> None:
    (folder / "a.py").write_text("import threading, time\nthreading.Thread(target=time.sleep, args=(0.2,)).start()")
    before = threading.active_count()
    run(Script("a.py"))
    assert threading.active_count() == before


NO_SCRIPTS = {
    "zero bytes": ("x.py", b"\x7fELF\0\0", "binary data"),
    "bytes behind a line": ("x.py", b"x = 1\ny = '\0'\n", "line 2"),
    "another encoding": ("x.py", b"print(1)\nprint('\xe9')\n", "line 2 is not in utf-8"),
    "another encoding than it says": ("x.py", b"# coding: ascii\n\nx = '\xff'\n", "line 3 is not in ascii"),
    "a notebook": ("x.ipynb", b'{"cells": [], "nbformat": 4}', "jupyter nbconvert --to script x.ipynb"),
    "a broken notebook": ("x.ipynb", b'{"cells": [\n', "JSON is invalid (line 2"),
    "an endless notebook": ("x.ipynb", b"[" * 100_000, "JSON is invalid"),
    "no notebook": ("x.ipynb", b"[1]", "has no cells"),
}


@pytest.mark.parametrize("what", NO_SCRIPTS)
def test_a_file_that_is_no_script_is_told_by_what_it_is(what, tmp_path, monkeypatch):
    name, content, told = NO_SCRIPTS[what]
    (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.UsageError) as caught:
        run(Script(name))
    assert told in str(caught.value) and name in str(caught.value)


def test_a_folder_is_told_to_be_one(tmp_path, monkeypatch, wording: Wording):
    monkeypatch.chdir(tmp_path)
    os.mkdir("folder")
    with pytest.raises(click.UsageError) as caught:
        run(Script("folder"))
    wording(caught.value.format_message().splitlines()[-1])
    assert "'folder'" in caught.value.format_message()
