"""What operations do is declared in `ir.traits`: no list of their names stands elsewhere.

A list is a set, tuple, list or dict that names two operations or more. Two shapes are no knowledge of operations but
ways to run them or to speak of them: a dict from names to functions or to texts for users, and, in an engine, a dict
from names to what it emits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tests import sources
from triton_lab.ir import traits

ENGINES = ("interpreter/ops/", "native/lowering/")
# Lists that are left: how many in each file, and why.
LEFT = {
    "compiled/lines/missing_instructions.py": (1, "instructions of all stages, PTX among them"),
    "launch/saving/admission.py": (1, "measured costs on NumPy"),
}


def names_in(parts: Iterable[ast.expr | None]) -> int:
    """How many of the parts name an operation."""
    found = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return sum(traits.known(name) for name in found)


def is_implementation(value: ast.expr) -> bool:
    """Whether a dict's value runs an operation, or is a text for users, which `N_` marks."""
    if isinstance(value, ast.Call):
        return not isinstance(value.func, ast.Name) or value.func.id not in {"frozenset", "set", "slice", "tuple"}
    return isinstance(value, (ast.Name, ast.Attribute, ast.Lambda))


def is_list(node: ast.AST, engine: bool) -> bool:
    """Whether a part of a program is a list of operations, and no table of implementations."""
    if isinstance(node, (ast.Set, ast.Tuple, ast.List)):
        return names_in(node.elts) >= 2
    if isinstance(node, ast.Call):
        return names_in(node.args) >= 2
    if isinstance(node, ast.BoolOp):  # a == "one" or a == "other"
        compared = [part for each in node.values if isinstance(each, ast.Compare) for part in each.comparators]
        return names_in(compared) >= 2
    if isinstance(node, ast.MatchOr):
        return names_in(each.value for each in node.patterns if isinstance(each, ast.MatchValue)) >= 2
    if isinstance(node, ast.Constant) and isinstance(node.value, str):  # "one other".split()
        return sum(traits.known(word) for word in node.value.split()) >= 2
    if not isinstance(node, ast.Dict) or names_in(node.keys) < 2 or engine:
        return False
    return not all(is_implementation(value) for key, value in zip(node.keys, node.values, strict=True) if key)


def lists(file: sources.Source) -> list[int]:
    """The lines of lists. What a decorator is called with is what the function below it implements."""
    engine = file.name.startswith(ENGINES)
    functions = (node for node in file.nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    decorators = {id(each) for node in functions for each in node.decorator_list}
    return [node.lineno for node in file.nodes if id(node) not in decorators and is_list(node, engine)]  # type: ignore[attr-defined]


def test_no_list_of_operations_stands_outside_of_ir() -> None:
    found = {
        file.name: lines for file in sources.python() if not file.name.startswith("ir/") and (lines := lists(file))
    }
    more = {name: lines for name, lines in found.items() if len(lines) > LEFT.get(name, (0, ""))[0]}
    assert not more, "declare in ir/traits what these operations have in common, and ask it"
    fewer = {name: len(found.get(name, ())) for name, (count, _) in LEFT.items() if len(found.get(name, ())) < count}
    assert not fewer, "good: lower the numbers in LEFT"


EXAMPLES = {
    'op.name in ("arith.addf", "arith.subf")': 1,
    'X = frozenset({"arith.addf", "arith.subf"})': 1,
    'op.name == "arith.addf" or op.name == "arith.subf"': 1,
    'X = {"arith.addf": 2.0, "arith.subf": 2.0}': 1,
    'X = {"arith.addf": np.add, "arith.subf": lambda a, b: a - b, "tt.dot": N_("a product")}': 0,
    'op.name == "arith.addf"': 0,
    'ops_of(launch, "arith.addf", "arith.subf")': 1,
    '"arith.addf arith.subf".split()': 1,
    'match name:\n    case "arith.addf" | "arith.subf":\n        pass': 1,
}


def test_lists_are_told_from_tables_of_implementations() -> None:
    for text, count in EXAMPLES.items():
        assert sum(is_list(node, engine=False) for node in ast.walk(ast.parse(text))) == count, text
