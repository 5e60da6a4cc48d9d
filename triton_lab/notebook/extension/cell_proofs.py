"""Proofs of the kernels in a cell's text, for the marks beside their accesses while the user types.

Nothing of the cell is executed. A kernel's ``def`` is read without its decorators, defaults and annotations; what it
takes is known from its newest launch in this session, or, if it was not launched, from the call in the cell, where its
arguments are names of tensors and numbers that the session holds.
"""

from __future__ import annotations
import __future__ as future

import ast
import itertools
import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import from_signal
from triton_lab.launch.argument import Argument
from triton_lab.localization import _
from triton_lab.views.extension_queries import CellProofs, ProofMark

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.polyhedral.proofs.proof import AccessProof, Proof

# The most characters of a cell that is read, kernels of it, assumptions that a mark tells. Next, the seconds of a cell:
# while the user types, and with the launches that refute once he rests.
_CHARACTERS, _KERNELS, _ASSUMPTIONS = 50_000, 4, 6
_TYPING, _RESTING = 0.4, 1.5
# Tensors of more bytes are not made anew.
_BYTES = 64 << 30

_MAGIC = re.compile(r"\s*%%triton\b")
_numbers = itertools.count(1)


def proofs(name: str, source: str, names: Mapping[str, Any], newest: Mapping[str, Launch], refute: bool) -> CellProofs:
    """The marks of a cell with this ``source``; ``names`` are those of the session, ``newest`` its launches by kernel.

    A kernel that does not compile, or of which nothing is known, has no marks.
    """
    marks: list[ProofMark] = []
    lines = source.split("\n")
    text = _as_python(source)
    tree = _parsed(text)
    kernels = [] if tree is None else list(_kernels(tree))[:_KERNELS]
    seconds = (_RESTING if refute else _TYPING) / max(len(kernels), 1)
    for node in kernels:
        found = None if tree is None else _proof(node, tree, text, names, newest.get(node.name), seconds, refute)
        if found is not None:
            marks += _marks(found, lines)
    return {"name": name, "marks": marks, "refuted": refute}


def _as_python(source: str) -> str:
    """The cell with the same lines, but without magics; "" if it is none of `%%triton`, or too long."""
    lines = source.split("\n") if len(source) <= _CHARACTERS else [""]
    first = next((line for line in lines if line.strip()), "")
    if not _MAGIC.match(first):
        return ""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _kernels(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions that ``@triton.jit``, or another name that ends so, makes kernels; not those of Gluon."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            texts = [ast.unparse(one) for one in node.decorator_list]
            if any(text.split("(")[0] in ("triton.jit", "jit") for text in texts):
                yield node


def _proof(
    node: ast.FunctionDef,
    tree: ast.Module,
    text: str,
    names: Mapping[str, Any],
    launch: Launch | None,
    seconds: float,
    refute: bool,
) -> Proof | None:
    """The proof of one kernel; None if it does not compile or cannot be proved."""
    from triton_lab.backend.source.muted_output import unheard
    from triton_lab.polyhedral.proofs.prove import prove
    from triton_lab.polyhedral.proofs.unrun_kernels import unrun

    try:
        file = _read(text)
        kernel = _kernel(node, tree, file, names)
        calls = _calls(node.name, tree)
        arguments = None if launch is None else _as_launched(launch, kernel.arg_names)
        grid: Any = None if launch is None else launch.grid
        if arguments is None:
            called = _called(calls, kernel.arg_names, names)
            if called is None:
                return None
            grid, arguments = called
        with unheard():
            # The grid is read from the call in the text.
            site = (file, calls[-1].lineno) if calls else None if launch is None else launch.site
            made = replace(unrun(kernel, grid, arguments), site=site)
            return prove(made, seconds=seconds, refute=refute)
    except Exception as error:  # a kernel that is half typed may be refused with anything
        if from_signal(error):
            raise
        return None


def _read(text: str) -> str:
    """The name of a file that `linecache` has, with this text; the last few are kept."""
    file = f"<triton-lab proof {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, [line + "\n" for line in text.split("\n")], file)
    for old in [one for one in linecache.cache if one.startswith("<triton-lab proof ")][:-16]:
        linecache.cache.pop(old, None)
    return file


def _kernel(node: ast.FunctionDef, tree: ast.Module, file: str, names: Mapping[str, Any]) -> Any:
    """A kernel of the text in ``file``; functions of the text that it calls are those of the text, too."""
    import triton

    scope: dict[str, Any] = {**names}
    made: dict[str, Any] = {}
    for each in _kernels(tree):
        bare = ast.FunctionDef(each.name, _plain(each.args), each.body, [], None, None)
        bare.type_params = []  # type: ignore[attr-defined]
        module = ast.Module([ast.copy_location(bare, each)], [])
        code = compile(ast.fix_missing_locations(module), file, "exec", future.annotations.compiler_flag, True)
        inner = next(one for one in code.co_consts if hasattr(one, "co_code"))
        function = FunctionType(inner, scope, each.name)
        function.__annotations__ = {
            one.arg: ast.unparse(one.annotation)
            for one in (*each.args.args, *each.args.kwonlyargs)
            if one.annotation is not None
        }
        function.__module__ = "__main__"
        made[each.name] = triton.jit(function)
    scope.update(made)
    return made[node.name]


def _plain(arguments: ast.arguments) -> ast.arguments:
    """The parameters without defaults and annotations, which would be executed."""
    bare = [ast.arg(one.arg) for one in arguments.args]
    return ast.arguments([], bare, None, [ast.arg(one.arg) for one in arguments.kwonlyargs], [], None, [])


def _as_launched(launch: Launch, parameters: list[str]) -> dict[str, Any] | None:
    """Arguments as a launch had them, on memory of their own; None if the kernel takes others now."""
    mine = {one.name: one for one in launch.arguments if one.name in parameters}
    if set(mine) != set(parameters) or any(one.kind == "descriptor" for one in mine.values()):
        return None
    if sum(one.storage_bytes for one in mine.values()) > _BYTES:
        return None
    return {name: _argument(one) for name, one in mine.items()}


def _argument(one: Argument) -> Any:
    import torch

    if one.kind != "tensor":
        return one.value
    dtype = getattr(torch, one.dtype)
    storage = torch.empty(one.storage_bytes // one.itemsize, dtype=dtype)
    return storage.as_strided(one.shape, one.strides, one.offset)


def _calls(kernel: str, tree: ast.Module) -> list[ast.Call]:
    """The calls of a kernel in the text, with their grids."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Subscript)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == kernel
    ]


def _called(
    calls: list[ast.Call], parameters: list[str], names: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]] | None:
    """The grid and arguments of the last of the calls that are known; None if only running the cell would tell."""
    for call in reversed(calls):
        passed = dict(zip(parameters, call.args, strict=False))
        passed |= {one.arg: one.value for one in call.keywords if one.arg in parameters}
        try:
            values = {name: _value(node, names) for name, node in passed.items()}
            grid = _value(call.func.slice, names) if isinstance(call.func, ast.Subscript) else ()
            return grid, values
        except LookupError:
            continue
    return None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """A number, a tensor of the session, or what one says of its size. Raises LookupError for all else."""
    import torch

    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Tuple):
        return tuple(_value(one, names) for one in node.elts)
    if isinstance(node, ast.Name) and type(names.get(node.id)) in (int, float, bool, torch.Tensor):
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
        sides = [_value(side, names) for side in (node.left, node.right)]
        if all(type(side) is int and abs(side) < 1 << 40 for side in sides) and (sides[1] or type(node.op) in _WHOLE):
            return _SIGNS[type(node.op)](*sides)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return _extent(_value(node.value.value, names), _value(node.slice, names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
        given = [_value(one, names) for one in node.args]
        if (
            ast.unparse(node.func) == "triton.cdiv"
            and len(given) == 2
            and all(type(one) is int for one in given)
            and given[1]
        ):
            return -(-given[0] // given[1])
        tensor = _value(node.func.value, names)
        if type(tensor) is torch.Tensor and node.func.attr == "numel" and not given:
            return tensor.numel()
        if type(tensor) is torch.Tensor and node.func.attr in ("stride", "size") and len(given) == 1:
            sizes = tensor.stride() if node.func.attr == "stride" else tensor.shape
            return _item(sizes, given[0])
    raise LookupError(ast.unparse(node))


_WHOLE = (ast.Add, ast.Sub, ast.Mult)
_SIGNS: Mapping[type, Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
}


def _extent(tensor: Any, axis: Any) -> int:
    import torch

    if type(tensor) is not torch.Tensor:
        raise LookupError(axis)
    return _item(tensor.shape, axis)


def _item(sizes: tuple[int, ...], axis: Any) -> int:
    if type(axis) is not int or not -len(sizes) <= axis < len(sizes):
        raise LookupError(axis)
    return int(sizes[axis])


def _marks(proof: Proof, lines: list[str]) -> Iterator[ProofMark]:
    """One mark for each line with accesses: the worst outcome, and all of them in words."""
    if proof.assumptions:
        listed = [str(one) for one in proof.assumptions[:_ASSUMPTIONS]]
        more = len(proof.assumptions) - len(listed)
        listed += [messages.count(more, "more", "more")] if more > 0 else []
        condition = _("As long as {assumptions}").format(assumptions=", ".join(listed))
    else:
        condition = ""
    for line in sorted({one.line for one in proof.accesses if one.line is not None and one.line <= len(lines)}):
        here = proof.at(line)
        outcome = next(word for word in ("refuted", "unknown", "proved") if any(one.outcome == word for one in here))
        told = [*dict.fromkeys(map(_told, here)), *([condition] if condition and outcome == "proved" else [])]
        yield {"line": line, "text": lines[line - 1], "outcome": outcome, "message": "\n".join(told)}


def _told(one: AccessProof) -> str:
    reason = f": {one.reason}" if one.reason else ""
    return f"{one.kind} {one.argument or '?'}: {one.verdict}{reason}"
