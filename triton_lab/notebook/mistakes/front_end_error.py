"""The errors of Triton's front end: the reason, the piece of the kernel, and the values of its names there."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import textwrap
import traceback
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from triton_lab.backend.source.kernel_source import is_tritons, python_function

if TYPE_CHECKING:
    from triton_lab.interpreter.kernel_errors import EndlessRecursion


@dataclass(frozen=True)
class KernelText:
    """A function of the user's that Triton compiles, as text."""

    name: str
    source: str
    file: str
    # The line number in the file before that of `def`, which is line 1 of `source`.
    before: int
    globals: Mapping[str, Any] = field(repr=False)

    @functools.cached_property
    def tree(self) -> ast.FunctionDef:
        """The parsed function; its lines count as in `source`."""
        return next(node for node in ast.parse(self.source).body if isinstance(node, ast.FunctionDef))

    @property
    def arguments(self) -> list[ast.arg]:
        """Its arguments in order."""
        return [*self.tree.args.posonlyargs, *self.tree.args.args, *self.tree.args.kwonlyargs]

    def line(self, node: ast.AST) -> int:
        """The line of the file on which ``node`` begins, as the editor counts."""
        return self.before + int(getattr(node, "lineno", 1))


@dataclass(frozen=True)
class Operand:
    """One side of an operation or one argument of a call: the user's text, and Triton's value."""

    name: str
    node: ast.expr
    value: Any


@dataclass(frozen=True)
class Refusal:
    """Why a kernel does not compile.

    ``kind`` and ``text`` are the class and message of Triton's own exception. ``node`` is the piece of ``kernel``
    concerned, if Triton names it. ``scope`` has the local names at that point with Triton's values, ``callers`` the
    calls that led there, the innermost first.
    """

    kind: str
    text: str
    kernel: KernelText
    node: ast.AST | None = None
    scope: Mapping[str, Any] = field(default_factory=dict, repr=False)
    operands: tuple[Operand, ...] = ()
    callers: tuple[tuple[KernelText, ast.AST], ...] = ()

    @property
    def code(self) -> str:
        """The user's text of the piece, on one line."""
        return "" if self.node is None else written(self.node)


def written(node: ast.AST, most: int = 60) -> str:
    """The text of ``node``, shortened to ``most`` characters."""
    return textwrap.shorten(ast.unparse(node), most, placeholder=" ...")


# Errors that Triton raises before and after its code generator, without a place in the kernel.
_BESIDE = ("Unsupported function referenced:", "error encountered during parsing")


def refusal_of(error: BaseException) -> Refusal | None:
    """The refusal that ``error`` reports; None if it is not about a kernel that does not compile."""
    from triton.compiler.errors import CompilationError

    from triton_lab.interpreter.kernel_errors import EndlessRecursion

    if isinstance(error, EndlessRecursion):
        return _last_call(error)
    links: list[CompilationError] = []
    current: BaseException | None = error
    while isinstance(current, CompilationError):
        links.append(current)
        current = current.__cause__
    if not links:
        # Other errors in a launch, such as that of a grid's function, do not concern the kernel.
        if not isinstance(error, RuntimeError) or not str(error).startswith(_BESIDE):
            return None
        kernel = next((found for frame in reversed(list(_frames(error))) if (found := _looked_at(frame))), None)
        return None if kernel is None else Refusal(type(error).__name__, str(error), kernel)
    generators = [
        (frame, frame.f_locals["self"]) for frame in _again(error) if _is_generator(frame.f_locals.get("self"))
    ]
    places = [(link, found) for link in links if (found := _generator(link.src, generators)) is not None]
    # An error in Triton's own library is reported at the user's call.
    own = [(link, generator) for link, generator in places if not is_tritons(generator.file_name)]
    if not own:
        return None
    link, generator = own[-1]
    kind, text = _reason(links[-1])
    return Refusal(
        kind,
        text,
        _compiled(generator),
        link.node if hasattr(link.node, "lineno") else None,
        dict(generator.lscope),
        _operands(link.node, generators),
        tuple((_compiled(caller), at.node) for at, caller in reversed(own[:-1]) if hasattr(at.node, "lineno")),
    )


def _last_call(error: EndlessRecursion) -> Refusal | None:
    """The call that Triton was following when it was stopped."""
    for frame in reversed(list(_frames(error))):
        generator: Any = frame.f_locals.get("self")
        node = frame.f_locals.get("node")
        if _is_generator(generator) and isinstance(node, ast.Call) and not is_tritons(generator.file_name):
            return Refusal(type(error).__name__, f"{error.calls:,} calls deep", _compiled(generator), node)
    return None


def _frames(error: BaseException) -> Iterator[FrameType]:
    """All frames that ``error`` and its causes passed through, the innermost last."""
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        for frame, _ in traceback.walk_tb(current.__traceback__):
            yield frame
        current = current.__cause__ or current.__context__


def _again(error: BaseException) -> list[FrameType]:
    """The frames of Triton's code generator at the failure.

    Triton removes them from its errors, so this compiles the kernel a second time, quietly, and keeps them.
    """
    from triton import knobs
    from triton._C.libtriton import ir

    asked = next((frame.f_locals for frame in _frames(error) if "codegen_fns" in frame.f_locals), None)
    if asked is None or not {"src", "target", "options", "module_map", "backend"} <= set(asked):
        return []
    context = ir.context()
    ir.load_dialects(context)
    asked["backend"].load_dialects(context)
    with knobs.compilation.scope(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        knobs.compilation.front_end_debugging = True
        try:
            asked["src"].make_ir(*(asked[name] for name in ("target", "options", "codegen_fns", "module_map")), context)
        except Exception as failed:
            return list(_frames(failed))
    return []


def _reason(link: Any) -> tuple[str, str]:
    """The class and message of the exception from which ``link``, a CompilationError, was made."""
    text = link.error_message or ""
    cause = link.__cause__ or link.__context__
    if cause is not None and text in (str(cause), repr(cause)):
        return type(cause).__name__, str(cause)
    return type(link).__name__, text


def _is_generator(value: Any) -> bool:
    from triton.compiler.code_generator import CodeGenerator

    return isinstance(value, CodeGenerator)


def _generator(source: str | None, generators: list[tuple[FrameType, Any]]) -> Any:
    """Triton's code generator for the function with this text."""
    return next((each for _, each in reversed(generators) if each.jit_fn.src == source), None)


def _compiled(generator: Any) -> KernelText:
    function = generator.jit_fn
    return KernelText(function.__name__, function.src, generator.file_name, generator.begin_line, generator.gscope)


def _looked_at(frame: FrameType) -> KernelText | None:
    """The user's function that Triton was reading before or after its code generator."""
    from triton.runtime.jit import JITCallable

    function = frame.f_locals.get("self")
    if not isinstance(function, JITCallable):
        function = frame.f_locals.get("fn")
    if not isinstance(function, JITCallable) or (python := python_function(function)) is None:
        return None
    file = str(python.__code__.co_filename)
    if is_tritons(file):
        return None
    define = next((n for n, line in enumerate(function.raw_src) if line.lstrip().startswith(("def ", "async "))), 0)
    names = dict(python.__globals__) | dict(inspect.getclosurevars(python).nonlocals)
    return KernelText(function.__name__, function.src, file, function.starting_line_number + define - 1, names)


def _operands(node: ast.AST, generators: list[tuple[FrameType, Any]]) -> tuple[Operand, ...]:
    """The operands of ``node``: the two sides of an operation, or the arguments of a call."""
    for frame, _ in reversed(generators):
        values = frame.f_locals
        if not _same(values.get("node"), node):
            continue
        if isinstance(node, ast.Call) and isinstance(values.get("args"), list):
            given = [Operand("", *pair) for pair in zip(node.args, values["args"], strict=False)]
            named = values.get("kws") or {}
            return (*given, *(Operand(k.arg, k.value, named[k.arg]) for k in node.keywords if k.arg and k.arg in named))
        if isinstance(node, ast.BinOp) and "rhs" in values:
            return (Operand("", node.left, values["lhs"]), Operand("", node.right, values["rhs"]))
        if isinstance(node, ast.Compare) and "rhs" in values and len(node.ops) == 1:
            return (Operand("", node.left, values["lhs"]), Operand("", node.comparators[0], values["rhs"]))
        if isinstance(node, ast.Subscript) and "lhs" in values:
            return (Operand("", node.value, values["lhs"]),)
    return ()


def _same(one: Any, other: ast.AST) -> bool:
    """Whether both are the same piece of one text, from two parses."""
    place = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return type(one) is type(other) and all(getattr(one, each, 0) == getattr(other, each, 0) for each in place)
