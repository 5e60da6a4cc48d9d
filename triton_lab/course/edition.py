"""Editions of the course: the teacher's, whose cells have metadata, and the students', without solutions.

A solution stands between ``# BEGIN SOLUTION: what to do`` and ``# END SOLUTION``. The students find a stub in its place
that says what to do: a compiler assertion in a kernel, an error in a function, dots to fill in elsewhere. If the task
is to fix something, they find the lines that are comments after ``# INSTEAD``.

Cells have the metadata of nbgrader (its schema, version 3), so that its own tools accept either edition. In the
students' edition the stubs stay as they are: nbgrader, which replaces all of a solution cell without marks, takes them
for plain cells.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import re
import symtable
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from triton_lab.course.answer_fault import TO_DO

Notebook = dict[str, Any]

_BEGIN = re.compile(r"^(?P<indent>\s*)#+ *BEGIN SOLUTION:? *(?P<todo>.*)$")
_INSTEAD = re.compile(r"^\s*# INSTEAD\b")
_END = re.compile(r"^\s*#+ *END SOLUTION\b")
_CHECK = re.compile(r"\bexercise\(\s*[\"'](?P<name>\w+)[\"']\s*\)\s*\.check\(")
_PROGRESS = re.compile(r"\bcourse\.progress\(")
_TODO = "write this part, then run the check below."


class BrokenSolution(ValueError):
    """A solution begins and does not end, or ends without a beginning."""


def student(source: str | os.PathLike[str], folder: str | os.PathLike[str]) -> list[Path]:
    """Write the student edition of a notebook, or of all in a folder, into ``folder``; returns the files.

    Solutions become stubs. The outputs of cells that contain, use or check a solution are removed; those of other cells
    stay. Images beside the notebooks are copied. Raises BrokenSolution if a solution has no end, and FileNotFoundError
    if there is no notebook.

    >>> import tempfile
    >>> lab.course.student("nowhere.ipynb", tempfile.mkdtemp())
    Traceback (most recent call last):
        ...
    FileNotFoundError: no notebook is at nowhere.ipynb
    """
    found = notebooks_at(Path(source))
    return write({one: stripped(read(one), one.stem) for one in found}, Path(folder))


def notebooks_at(source: Path) -> list[Path]:
    """A notebook, or all in a folder. Raises FileNotFoundError if there is none."""
    found = sorted(source.glob("*.ipynb")) if source.is_dir() else [source] if source.is_file() else []
    if not found:
        raise FileNotFoundError(f"no notebook is at {source}")
    return found


def read(path: Path) -> Notebook:
    """The notebook in a file."""
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def for_this_python(notebook: Notebook) -> Notebook:
    """The notebook with the kernel and the version of this Python: JupyterLab marks it as changed if they differ."""
    try:
        from ipykernel.ipkernel import IPythonKernel
        from ipykernel.kernelspec import get_kernel_dict
    except ModuleNotFoundError:  # nothing here opens notebooks
        return notebook
    made = get_kernel_dict()
    told = notebook["metadata"]
    spec = {"display_name": made["display_name"], "language": made["language"], "name": "python3"}
    language = {**told.get("language_info", {}), **IPythonKernel.language_info}
    return {**notebook, "metadata": {**told, "kernelspec": spec, "language_info": language}}


def as_file(notebook: Notebook) -> bytes:
    """The bytes of a notebook's file."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def write(made: Mapping[Path, Notebook], folder: Path) -> list[Path]:
    """Write a file for each notebook into ``folder``, and copy the images beside them; returns the notebooks' paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, notebook in made.items():
        (folder / path.name).write_bytes(as_file(notebook))
    for image in next(iter(made)).parent.glob("images/*"):
        (folder / "images").mkdir(exist_ok=True)
        (folder / "images" / image.name).write_bytes(image.read_bytes())
    return [folder / path.name for path in made]


def marked(notebook: Notebook, stem: str = "notebook") -> Notebook:
    """The notebook with nbgrader's metadata in the cells that hold a solution or check one."""
    from triton_lab.course.exercise_registry import exercise

    notebook = copy.deepcopy(notebook)
    solutions = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        text, name = source_of(cell), checked(source_of(cell))
        if name is not None:
            points = exercise(name).points
            cell["metadata"]["nbgrader"] = _metadata(f"{name}-check", grade=True, locked=True, points=points)
        elif any(map(_BEGIN.match, text.splitlines())):
            cell["metadata"]["nbgrader"] = _metadata(f"{stem}-solution-{solutions}", solution=True)
            solutions += 1
    return notebook


def stripped(notebook: Notebook, stem: str = "notebook") -> Notebook:
    """The student edition of a notebook: stubs for solutions, and no outputs that depend on them.

    Pictures are outputs, too: that of a launch contains the kernel's text.
    """
    notebook = marked(notebook, stem)
    solved: set[str] = set()  # the names that depend on a solution
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        text, ours = source_of(cell), "nbgrader" in cell["metadata"]
        read, made = _names(text)
        if ours:
            told = cell["metadata"]["nbgrader"]
            told["cell_type"] = "code"
            cell["source"] = without_solutions(text)
            if told.get("solution") and cell["source"] != text:
                del cell["metadata"]["nbgrader"]
        if ours or _PROGRESS.search(text) or not solved.isdisjoint(read):
            cell["outputs"], cell["execution_count"] = [], None
            solved |= made
        else:
            solved -= made
    return notebook


def checked(text: str) -> str | None:
    """The name of the exercise that a cell checks; None if it checks none."""
    found = _CHECK.search(text)
    return None if found is None else found["name"]


def source_of(cell: dict[str, Any]) -> str:
    """A cell's text: a notebook's file may have it as a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def without_solutions(text: str) -> str:
    """A cell with a stub in place of each solution. Raises BrokenSolution."""
    lines = text.split("\n")
    kernels, functions = _bodies(text)
    kept: list[str] = []
    begun: int | None = None
    for number, line in enumerate(lines, start=1):
        begin, end = _BEGIN.match(line), _END.match(line)
        if begin and begun is None:
            begun = number
        elif end and begun is not None:
            kept += _stub(lines[begun - 1 : number], _within(begun, kernels), _within(begun, functions))
            begun = None
        elif begin or end:
            raise BrokenSolution(f"line {number}: a solution {'begins within another' if begin else 'ends unbegun'}")
        elif begun is None:
            kept.append(line)
    if begun is not None:
        raise BrokenSolution(f"line {begun}: a solution begins and does not end")
    return "\n".join(kept)


def _metadata(name: str, **what: Any) -> dict[str, Any]:
    """nbgrader's metadata of a cell, its schema's version 3."""
    plain = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return plain | what


def _stub(lines: list[str], in_kernel: bool, in_function: bool) -> list[str]:
    """The stub for a solution, whose first and last lines are its marks."""
    begin = _BEGIN.match(lines[0])
    assert begin is not None
    given = next((number for number, line in enumerate(lines) if _INSTEAD.match(line)), None)
    if given is not None:
        return [re.sub(r"^(\s*)# ?", r"\1", line) for line in lines[given + 1 : -1]]
    todo = f"{TO_DO}{begin['todo'] or _TODO}"
    if in_kernel:
        return [f"{begin['indent']}tl.static_assert(False, {json.dumps(todo, ensure_ascii=False)})"]
    if in_function:
        return [f"{begin['indent']}raise NotImplementedError({json.dumps(todo, ensure_ascii=False)})"]
    names = dict.fromkeys(found[1] for line in lines if (found := re.match(r"(\w+) *=[^=]", line)))
    return [f"# {todo}", *(f"{name} = ..." for name in names)]


def _bodies(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The first and last lines of all kernels, and of all functions."""
    kernels, functions = [], []
    for node in _functions(as_python(text)):
        place = node.lineno, node.end_lineno or node.lineno
        functions.append(place)
        if any("jit" in ast.unparse(decorator) for decorator in node.decorator_list):
            kernels.append(place)
    return kernels, functions


def _names(text: str) -> tuple[set[str], set[str]]:
    """The names that a cell uses from others, and those that it defines. If it is no Python, each word counts."""
    try:
        tables = [symtable.symtable(as_python(text), "<cell>", "exec")]
    except SyntaxError:
        return set(re.findall(r"\w+", text)), set()
    made = {name.get_name() for name in tables[0].get_symbols() if name.is_assigned() or name.is_imported()}
    for table in tables:
        tables += table.get_children()
    names = (name for table in tables for name in table.get_symbols())
    return {name.get_name() for name in names if name.is_global() and name.is_referenced()} - made, made


def as_python(text: str) -> str:
    """A cell's text with its magics as comments, so that Python can parse it."""
    return "\n".join("#" + line if line.lstrip().startswith(("%", "!")) else line for line in text.split("\n"))


def _functions(python: str) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(ast.parse(python)) if isinstance(node, ast.FunctionDef))


def _within(line: int, places: list[tuple[int, int]]) -> bool:
    return any(first <= line <= last for first, last in places)


def main() -> None:
    """``python -m triton_lab.course.edition SOURCE FOLDER``."""
    import sys

    if len(sys.argv) != 3:
        sys.exit("python -m triton_lab.course.edition NOTEBOOKS FOLDER: write the student edition of NOTEBOOKS there")
    for written in student(sys.argv[1], sys.argv[2]):
        print(written)


if __name__ == "__main__":
    main()
