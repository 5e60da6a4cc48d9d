"""A copy of a kernel with a mark before each statement and a probe after each assignment, in its helpers too.

As in `instrumented_copy`, marks and probes are prints, which survive all passes and keep their order. A helper that the
kernel calls by its name is replaced by its own marked copy; functions that reductions and scans combine values with
stay as they are.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from triton_lab.backend.source.access_source import first_line
from triton_lab.backend.source.kernel_breakpoints import is_breakpoint
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir import Op
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.instrumented_copy import (
    PROBE,
    ProbeWeaver,
    Variable,
    other_function,
    partitions,
    remade,
    value_probe,
)
from triton_lab.localization import _

MARK = "triton_lab statement "
_STATEMENT = "__triton_lab_statement__"
_FUNCTION = "__triton_lab_function_"
_REMARK = "\n# marked"


@dataclass(frozen=True)
class MarkedStatement:
    """A statement of a kernel or helper; lines as the editor counts. ``loop`` is the number of the loop around it.

    ``kind`` is ``enter`` (the head of a function), ``loop``, ``breakpoint`` or ``plain``.
    """

    number: int
    function: int
    kind: str
    line: int
    end_line: int
    loop: int | None = None


@dataclass(frozen=True, eq=False)
class MarkedFunction:
    """A kernel or helper in the copy; lines ``first_line`` to ``last_line`` of ``file``."""

    number: int
    name: str
    file: str
    first_line: int
    source: str
    parameters: tuple[str, ...]
    is_separate: bool = False  # called at run time, not inlined
    is_traced: bool = False  # the kernel, or a partition of its warps: `Launch.trace` has its variables

    @property
    def last_line(self) -> int:
        return self.first_line + len(self.source.rstrip("\n").split("\n")) - 1

    def holds(self, file: str, line: int) -> bool:
        """Whether a line of a file is in this function."""
        return file == self.file and self.first_line <= line <= self.last_line


@dataclass(eq=False)
class MarkedCopy:
    """The marked kernel, ready to run. ``owners`` has the function of each variable.

    ``fixed`` has the values of variables that are known at compile time and are no numbers.
    """

    functions: list[MarkedFunction] = field(default_factory=list)
    statements: list[MarkedStatement] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    fixed: dict[int, Any] = field(default_factory=dict)
    executable: Executable | None = None

    def names(self, function: int) -> set[str]:
        """The variables of a function."""
        return {variable.name for variable, owner in zip(self.variables, self.owners, strict=True) if owner == function}


class _Unambiguous(dict[int, Any]):
    """Keeps the value of a place only while all calls of its function agree on it."""

    def __setitem__(self, key: int, value: Any) -> None:
        super().__setitem__(key, value if key not in self or self[key] == value else None)


def marked_copy(launch: Recorded) -> MarkedCopy:
    """The marked copy of the kernel of ``launch``. Raises CannotReplay, which says why there is none."""
    source, metadata = launch.compiled
    if source is None:
        raise CannotReplay(
            _(
                "a launch that was loaded from a file cannot be debugged, since the file does not hold its source; "
                "launch.plot.steps() shows its steps"
            )
        )
    if source.fn.fn is None:
        raise CannotReplay(
            _(
                "the Python function of {name} does not exist in this process: it has no statements to step through"
            ).format(name=source.fn.__name__)
        )
    if launch.snapshot is None or launch.snapshot.missing:
        missing = "" if launch.snapshot is None else launch.snapshot.missing
        raise CannotReplay(missing or _("the launch was recorded without the data that a rerun needs"))
    made = MarkedCopy(fixed=_Unambiguous())
    weaving = _Weaving(made)
    scope = launch.surroundings.restore(source.fn)
    tree, names = weaving.function(source.fn, scope)
    _unused, made.executable = remade(source, metadata, launch.surroundings, tree, source.fn.src + _REMARK, names)
    return made


def mark_number(op: Op) -> int | None:
    """The number of the statement that the mark ``op`` stands before; None if it is no mark."""
    if op.name != "tt.print":
        return None
    prefix = str(op.attributes["prefix"]).strip()
    return int(prefix.removeprefix(MARK.strip())) if prefix.startswith(MARK.strip()) else None


class _Weaving:
    """Makes the marked copies of a kernel and its helpers, each once."""

    def __init__(self, made: MarkedCopy) -> None:
        self.made = made
        self.tools = {PROBE: value_probe(made.fixed), _STATEMENT: _marker()}
        self.copies: dict[int, Any] = {}

    def function(self, function: Any, scope: dict[str, Any], traced: bool = True) -> tuple[ast.Module, dict[str, Any]]:
        """The tree of a function with marks in it, and the globals that it needs beside its own."""
        number = len(self.made.functions)
        tree = ast.parse(function.src)
        (head,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
        parameters = tuple(each.arg for each in (*head.args.args, *head.args.kwonlyargs))
        first, text = function.starting_line_number, "".join(function.raw_src)
        file = function.fn.__code__.co_filename
        separate = bool(function.noinline)
        self.made.functions.append(
            MarkedFunction(number, function.__name__, file, first, text, parameters, separate, traced)
        )
        names: dict[str, Any] = dict(self.tools)
        for name, part in partitions(function, tree):
            names[name] = self.copy(part, part.__globals__, traced=True)
        known = {**_closure(function), **scope}
        locals_ = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        locals_.update(parameters)

        def replaced(callee: ast.expr) -> ast.expr:
            helper = _named(callee, known, locals_)
            if not _is_helper(helper, function):
                return callee
            name = f"{_FUNCTION}{id(helper)}__"
            names[name] = self.copy(helper, helper.__globals__)
            return ast.copy_location(ast.Name(name, ast.Load()), callee)

        tree = _Calls(replaced).visit(tree)
        weaver = _StatementWeaver(first_line(function) - 1, self.made, number)
        return weaver.woven(tree), names

    def copy(self, function: Any, scope: dict[str, Any], traced: bool = False) -> Any:
        """The marked copy of a helper."""
        if id(function) not in self.copies:
            self.copies[id(function)] = function  # a function that calls itself calls the one without marks
            tree, names = self.function(function, scope, traced)
            made = other_function(function, tree, function.src + _REMARK, {**scope, **names}, "_marked")
            self.copies[id(function)] = made
        return self.copies[id(function)]


def _closure(function: Any) -> dict[str, Any]:
    return dict(inspect.getclosurevars(function.fn).nonlocals)


def _named(callee: ast.expr, known: dict[str, Any], locals_: set[str]) -> Any:
    """What a name, or a name in modules, stands for; None if that is not known before the kernel runs."""
    if isinstance(callee, ast.Name):
        return None if callee.id in locals_ else known.get(callee.id)
    if isinstance(callee, ast.Attribute):
        module = _named(callee.value, known, locals_)
        return module.__dict__.get(callee.attr) if isinstance(module, ModuleType) else None
    return None


def _is_helper(value: Any, caller: Any) -> bool:
    """Whether it is a function of the user's, compiled as the caller is."""
    from triton.runtime.jit import JITFunction

    return (
        isinstance(value, JITFunction)
        and type(value) is type(caller)
        and value.fn is not None
        and not str(value.fn.__module__).startswith("triton.")
    )


def _marker() -> Any:
    """The function that the copy calls before each statement."""
    from triton.language import core

    @core.builtin  # type: ignore[untyped-decorator]
    def mark(number: Any, _semantic: Any = None) -> None:
        position = int(getattr(number, "value", number))
        _semantic.builder.create_print(f"{MARK}{position}", False, [], [])

    return mark


class _Calls(ast.NodeTransformer):
    def __init__(self, replaced: Callable[[ast.expr], ast.expr]) -> None:
        self.replaced = replaced

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.func = self.replaced(node.func)
        return node


class _StatementWeaver(ProbeWeaver):
    """Puts marks before statements as well. The head of a loop is marked again after each iteration, as Python does."""

    def __init__(self, shift: int, made: MarkedCopy, function: int) -> None:
        super().__init__(shift, made.variables)
        self.made, self.function = made, function
        self.loops: list[int] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        entered = self._mark(node, "enter", node.body[0].lineno - 1)
        super().visit_FunctionDef(node)
        docstring = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        node.body.insert(1 if docstring else 0, entered)
        self.made.owners.extend([self.function] * (len(self.variables) - len(self.made.owners)))
        return node

    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                result.append(statement)
                continue
            loop = isinstance(statement, (ast.For, ast.While))
            kind = "loop" if loop else "breakpoint" if is_breakpoint(statement) else "plain"
            number = len(self.made.statements)
            result.append(self._mark(statement, kind, _head_end(statement)))
            if loop:
                self.loops.append(number)
            if isinstance(statement, ast.With):
                statement.body = self.body(statement.body)
            result.extend(super().body([statement]))
            if isinstance(statement, (ast.For, ast.While)):
                self.loops.pop()
                statement.body.append(self._call(number, statement))
        return result

    def _mark(self, node: ast.stmt, kind: str, end: int) -> ast.stmt:
        number = len(self.made.statements)
        loop = self.loops[-1] if self.loops else None
        first, last = node.lineno + self.shift, max(node.lineno, end) + self.shift
        self.made.statements.append(MarkedStatement(number, self.function, kind, first, last, loop))
        return self._call(number, node)

    def _call(self, number: int, near: ast.stmt) -> ast.stmt:
        call = ast.Call(ast.Name(_STATEMENT, ast.Load()), [ast.Constant(number)], [])
        return ast.copy_location(ast.Expr(call), near)


def _head_end(statement: ast.stmt) -> int:
    """The last line of a simple statement, or of the head of a compound one."""
    body: Sequence[ast.stmt] = getattr(statement, "body", ())
    return body[0].lineno - 1 if body else statement.end_lineno or statement.lineno
