"""What is told of the commonest mistakes in kernels: real kernels, refused by Triton's own front end."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import triton.language as tl
from triton.compiler.errors import CompilationError

from tests.notebook import mistaken
from tests.wordings import Wording
from triton_lab.interpreter.kernel_errors import EndlessRecursion
from triton_lab.notebook.cell.error_display import rendering
from triton_lab.notebook.mistakes import type_mismatches, unknown_names
from triton_lab.notebook.mistakes.assignments import reaching
from triton_lab.notebook.mistakes.constant_sizes import shape_of_variables
from triton_lab.notebook.mistakes.front_end_error import Operand
from triton_lab.notebook.mistakes.mistake_table import RULES
from triton_lab.notebook.mistakes.type_names import type_told
from triton_lab.notebook.mistakes.unsupported_python import index_pointer

FILE = str(Path(mistaken.__file__))
SOURCE = Path(FILE).read_text().splitlines()
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
X = torch.arange(128.0)
# The kernels with a mistake.
TOLD = [name for name, value in vars(mistaken).items() if "x_ptr" in getattr(value, "arg_names", ())]
# What a launch passes beside a tensor, 64 and BLOCK=16.
SECOND = {"tensor_for_a_stride": X, "tensor_for_a_size": X, "tuple_for_a_size": X.shape, "none_for_a_size": None}
BLOCK = {"arange_of_any_size": 100}


@functools.lru_cache
def told(name: str) -> str:
    """What a cell shows of the launch of a kernel of `mistaken`."""
    kernel = getattr(mistaken, name)
    with pytest.raises((CompilationError, RuntimeError, EndlessRecursion)) as caught:
        kernel[(1,)](X, SECOND.get(name, 64), BLOCK=BLOCK.get(name, 16))
    return COLOURS.sub("", "\n".join(rendering(caught.value, FILE)))


def marked(name: str, mark: str) -> list[int]:
    """The lines with ``# mark`` of a kernel, and of what stands between the kernel before it and itself."""
    tree = ast.parse("\n".join(SOURCE))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    found: list[int] = []
    for function in functions:
        lines = range(function.lineno, (function.end_lineno or 0) + 1)
        found.extend(line for line in lines if SOURCE[line - 1].endswith(f"# {mark}"))
        if function.name == name:
            break
        if function.name in TOLD:
            found.clear()
    return found


def test_there_are_all_kernels_with_a_mistake() -> None:
    assert len(TOLD) >= 105


@pytest.mark.parametrize("name", TOLD)
def test_a_mistake_is_told_in_words_with_its_lines_and_a_remedy(name: str, wording: Wording) -> None:
    text = told(name)
    here, born = marked(name, "here"), marked(name, "born")
    places = [int(line) for line in re.findall(r"^  this cell, line (\d+)$", text, re.MULTILINE)]
    assert places[0] == here[0]
    assert set(born) <= set(places)
    assert text.count("\n    ") >= 2, "the line stands there, with carets"
    # The message and the remedy, without source lines and Triton's own words. Lines count from the kernel's first.
    lines = [line for line in text.splitlines() if not line.startswith(("    ", "  Triton says: ", "  this cell, "))]
    first = min(places)
    relative = re.sub(r"\blines? \d+(?: and \d+)?", lambda found: moved(found[0], -first), "\n".join(lines))
    wording(relative, name)


def moved(text: str, by: int) -> str:
    """A text with another number of each line."""
    return re.sub(r"\d+", lambda found: f"{int(found[0]) + by:+d}", text)


@pytest.mark.parametrize("name", TOLD)
def test_tritons_own_words_stand_once_and_short_at_the_end(name: str) -> None:
    lines = told(name).splitlines()
    says = [k for k, line in enumerate(lines) if line.startswith("  Triton says: ")]
    assert len(says) <= 1
    assert all(k == len(lines) - 1 and len(lines[k]) < 330 for k in says)


def test_an_error_that_no_rule_knows_is_told_in_tritons_words_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_lab.notebook.mistakes.mistake_table.RULES", ())
    text = told.__wrapped__("wrong_program_axis")
    assert "CompilationError: program_id axis " in text and "\n  this cell, line" in text
    assert "Triton says" not in text


def test_explaining_never_hides_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(refusal: Any) -> None:
        raise ValueError("ours")

    monkeypatch.setattr("triton_lab.notebook.mistakes.mistake_table.RULES", (broken,))
    text = told.__wrapped__("wrong_program_axis")
    assert "program_id axis" in text and "ours" not in text


def test_patterns_compile_and_none_stands_twice() -> None:
    patterns = [rule.pattern for rule in RULES]
    assert len(set(patterns)) == len(patterns)
    for pattern in patterns:
        re.compile(pattern)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("<['64', '1'], fp32>", "a block of 64 × 1 float32"),
        ("<[16], pointer<fp16>>", "a block of 16 pointers to float16"),
        ("fp32[constexpr[16]]", "a block of 16 float32"),
        ("int32[]", "a single int32"),
        ("triton.language.bfloat16", "a single bfloat16"),
        ("constexpr[3]", "a constant"),
    ],
)
def test_tritons_spellings_of_a_type_are_read(written: str, meant: str) -> None:
    assert type_told(written) == meant


def test_a_pointer_is_told_by_what_it_points_to(wording: Wording) -> None:
    for element in ("int64", "int1"):
        wording(type_told(f"pointer<{element}>"), element=element)


def test_the_assignment_that_reaches_a_line_is_not_the_one_of_the_other_branch() -> None:
    tree = ast.parse("a = 1\nif c:\n    a = 2\nelse:\n    use(a)\nuse(a)\nfor i in r:\n    use(a)\n    a = 3\nuse(a)\n")
    used = {node.lineno: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = {line: reaching(tree.body, "a", node) for line, node in used.items()}
    assert {line: each.lineno if each else None for line, each in found.items()} == {5: 1, 6: 3, 8: 3, 10: 9}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p[i]", "Write tl.load(p + i)."),  # a name may be a pointer's, also where its value is not known
        ("(p + 4)[i]", None),
        ("make()[i]", None),
        ("p", None),
    ],
)
def test_an_index_is_told_as_one_of_a_pointer_where_it_may_be(text: str, told: str | None) -> None:
    node = ast.parse(text, mode="eval").body
    refusal: Any = SimpleNamespace(node=node, operands=(), code=text)
    found = index_pointer(refusal, re.match("", ""))  # type: ignore[arg-type]
    assert (found and found.advice) == told


@pytest.mark.parametrize("steps", range(7))
@pytest.mark.parametrize("looping", [False, True])
def test_an_argument_is_found_behind_a_few_assignments(steps: int, looping: bool) -> None:
    """``v1 = n // 2``, ``v2 = v1 // 2`` ...: three are followed, and a name that is computed from itself ends too."""
    again = f" + v{steps}" if looping and steps else ""
    before = "".join(f"    v{step + 1} = v{step} // B\n" for step in range(steps - 1))
    last = f"    v{steps} = v{steps - 1} // B{again}\n" if steps else ""
    text = f"def kernel(p, v0, B: tl.constexpr):\n{before}{last}    tl.zeros((v{steps},))\n"
    kernel = ast.parse(text).body[0]
    assert isinstance(kernel, ast.FunctionDef) and isinstance(kernel.body[-1], ast.Expr)
    call = kernel.body[-1].value
    assert isinstance(call, ast.Call) and isinstance(call.args[0], ast.Tuple)
    computed = tl.tensor.__new__(tl.tensor)
    computed.type = tl.int32
    refusal: Any = SimpleNamespace(
        kernel=SimpleNamespace(arguments=kernel.args.args, tree=kernel, line=lambda node: node.lineno),
        node=call, operands=[Operand("", call.args[0].elts[0], computed)], code=text, scope={}, callers=(),
    )  # fmt: skip
    found = shape_of_variables(refusal, re.match("", ""))  # type: ignore[arg-type]
    known = "Declare `v0: tl.constexpr`" in found.advice
    assert known == (steps <= 3) and "`B" not in found.advice


def test_of_three_shapes_those_two_are_told_that_do_not_fit() -> None:
    sides = [Operand(name, ast.Name(name), None) for name in "abc"]
    shapes = {"a": [4], "b": [1], "c": [8]}
    with pytest.MonkeyPatch.context() as patched:
        for given, expected in (("abc", "ac"), ("bca", "ca"), ("cab", "ca"), ("ab", "ab")):
            some = [replace(one, value=one.name) for letter in given for one in sides if one.name == letter]
            patched.setattr(type_mismatches, "shape_of", shapes.get)
            assert "".join(one.name for one in type_mismatches._disagreeing(some)) == expected


def test_a_function_of_a_library_needs_no_decorator_and_one_of_nobody_is_the_users() -> None:
    assert unknown_names._is_of_a_library(torch.nn.functional.relu)
    unnamed = functools.wraps(lambda: None)(lambda: None)
    unnamed.__module__ = None  # type: ignore[assignment]
    assert not unknown_names._is_of_a_library(unnamed)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_value_that_comes_too_late_is_told_by_its_first_line(order: tuple[int, int], wording: Wording) -> None:
    tree = ast.parse("def kernel(p):\n    use(v)\n    v = 1\n    v = 2\n").body[0]
    assert isinstance(tree, ast.FunctionDef)
    use, *later = tree.body
    refusal: Any = SimpleNamespace(kernel=SimpleNamespace(tree=tree, line=lambda node: node.lineno), node=use)
    told = unknown_names._out_of_reach("v", [later[k] for k in order], refusal)
    wording(told.message, name="`v`", line=3)
