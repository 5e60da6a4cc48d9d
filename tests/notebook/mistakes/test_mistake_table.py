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
from triton_lab.interpreter.kernel_errors import EndlessRecursion
from triton_lab.notebook.cell.error_display import rendering
from triton_lab.notebook.mistakes import type_mismatches, unknown_names
from triton_lab.notebook.mistakes.assignments import reaching
from triton_lab.notebook.mistakes.front_end_error import Operand
from triton_lab.notebook.mistakes.mistake_table import RULES
from triton_lab.notebook.mistakes.type_names import type_told
from triton_lab.notebook.mistakes.unsupported_python import index_pointer, shape_of_variables

FILE = str(Path(mistaken.__file__))
SOURCE = Path(FILE).read_text().splitlines()
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
X = torch.arange(128.0)
# Kernel -> what is wrong, and what to do about it, as regular expressions. `{here}` and `{born}` are marked lines.
TOLD = {
    "printed_alone": ("`print(v)` prints a text before the values, and there is none", 'print("x = ", x)'),
    "dot_of_integers": ("multiplies blocks of floats, or of int8, and one of these is int64", "a.to(tl.float32)"),
    "zeros_of_a_number": ("`tl.zeros(BLOCK, tl.float32)`: the shape of a block is a tuple", "Write (BLOCK,)."),
    "infinity": ("`inf` is not defined", 'Write float("inf").'),
    "helped_too_much": ("the call gives 2 arguments, and _hidden takes v", "Leave the others out."),
    "torchs_relu": ("tl has no `relu`", "Use tl.maximum(x, 0)."),
    "torchs_axis": ("v.sum has no argument `dim`: did you mean `axis`?", ""),
    "misspelt": ("`ofs` is not defined: did you mean `offs`?", ""),
    "misspelt_argument": ("`n_row` is not defined: did you mean `n_rows`?", ""),
    "misspelt_function": ("tl has no `laod`: did you mean `tl.load`?", ""),
    "misspelt_global": ("`WEIGHT` is not defined", "pass it as an argument"),
    "misspelt_hidden": ("`_hiden` is not defined", "pass it as an argument"),
    "unknown_name": ("`zzzzzzzz` is not defined", "pass it as an argument"),
    "used_too_early": ("`offs` has no value yet: it gets one on line {born}", "above this line"),
    "only_in_a_branch": ("`v` has a value only where the `if` of line", "before the `if`"),
    "only_in_a_loop": ("`v` gets its value inside a loop alone", "before the loop"),
    "plain_global": ("`SIZE` is a plain global of Python's (128)", "`SIZE = tl.constexpr(128)`"),
    "list_global": ("`WEIGHTS` is a global of Python's (list)", "Pass `WEIGHTS` as an argument"),
    "plain_function": ("`double` is a Python function", "Write @triton.jit above `def double`."),
    "torch_function": ("`torch.exp` works on tensors or numbers outside of kernels", "Use tl.exp."),
    "numpy_function": ("`np.sqrt` works on tensors or numbers outside of kernels", "Use tl.sqrt."),
    "math_function": ("`math.exp` works on tensors or numbers outside of kernels", "Use tl.exp."),
    "pythons_function": ("`enumerate` is a function of Python's", "Count with `for i in range(n)`."),
    "pythons_abs": ("`abs` is a function of Python's", "Use tl.abs."),
    "torchs_method": ("`v` is a block of 16 float32 and has no `.float`", "Use x.to(tl.float32)."),
    "size_of_a_tensor": ("`x_ptr` is a pointer to float32 and has no `.size`", "Pass the size as an argument"),
    "number_of_elements": ("`v.numel` is a number in a kernel, and no function to call", "Pass the number of elements"),
    "torchs_type": ("takes one of Triton's types, and got one of torch's", "tl.float32 instead of torch.float32"),
    "called_type": ("`tl.float32(n)` calls a type", "x.to(tl.float32)"),
    "arange_of_any_size": ("`tl.arange(0, BLOCK)` makes a block whose size is no power of 2", "next_power_of_2"),
    "arange_of_an_argument": ("the size of a block is fixed when the kernel is compiled", "`BLOCK: tl.constexpr`"),
    "arange_of_a_program": ("`pid * BLOCK` is known only while the kernel runs", "start + tl.arange(0, BLOCK)"),
    "zeros_of_an_argument": ("`half` is not known then", "Declare `n: tl.constexpr`"),
    "zeros_of_any_size": ("axis 1 of the block that `tl.zeros((BLOCK, 3), tl.float32)` makes", "next_power_of_2"),
    "too_large": ("makes a block of 2097152 elements", "smaller blocks and more programs"),
    "if_of_a_block": ("`if` takes one yes or no, and `offs < n` is a block", "tl.where(condition, a, b)"),
    "choice_of_a_block": ("`if` takes one yes or no, and `offs < n` is a block", "tl.where(condition, a, b)"),
    "while_of_a_block": ("`while` takes one yes or no, and `offs < n` is a block", "tl.where(condition, a, b)"),
    "element_of_a_block": ("`v[0]` picks elements of `v`", "tl.sum(tl.where(i == 0, x, 0), 0)"),
    "slice_of_a_block": ("`v[0:4]` picks elements of `v`", "Load that element from its address"),
    "element_of_a_pointer": ("`x_ptr[i]` indexes a pointer", "tl.load(x_ptr + i)"),
    "element_of_moved_pointers": ("`(x_ptr + BLOCK)[n]` indexes a pointer", "tl.load(x_ptr + BLOCK + n)"),
    "assigned_element": ("`x_ptr[i]` cannot be assigned", "tl.store(x_ptr + i, 1.0)"),
    "return_in_a_loop": ("a loop cannot be left with `return`", "Put the condition into the loop"),
    "break_in_a_loop": ("a kernel cannot have `break`", "Put the condition into the loop"),
    "continue_in_a_loop": ("a kernel cannot have `continue`", "under `if`, or mask it"),
    "loop_over_a_list": ("`for` goes over range(...) or tl.static_range(...) alone", "for i in range(n)"),
    "range_of_a_quotient": ("`n / BLOCK` is a single float32", "Divide with `//` instead of `/`"),
    "range_to_a_quotient": ("`n / BLOCK` is a single float32", "Divide with `//` instead of `/`"),
    "range_by_quotients": (
        "and `n / 2` is a single float32 and `n / BLOCK` is a single float32",
        "Divide with `//` instead of `/`",
    ),
    "range_of_a_block": ("the step of `range` is one number, and here it is a block", "Reduce the block"),
    "unrolled_range": ("tl.static_range is unrolled when the kernel is compiled", "Use range(...)"),
    "comprehension": ("a comprehension in a kernel goes over a tuple of constants", "a block of offsets"),
    "growing_list": ("a list in a kernel cannot grow or change", "in memory (tl.store)"),
    "dictionary": ("a kernel cannot have a dictionary", "a tuple"),
    "anonymous_function": ("a kernel cannot have `lambda`", "a function with @triton.jit"),
    "function_in_a_function": ("a kernel cannot have a function in a function", "Move it out of the kernel"),
    "caught": ("a kernel cannot have `try`", "tl.device_assert"),
    "format_string": ("an f-string is made when the kernel is compiled", "tl.device_print("),
    "float_of_a_value": ("`float(n)` asks for a number of Python's", "x.to(tl.float32)"),
    "power": ("a kernel has no powers", "x * x"),
    "matrix_product": ("`@` does not multiply blocks in a kernel", "tl.dot(a, b)"),
    "loop_from_int_to_float": (
        "it is a single int32 before (line {born}), and a single float32 after the body (line {here})",
        "Begin with a float (0.0 instead of 0)",
    ),
    "loop_from_int_block_to_float": (
        "it is a block of 16 int32 before (line {born}), and a block of 16 float32 after the body (line {here})",
        "Begin with tl.float32, or turn what is assigned in the loop back with .to(tl.int32)",
    ),
    "loop_from_number_to_block": (
        "it is a single float32 before (line {born}), and a block of 16 float32 after the body (line {here})",
        "`acc = tl.zeros(shape, tl.float32)`",
    ),
    "branches_of_two_types": (
        "a single float32 where the condition holds (line {born}), and a single int32 where it does not (line {here})",
        "One variable has one type on every path",
    ),
    "branch_of_another_shape": (
        "a single float32 before the `if` (line {born}), and a block of 16 float32 after it (line {here})",
        "One variable has one type on every path",
    ),
    "returns_of_two_types": (
        "first_or_one returns a single float32 on one path and a single int32 on another (lines {here} and {born})",
        "Every return gives the same type",
    ),
    "shapes_of_one_axis": ("`x` is 64 since line {born}, `y` is 32 since line {born}", "Sizes along an axis"),
    "shapes_of_two_axes": (
        "`x` is 64 × 16 since line {born}, `y` is 64 since line {born}",
        "say which axis a block lies along",
    ),
    "shape_of_a_mask": (
        "(`offs` is 64 since line {born}), `cols < n` is 32 (`cols` is 32 since line {born})",
        "Sizes along an axis",
    ),
    "shape_of_a_value": ("(`offs` is 64 since line {born}), `v` is 32 since line {born}", "Sizes along an axis"),
    "shapes_in_a_helper": ("`w` is 64 since line {born}, `tl.arange(0, 32)` is 32", "called from this cell, line"),
    "block_at_one_address": ("the value a block: `v` is 16 since line {born}", "reduce the block first"),
    "mask_at_one_address": ("the mask a block: `offs < n` is 16", "reduce the block first"),
    "unnamed_mask_at_one_address": ("the mask a block: `offs < n` is 16", "reduce the block first"),
    "unnamed_mask_of_a_store": ("the mask a block: `offs < n` is 16", "reduce the block first"),
    "mask_before_the_value": ("the mask a block: `offs < n` is 16", "reduce the block first"),
    "dot_of_two_types": ("`a` is a block of 16 × 16 float32, `a.to(tl.float16)` is a block of 16 × 16 float16", ".to("),
    "dot_of_wrong_shapes": ("a block of M × K with one of K × N", "tl.trans"),
    "dot_of_small_blocks": ("too small for the matrix units of a GPU", "Take larger blocks"),
    "float_offset": ("`offs / 2` is a block of 16 float32", "Divide with `//` instead of `/`"),
    "loaded_offset": ("`v` is a single float32", ".to(tl.int32)"),
    "load_of_a_number": (
        "tl.load takes addresses, and `n + tl.arange(0, BLOCK)` is a block of 16 int32",
        "x_ptr + off",
    ),
    "store_the_wrong_way_round": (
        "tl.store takes addresses, and `v` is a block of 16 float32",
        "pointer comes first",
    ),
    "tensor_for_a_stride": ("`stride` is a pointer to float32", "x.stride(0)"),
    "tensor_for_a_size": ("`n` is a pointer to float32", "x.numel()"),
    "tuple_for_a_size": ("`offs < shape`: one side is a tuple", "x.shape[0]"),
    "none_for_a_size": ("`offs < n`: one side is None", "if x is not None"),
    "bits_of_floats": ("`v & 3` does not go with these types: `v` is a single float32", ".to(tl.int32)"),
    "exp_of_integers": ("`tl.exp(n)` works on floats, and its argument is int32", "x.to(tl.float32)"),
    "wrong_axis": ("asks for axis 2 of a block that has 2", "Axes count from 0"),
    "wrong_program_axis": ("a grid has the axes 0, 1 and 2, and no axis 3", "Fold several axes"),
    "wrong_keyword": ("tl.load has no argument `masks`: did you mean `mask`?", "Its arguments are pointer, mask"),
    "forgotten_argument": ("`tl.zeros((BLOCK,))` does not give 'dtype'", "Pass it too"),
    "static_assertion": ("tl.static_assert does not hold: BLOCK is too small", "tl.constexpr"),
    "nothing_returned": ("`own_square` returns nothing", "End `own_square` with `return`"),
    "nothing_returned_to_a_variable": ("`own_square` returns nothing", "End `own_square` with `return`"),
    "hidden_module": ("`tl` is an argument here (line", "Give the argument another name"),
    "hidden_function": ("`max` is a variable here (line", "give the variable another name"),
    "arange_of_a_float": ("whole numbers, and `HALF` is the constant 8.0", "`//` instead of `/`"),
    "recursion": ("`factorial` calls itself", "Write a loop."),
    "recursion_of_two": ("`even` calls itself by way of `odd`", "Write a loop."),
    "recursion_of_constants": ("`countdown` calls itself", "the call under its `else`"),
    "unpacked": ("one value cannot be spread over several names", "use one name"),
}
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


def test_every_mistake_is_in_the_table_of_this_test() -> None:
    kernels = {
        name for name, value in vars(mistaken).items() if hasattr(value, "arg_names") and "x_ptr" in value.arg_names
    }
    assert kernels == set(TOLD)


@pytest.mark.parametrize("name", TOLD)
def test_a_mistake_is_told_in_words_with_its_lines_and_a_remedy(name: str) -> None:
    text = told(name)
    message, advice = TOLD[name]
    here, born = marked(name, "here"), marked(name, "born")
    for line in born:
        message = message.replace("{born}", str(line), 1)
    message = message.replace("{here}", str(here[0]))
    assert message in text
    assert advice in text
    places = [int(line) for line in re.findall(r"^  this cell, line (\d+)$", text, re.MULTILINE)]
    assert places[0] == here[0]
    assert set(born) <= set(places)
    assert text.count("\n    ") >= 2, "the line stands there, with carets"


@pytest.mark.parametrize("name", TOLD)
def test_tritons_own_words_stand_once_and_short_at_the_end(name: str) -> None:
    lines = told(name).splitlines()
    says = [k for k, line in enumerate(lines) if line.startswith("  Triton says: ")]
    assert len(says) <= 1
    assert all(k == len(lines) - 1 and len(lines[k]) < 330 for k in says)


def test_an_error_that_no_rule_knows_is_told_in_tritons_words_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_lab.notebook.mistakes.mistake_table.RULES", ())
    text = told.__wrapped__("wrong_program_axis")
    assert "CompilationError: program_id axis must be 0, 1, or 2 but got 3\n  this cell, line" in text
    assert "Triton says" not in text


def test_explaining_never_hides_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(refusal: Any) -> None:
        raise ValueError("ours")

    monkeypatch.setattr("triton_lab.notebook.mistakes.mistake_table.RULES", (broken,))
    text = told.__wrapped__("wrong_program_axis")
    assert "program_id axis must be 0, 1, or 2 but got 3" in text and "ours" not in text


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
        ("pointer<int64>", "a pointer to int64"),
        ("constexpr[3]", "a constant"),
    ],
)
def test_tritons_spellings_of_a_type_are_read(written: str, meant: str) -> None:
    assert type_told(written) == meant


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
    refusal: Any = SimpleNamespace(
        kernel=SimpleNamespace(arguments=kernel.args.args, tree=kernel, line=lambda node: node.lineno),
        node=call, operands=[Operand("", call.args[0].elts[0], computed)], code=text,
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
def test_a_value_that_comes_too_late_is_told_by_its_first_line(order: tuple[int, int]) -> None:
    tree = ast.parse("def kernel(p):\n    use(v)\n    v = 1\n    v = 2\n").body[0]
    assert isinstance(tree, ast.FunctionDef)
    use, *later = tree.body
    refusal: Any = SimpleNamespace(kernel=SimpleNamespace(tree=tree, line=lambda node: node.lineno), node=use)
    told = unknown_names._out_of_reach("v", [later[k] for k in order], refusal)
    assert told.message == "`v` has no value yet: it gets one on line 3"
