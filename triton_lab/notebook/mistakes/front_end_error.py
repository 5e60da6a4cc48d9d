"""The errors of Triton's front end: the reason, the piece of the kernel, and the values of its names there."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from triton_lab.backend.source.kernel_source import is_tritons, python_function
from triton_lab.notebook.mistakes import second_reading
from triton_lab.notebook.mistakes.verifier_message import VerifierMessage, concerned, verifier_message

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
        """The user's text of the piece, on one line; of a compound statement its first line."""
        if self.node is None:
            return ""
        compound = isinstance(self.node, ast.stmt) and hasattr(self.node, "body")
        return head(self.node) if compound else written(self.node)


def written(node: ast.AST, most: int = 60) -> str:
    """The text of ``node``, shortened to ``most`` characters."""
    return textwrap.shorten(ast.unparse(node), most, placeholder=" ...")


def head(node: ast.AST) -> str:
    """The first line of a compound statement, without its colon."""
    return textwrap.shorten(ast.unparse(node).partition("\n")[0].rstrip(":"), 60, placeholder=" ...")


# What Triton raises before it reads the kernel, without a place in it, and after, for a module that does not verify.
_BESIDE = ("Unsupported function referenced:", "Simultaneous multiple assignment is not supported")
_UNVERIFIED = "error encountered during parsing"
VERIFIER = "VerifierError"  # the kind of a refusal whose text is MLIR's


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
        return _beside(error)
    frames, said = second_reading.failure(error)
    generators = _generators(frames)
    places = [(link, found) for link in links if (found := _generator(link.src, generators)) is not None]
    # An error in Triton's own library is reported at the user's call.
    own = [(link, generator) for link, generator in places if not is_tritons(generator.file_name)]
    kind, text = _reason(links[-1])
    if not text and (message := verifier_message(said)) is not None:  # Triton asserts that an operation verifies
        kind, text = VERIFIER, message.text
    text = text or second_reading.asserted(frames)
    if not own:
        return _where_it_stopped(kind, text, generators)
    link, generator = own[-1]
    return Refusal(
        kind,
        text,
        _compiled(generator),
        link.node if hasattr(link.node, "lineno") else None,
        dict(generator.lscope),
        _operands(link.node, generators),
        tuple((_compiled(caller), at.node) for at, caller in reversed(own[:-1]) if hasattr(at.node, "lineno")),
    )


def _beside(error: BaseException) -> Refusal | None:
    """A refusal that Triton reports without a place in the kernel; None for any other error."""
    if not isinstance(error, RuntimeError | TypeError):
        return None
    if str(error) == _UNVERIFIED:
        return _unverified(error)
    if not str(error).startswith(_BESIDE):  # other errors in a launch, such as that of a grid's function
        return None
    kernel = next(
        (found for frame in reversed(list(second_reading.frames(error))) if (found := _looked_at(frame))), None
    )
    return None if kernel is None else Refusal(type(error).__name__, str(error), kernel)


def _unverified(error: BaseException) -> Refusal | None:
    """The refusal of a module that Triton's front end has written and MLIR's verifier does not accept."""
    frames, said = second_reading.failure(error)
    read = next((values["generator"] for frame in reversed(frames) if "generator" in (values := frame.f_locals)), None)
    if read is None:
        return None
    kernel = _compiled(read)
    message = verifier_message(said) or VerifierMessage(_UNVERIFIED, "", 0, 0)
    node = concerned(message, kernel.tree, kernel.before)
    scope = dict(read.lscope)
    operands: tuple[Operand, ...] = ()
    if isinstance(node, ast.Call):
        # Names have their last values here. An argument that is no name is shown without one.
        named = [(each.arg or "", each.value) for each in node.keywords]
        given = [("", each) for each in node.args] + named
        operands = tuple(
            Operand(name, each, scope[each.id])
            for name, each in given
            if isinstance(each, ast.Name) and _once(each, kernel, scope)
        )
    return Refusal(VERIFIER, message.text, kernel, node, scope, operands)


def _once(node: ast.Name, kernel: KernelText, scope: Mapping[str, Any]) -> bool:
    """Whether ``node`` is a name that has one value in the whole kernel."""
    if node.id not in scope:
        return False
    stores = [each for each in ast.walk(kernel.tree) if isinstance(each, ast.Name) and each.id == node.id]
    return sum(isinstance(each.ctx, ast.Store) for each in stores) <= 1


def _where_it_stopped(kind: str, text: str, generators: Generators) -> Refusal | None:
    """A refusal whose text is that of a function that was not yet being read: it is told at its call."""
    for _unused, generator in reversed(generators):
        node = generator.cur_node
        if not is_tritons(generator.file_name) and hasattr(node, "lineno"):
            return Refusal(kind, text, _compiled(generator), node, dict(generator.lscope), _operands(node, generators))
    return None


def _last_call(error: EndlessRecursion) -> Refusal | None:
    """The call that Triton was following when it was stopped."""
    for frame in reversed(list(second_reading.frames(error))):
        generator: Any = frame.f_locals.get("self")
        node = frame.f_locals.get("node")
        if _is_generator(generator) and isinstance(node, ast.Call) and not is_tritons(generator.file_name):
            return Refusal(type(error).__name__, f"{error.calls:,} calls deep", _compiled(generator), node)
    return None


# The frames of Triton's code generators at a failure, each with its generator, the innermost last.
Generators = Sequence[tuple[FrameType, Any]]


def _generators(frames: Sequence[FrameType]) -> Generators:
    return [(frame, frame.f_locals["self"]) for frame in frames if _is_generator(frame.f_locals.get("self"))]


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


def _generator(source: str | None, generators: Generators) -> Any:
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


def _operands(node: ast.AST, generators: Generators) -> tuple[Operand, ...]:
    """The operands of ``node``: the sides of an operation, the arguments of a call, the value of an assignment."""
    for frame, _ in reversed(generators):
        values = frame.f_locals
        if _same(values.get("node"), node) and (found := _operands_in(node, values)):
            return found
        if isinstance(node, ast.Assign) and _same(values.get("target"), node.targets[0]) and "value" in values:
            return (Operand("", node.value, values["value"]),)
    return ()


def _operands_in(node: ast.AST, values: Mapping[str, Any]) -> tuple[Operand, ...]:
    """The operands of ``node`` among the local variables of the function of Triton's that was reading it."""
    match node:
        case ast.Call() if isinstance(values.get("args"), list):
            given = [Operand("", *pair) for pair in zip(node.args, values["args"], strict=False)]
            named = values.get("kws") or {}
            owner = getattr(values.get("fn"), "__self__", None)
            if isinstance(node.func, ast.Attribute) and hasattr(owner, "type"):  # a method of a block
                given = [Operand("", node.func.value, owner), *given]
            return (*given, *(Operand(k.arg, k.value, named[k.arg]) for k in node.keywords if k.arg and k.arg in named))
        case ast.BinOp() if "rhs" in values:
            return (Operand("", node.left, values["lhs"]), Operand("", node.right, values["rhs"]))
        case ast.Compare() if "rhs" in values and len(node.ops) == 1:
            return (Operand("", node.left, values["lhs"]), Operand("", node.comparators[0], values["rhs"]))
        case ast.Subscript() if "lhs" in values:
            index = (Operand("", node.slice, values["slices"]),) if "slices" in values else ()
            return (Operand("", node.value, values["lhs"]), *index)
        case ast.Attribute() if "lhs" in values:
            return (Operand("", node.value, values["lhs"]),)
        case ast.UnaryOp() if "operand" in values:
            return (Operand("", node.operand, values["operand"]),)
        case ast.IfExp() if "then_val" in values and "else_val" in values:
            sides = Operand("", node.body, values["then_val"]), Operand("", node.orelse, values["else_val"])
            return (Operand("", node.test, values["cond"]), *sides)
    return ()


def _same(one: Any, other: ast.AST) -> bool:
    """Whether both are the same piece of one text, from two parses."""
    place = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return type(one) is type(other) and all(getattr(one, each, 0) == getattr(other, each, 0) for each in place)
