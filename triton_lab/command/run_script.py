"""Runs a script as Python would: its arguments, folder on the path, ``__main__``, exit code and exceptions."""

from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pkgutil
import shlex
import sys
import threading
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, ModuleType

import click

from triton_lab.localization import _

INTERRUPTED = 130  # the exit code that shells use for a program ended by Ctrl-C


@dataclass(frozen=True)
class Script:
    """The script to run: a file, a folder or a zip file with a ``__main__.py``, or with ``module`` a module's name."""

    name: str
    arguments: tuple[str, ...] = ()
    module: bool = False

    def __str__(self) -> str:
        return f"-m {self.name}" if self.module else self.name


@dataclass(frozen=True)
class ScriptEnd:
    """The end of a script: Python's exit ``code``, and the exception that ended it; None if it ran to its end."""

    code: int = 0
    error: BaseException | None = None


class NothingToRun(click.UsageError):
    """Python's message about a script that cannot be run, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint

    def format_message(self) -> str:
        return f"{self.message}\n{self.hint}"


def run(script: Script) -> ScriptEnd:
    """Run ``script`` as ``__main__`` in this process, to the end of its threads.

    No exception of the script passes through. Raises click's UsageError, in Python's words, if there is nothing to run.
    """
    before = threading.enumerate()
    with _restored():
        try:
            main, code = (_module if script.module else _file)(script.name)
        except click.UsageError:
            raise
        except BaseException as error:  # it cannot be read, or its package cannot be imported
            return _ended(error)
        sys.argv = [main.__file__ if script.module and main.__file__ else script.name, *script.arguments]
        sys.modules["__main__"] = main
        try:
            exec(code, main.__dict__)
        except BaseException as error:
            return _ended(error)
        finally:
            _wait_for_threads(before)
    return ScriptEnd()


def _ended(error: BaseException) -> ScriptEnd:
    """The end by an exception. A text passed to `sys.exit` is printed, and counts as 1."""
    if not isinstance(error, SystemExit):
        return ScriptEnd(INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1, error)
    if error.code is None or isinstance(error.code, int):
        return ScriptEnd((error.code or 0) & 0xFF, error)
    print(error.code, file=sys.stderr)
    return ScriptEnd(1, error)


def _wait_for_threads(before: Sequence[threading.Thread]) -> None:
    """Wait for threads that are no daemons, as Python does at its end, except those that ran ``before`` the script."""
    with contextlib.suppress(KeyboardInterrupt):
        for thread in threading.enumerate():
            if thread not in before and not thread.daemon:
                thread.join()


# --- Preparations as in Python --------------------------------------------------------------------


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    """Restore the arguments, the path, ``__main__`` and the current folder afterwards."""
    argv, path, main, folder = sys.argv, list(sys.path), sys.modules["__main__"], os.getcwd()
    try:
        yield
    finally:
        sys.argv, sys.path[:], sys.modules["__main__"] = argv, path, main
        with contextlib.suppress(OSError):  # the script may have removed it
            os.chdir(folder)


def _file(name: str) -> tuple[ModuleType, CodeType]:
    """The module and the code of a file, or of the ``__main__.py`` in a folder or a zip file."""
    path = os.path.abspath(name)
    importer = pkgutil.get_importer(path) if os.path.exists(path) else None
    if importer is not None:  # no plain file
        _begin_path_with(path)
        spec = importer.find_spec("__main__", None)
        if spec is None:
            kind = "a folder" if os.path.isdir(path) else "an archive"
            raise NothingToRun(
                _("can't find '__main__' module in '{name}'").format(name=name),
                _("It is {kind}: name a script in it.").format(kind=kind),
            )
        return _found(spec)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise click.UsageError(
            _("can't open file '{name}': {strerror}").format(name=name, strerror=error.strerror)
        ) from None
    _hold_to_python(name, source)
    _begin_path_with(os.path.dirname(os.path.realpath(path)))
    main = _main(path, importlib.machinery.SourceFileLoader("__main__", path), None)
    return main, compile(source, path, "exec", dont_inherit=True)


def _hold_to_python(name: str, source: bytes) -> None:
    """Check that a file can be Python. Raises UsageError otherwise, which says what the file is."""
    if name.endswith(".ipynb"):
        raise click.UsageError(_of_notebook(name, source))
    zero = source.find(b"\0")
    if zero >= 0:
        line = source.count(b"\n", 0, zero) + 1
        raise click.UsageError(
            _("'{name}' is not a Python script: it holds binary data (a zero byte in line {line})").format(
                name=name, line=line
            )
        )
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(source).readline)[0]
    except SyntaxError:  # the encoding does not exist, which compiling reports; or the first lines do not decode
        encoding = "" if b"coding" in b"".join(source.split(b"\n")[:2]) else "utf-8"
    lines = enumerate(source.split(b"\n"), 1) if encoding else ()
    wrong = next((number for number, one in lines if _is_undecoded(one, encoding)), None)
    if wrong is not None:
        raise click.UsageError(
            _(
                "'{name}' is not a Python script: line {wrong} is not in {encoding}. Save it as UTF-8, "
                "or name its encoding in the first line: # -*- coding: latin-1 -*-"
            ).format(name=name, wrong=wrong, encoding=encoding)
        )


def _is_undecoded(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        return True
    return False


def _of_notebook(name: str, source: bytes) -> str:
    """What to do with a notebook, which is no script; or why it is no notebook."""
    try:
        found = json.loads(source)
    except (ValueError, RecursionError) as error:
        at = _("line {line}: {text}")
        where = at.format(line=error.lineno, text=error.msg) if isinstance(error, json.JSONDecodeError) else str(error)
        return _("'{name}' is not a readable notebook: its JSON is invalid ({where})").format(name=name, where=where)
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list):
        return _("'{name}' is not a readable notebook: it has no cells").format(name=name)
    return _(
        "'{name}' is a notebook, but must be a script. Open it with `triton-lab lab`, or convert "
        "it with `jupyter nbconvert --to script {name2}`"
    ).format(name=name, name2=shlex.quote(name))


def _module(name: str) -> tuple[ModuleType, CodeType]:
    """The module and the code of a module, or of a package's ``__main__``."""
    _begin_path_with(os.getcwd())
    spec = _spec(name)
    if spec.submodule_search_locations is not None:
        spec = _spec(f"{name}.__main__", _("'{name}' is a package and cannot be directly executed").format(name=name))
    return _found(spec)


def _spec(name: str, missing: str = "") -> importlib.machinery.ModuleSpec:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(error.name + ".")):
            raise  # an existing package imports something that is missing
        spec = None
    except ValueError:  # an entry in sys.modules without a spec
        spec = None
    if spec is None:
        raise click.UsageError(missing or _("No module named {name}").format(name=name))
    return spec


def _begin_path_with(folder: str) -> None:
    """Put the folder first on the path, in place of the entry made for this program; ``python -P`` has none."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[:1] = [folder]


def _found(spec: importlib.machinery.ModuleSpec) -> tuple[ModuleType, CodeType]:
    loader = spec.loader
    code = getattr(loader, "get_code", lambda name: None)(spec.name)  # not all with this method derive from the ABC
    if code is None:
        raise click.UsageError(_("No code object available for {name}").format(name=spec.name))
    return _main(spec.origin or code.co_filename, loader, spec), code


def _main(file: str, loader: object, spec: importlib.machinery.ModuleSpec | None) -> ModuleType:
    """An empty ``__main__``. Its spec lets multiprocessing start it again in new processes."""
    main = ModuleType("__main__")
    names = {"__file__": file, "__cached__": None, "__loader__": loader, "__spec__": spec, "__builtins__": builtins}
    main.__dict__.update(names, __package__=spec.parent if spec is not None else None)
    return main
