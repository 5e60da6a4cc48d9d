"""Files and classes can be found by name: a name in two places needs a reason, and no folder holds too many modules.

The reasons are listed here. A name is the field's: what a learner of Triton, compilers, NumPy or Jupyter would guess.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

from tests.imports import folder_of, modules

MOST_MODULES = 25
# Folders that are tables, with a file for each row.
TABLES = {"course/chapter_exercises", "launch/checks/rules"}
CHAPTER = "a file of exercises is named for its chapter"
TWO_ENGINES = "the file in `native/lowering` writes what the file in `interpreter/ops` computes"
# File names that stand in several folders, and why.
FILES = {
    "attention": CHAPTER,
    "atomics": f"{CHAPTER}; {TWO_ENGINES}",
    "control": TWO_ENGINES,
    "descriptors": TWO_ENGINES,
    "dot": TWO_ENGINES,
    "dot_scaled": TWO_ENGINES,
    "dtypes": CHAPTER,
    "integers": TWO_ENGINES,
    "lanes": TWO_ENGINES,
    "matmul": CHAPTER,
    "memory": TWO_ENGINES,
    "shapes": TWO_ENGINES,
    "storage": CHAPTER,
}
PUBLIC = "both are public names: `lab.Access` and `lab.polyhedral.Access`"
# Public classes that stand in several modules, and why. Types of scenes are TypedDicts: their names are JavaScript's.
CLASSES = {
    "Access": PUBLIC,
    "Rule": "a kind of finding is declared by one, and so is a kind of mistake that Triton's front end refuses",
}
# The field's words that end like a participle: operations, kinds of findings, what a compiler gives.
WORDS = {
    "compiled",
    "dot_scaled",
    "loop_carried",
    "misaligned",
    "miscompiled",
    "undefined",
    "uninitialized",
    "unsupported",
    "unverified",
}


def homes(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The modules that each name stands in, of the names that stand in several."""
    found = defaultdict(list)
    for name, module in names:
        found[name].append(module)
    return {name: each for name, each in found.items() if len(each) > 1}


def classes() -> Iterable[tuple[str, str]]:
    for module, path in modules().items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not _is_scene(node):
                yield node.name, module


def _is_scene(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(base) for base in node.bases}
    return "TypedDict" in bases or any(base.endswith("Scene") for base in bases)


def files() -> Iterable[tuple[str, str]]:
    return ((module.rsplit("/", 1)[-1], module) for module, path in modules().items() if path.name != "__init__.py")


def test_no_file_name_stands_twice_without_a_reason() -> None:
    found = homes(files())
    assert {name: found[name] for name in found.keys() - FILES.keys()} == {}
    assert FILES.keys() <= found.keys(), "these reasons have nothing to explain"


def test_no_public_class_stands_twice_without_a_reason() -> None:
    found = homes(classes())
    assert {name: found[name] for name in found.keys() - CLASSES.keys()} == {}
    assert CLASSES.keys() <= found.keys(), "these reasons have nothing to explain"


def test_a_folder_holds_few_modules() -> None:
    counts: dict[str, int] = defaultdict(int)
    for module, path in modules().items():
        if path.name != "__init__.py":
            counts[folder_of(module)] += 1
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES and folder not in TABLES} == {}


def test_a_file_is_named_for_what_it_holds() -> None:
    """By a noun: a participle (`told`, `kept`, `asked`) says what was done, and to what, one has to guess."""
    told = [module for name, module in files() if name.endswith("ed") and name not in WORDS]
    assert told == []
