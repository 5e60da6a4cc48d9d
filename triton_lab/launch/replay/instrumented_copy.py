"""The probed twin of a kernel: the same source, with a marker after each assignment.

The compiler's own names for values are missing or wrong for aliases, tuple targets, constants and merged values. So to
find variables, the launch is replayed with a twin that goes through the same front end. After each assignment the twin
has a print, which survives all passes and passes the variable's value to an observer. Line numbers stay the same.
"""

from __future__ import annotations

import ast
import pickle
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, cast

from triton_lab.backend.source.access_source import first_line
from triton_lab.backend.source.kernel_dependencies import as_callable, fingerprint, used
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir import parse_plan
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

PREFIX = "triton_lab probe "
PROBE = "__triton_lab_probe__"
_SPECIALIZE = "warp_specialize"


@dataclass(frozen=True)
class Variable:
    """A place where the kernel's source gives a variable a value; ``line`` as the editor counts."""

    number: int
    name: str
    line: int


@dataclass(frozen=True, eq=False)
class Twin:
    """The probed kernel, ready to run. ``fixed`` holds values known at compile time that are no tensors or numbers.

    ``lines`` are those of its accesses, by the operations' indices, where a file has them and no source.
    """

    executable: Executable
    variables: tuple[Variable, ...]
    fixed: dict[int, Any]
    lines: Mapping[int, int | None] | None = None


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The globals and helpers of a kernel at some time: ``scope`` its globals, ``known`` a fingerprint to compare."""

    scope: dict[str, Any]
    known: tuple[Any, ...]

    @classmethod
    def of(cls, kernel: Any) -> Surroundings:
        """The present surroundings of ``kernel``."""
        scope = {name: value for name, value in used(kernel) if name in kernel.fn.__globals__}
        return cls(scope, fingerprint(kernel))

    def restore(self, kernel: Any) -> dict[str, Any]:
        """The globals with which ``kernel`` does the same as it did then.

        Raises CannotReplay if they cannot be restored: for changed closures, and for changes in what helpers use.
        """
        changed = dict(_entries(self.known))
        for name, entry in _entries(fingerprint(kernel)):
            if changed.get(name) == entry:
                continue
            if name not in self.scope or fingerprint_of_helper(self.scope[name]) != _inner(changed.get(name)):
                raise CannotReplay(
                    _("{name}, which the kernel {name_2} uses, has changed since the launch").format(
                        name=name, name_2=kernel.__name__
                    )
                )
        return {**kernel.__globals__, **self.scope}


def _entries(known: tuple[Any, ...]) -> list[tuple[str, Any]]:
    return [(name, tuple(rest)) for name, *rest in known]


def _inner(entry: Any) -> Any:
    """The fingerprint in a helper's entry; None for plain values."""
    return entry[2] if entry is not None and len(entry) == 3 else None


def fingerprint_of_helper(value: Any) -> Any:
    """The present fingerprint of the helper ``value``; None for plain values."""
    return None if as_callable(value) is None else fingerprint(value)


def build(source: Any, metadata: Any, surroundings: Surroundings) -> Twin:
    """The twin of the kernel that ``source`` (Triton's ASTSource) was compiled from.

    ``surroundings`` are those of the launch. Raises CannotReplay if they cannot be restored.
    """
    kernel = source.fn
    if kernel.fn is None:
        raise CannotReplay(
            _(
                "the Python function of {name} does not exist in this process, because torch.compile compiled the "
                "kernel in another one: its variables have no names"
            ).format(name=kernel.__name__)
        )
    fixed: dict[int, Any] = {}
    variables: list[Variable] = []
    tree = ast.parse(kernel.src)
    names: dict[str, Any] = {PROBE: value_probe(fixed)}
    # The remark keeps the twin's hash apart from the kernel's.
    for name, part in partitions(kernel, tree):
        woven = ProbeWeaver(first_line(part) - 1, variables, f"{name}.").woven(ast.parse(part.src))
        names[name] = other_function(part, woven, part.src + "\n# probed", {**part.__globals__, PROBE: names[PROBE]})
    woven = ProbeWeaver(first_line(kernel) - 1, variables).woven(tree)
    _unused, executable = remade(source, metadata, surroundings, woven, kernel.src + "\n# probed", names)
    return Twin(executable, tuple(variables), fixed)


def partitions(kernel: Any, tree: ast.Module) -> list[tuple[str, Any]]:
    """The functions that a kernel of Gluon runs as partitions of warps, by the names of its globals."""
    calls = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _SPECIALIZE
    )
    handed = {name.id for call in calls for name in ast.walk(call) if isinstance(name, ast.Name)}
    found = ((name, kernel.__globals__.get(name)) for name in sorted(handed))
    return [(name, value) for name, value in found if isinstance(value, type(kernel)) and value.fn is not None]


def remade(
    source: Any,
    metadata: Any,
    surroundings: Surroundings,
    tree: ast.Module,
    text: str,
    names: Mapping[str, Any] | None = None,
) -> tuple[Any, Executable]:
    """Compile the kernel of ``source`` (Triton's ASTSource) with another ``tree``; return its source and executable.

    ``text`` is what the kernel's source is said to be, and ``names`` are added to its globals. Raises the errors of
    Triton's front end, and CannotReplay if the surroundings cannot be restored.
    """
    from triton_lab.backend.compiler import options_of, plan_of
    from triton_lab.backend.source.muted_output import unheard

    kernel = source.fn
    other = other_function(kernel, tree, text, {**surroundings.restore(kernel), **(names or {})})
    # Gluon has a class of sources, and of functions, of its own.
    made = type(source)(other, source.signature, dict(source.constants), source.attrs)
    options = options_of(metadata)
    if made.language.name == "GLUON":  # its front end asks what the GPU has
        options["arch"] = metadata.arch
    # The probes find `fixed` values while compiling, and Triton's cache does not hold those.
    with unheard():
        return made, Executable.of(parse_plan(plan_of(made, options)))


def copies_of(tree: ast.Module) -> Callable[[], ast.Module]:
    """Makes copies of the tree as it is now, in a fifth of the time that `copy.deepcopy` takes."""
    packed = pickle.dumps(tree)
    return lambda: cast(ast.Module, pickle.loads(packed))


def other_function(function: Any, tree: ast.Module, text: str, scope: dict[str, Any], suffix: str = "") -> Any:
    """A function of Triton's with another tree and other globals; ``text`` is what its source is said to be.

    In one kernel the functions' names must differ: with a ``suffix`` it may be called beside the other one.
    """
    copied = copies_of(tree)  # Triton needs its own copy
    kind: Any = type(function)

    class OtherFunction(kind):  # type: ignore[misc]
        def parse(self) -> ast.Module:
            return copied()

    other = OtherFunction(function.fn, do_not_specialize=function.do_not_specialize, noinline=function.noinline)
    other._unsafe_update_src(text)
    other.__globals__ = scope
    if suffix:
        other.__qualname__ += suffix
    return other


def value_probe(fixed: MutableMapping[int, Any]) -> Any:
    """The function that the twin calls after each assignment."""
    from triton.language import core

    @core.builtin  # type: ignore[untyped-decorator]
    def probe(number: Any, value: Any, _semantic: Any = None) -> None:
        position = int(getattr(number, "value", number))
        plain = getattr(value, "value", value) if isinstance(value, core.constexpr) else value
        if isinstance(plain, core.tensor):
            handle = plain
        elif isinstance(plain, (bool, int, float)):
            handle = _semantic.to_tensor(plain)
        else:
            fixed[position] = plain
            return
        _semantic.builder.create_print(f"{PREFIX}{position}", False, [handle.handle], [handle.dtype.is_int_signed()])

    return probe


class ProbeWeaver(ast.NodeTransformer):
    """Puts a probe after each statement that gives names a value.

    ``variables`` grows by those that are found, whose names get a ``prefix``; lines are moved by ``shift``.
    """

    def __init__(self, shift: int, variables: list[Variable], prefix: str = "") -> None:
        self.shift = shift
        self.variables = variables
        self.prefix = prefix
        self.outermost = True

    def woven(self, tree: ast.Module) -> ast.Module:
        """The tree with probes in it."""
        return cast(ast.Module, ast.fix_missing_locations(self.visit(tree)))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if not self.outermost:
            return node
        self.outermost = False
        names = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
        probes = [
            self._probe(name, argument)
            for name, argument in zip(names, (*node.args.args, *node.args.kwonlyargs), strict=True)
        ]
        body = self.body(node.body)
        # A docstring must stay first.
        head = 1 if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) else 0
        node.body = [*body[:head], *probes, *body[head:]]
        return node

    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in statements:
            result.append(statement)
            if isinstance(statement, ast.For):
                names = list(assigned_names(statement.target))
                statement.body = [*(self._probe(n, statement.target) for n in names), *self.body(statement.body)]
                statement.orelse = self.body(statement.orelse)
            elif isinstance(statement, (ast.While, ast.If)):
                statement.body = self.body(statement.body)
                statement.orelse = self.body(statement.orelse)
            elif isinstance(statement, ast.Assign):
                names = [name for target in statement.targets for name in assigned_names(target)]
                result.extend(self._probe(name, statement) for name in names)
            elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)) and getattr(statement, "value", None):
                result.extend(self._probe(name, statement) for name in assigned_names(statement.target))
        return result

    def _probe(self, name: str, near: ast.AST) -> ast.stmt:
        number = len(self.variables)
        line: int = near.lineno  # type: ignore[attr-defined]
        self.variables.append(Variable(number, self.prefix + name, line + self.shift))
        call = ast.Call(ast.Name(PROBE, ast.Load()), [ast.Constant(number), ast.Name(name, ast.Load())], [])
        return ast.copy_location(ast.Expr(call), near)


def assigned_names(target: ast.expr) -> list[str]:
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for item in target.elts for name in assigned_names(item)]
    return []
