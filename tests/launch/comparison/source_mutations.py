"""Slips planted in kernels' sources by rules of their own: each mutates one node of the kernel's syntax tree.

``python -m tests.launch.comparison.source_mutations [COUNT] [SEED]`` plants some in the examples and prints what
`lab.compare` says of them: the share whose line is named first, and the time.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import ast
import copy
import linecache
import random
import re
import statistics
import sys
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import triton

import triton_lab as lab
from triton_lab.examples import all_examples
from triton_lab.examples.example import Example
from triton_lab.launch.comparison.argument_difference import DIFFERENT

_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
_CALLED = {
    "max": "sum", "sum": "max", "min": "max", "maximum": "minimum", "minimum": "maximum", "exp": "exp2",
    "exp2": "exp", "sqrt": "rsqrt", "rsqrt": "sqrt", "log": "log2", "sin": "cos", "cos": "sin",
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """A kernel's mutated ``tree``: what was done, by ``kind``, and on which ``line`` of the kernel's own text."""

    kind: str
    line: int
    tree: ast.Module


def mutations(text: str) -> Iterator[Mutation]:
    """All mutations of the function in ``text``, by kind and place."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for number, node in enumerate(nodes):
        for kind, other in _of_node(node, names):
            changed = copy.deepcopy(tree)
            place = list(ast.walk(changed))[number]
            for field, value in other.items():
                setattr(place, field, value)
            yield Mutation(kind, getattr(node, "lineno", 0), ast.fix_missing_locations(changed))


def _of_node(node: ast.AST, names: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The kind of each mutation of one node, and the fields that it changes."""
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        yield "operator", {"op": _OPERATORS[type(node.op)]()}
        if not isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd)):
            yield "operands exchanged", {"left": node.right, "right": node.left}
    elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        yield "operator", {"op": _OPERATORS[type(node.op)]()}
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        yield "comparison", {"ops": [_COMPARED[type(node.ops[0])]()]}
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", {"op": ast.UAdd()}
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant", {"value": node.value + 1 if isinstance(node.value, int) else node.value * 2}
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CALLED:
        yield "function", {"func": ast.Attribute(node.func.value, _CALLED[node.func.attr], ast.Load())}
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "where":
        yield "operands exchanged", {"args": [node.args[0], node.args[2], node.args[1]]}
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        for other in sorted(names - {node.id}):
            yield "variable", {"id": other}


def applied(kernel: Any, mutation: Mutation) -> Any:
    """The mutated kernel, a JIT function with the globals of ``kernel``; its lines are those of its own text."""
    tree = copy.deepcopy(mutation.tree)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    text = ast.unparse(tree)
    file = f"<mutated {kernel.fn.__name__} {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = types.ModuleType(f"mutated_{abs(hash(text))}")
    vars(module).update(kernel.fn.__globals__)
    module.__file__ = file
    exec(compile(text, file, "exec"), vars(module))
    made = vars(module)[kernel.fn.__name__]
    return made if isinstance(made, triton.runtime.JITFunction) else triton.jit(made)


def lines_of(mutation: Mutation, source: str) -> set[int]:
    """The lines of the unparsed text that differ from the original's."""
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(source), mutation.tree))
    return {k + 1 for k, (one, other) in enumerate(zip(before, after, strict=True)) if one != other}


@dataclass
class Outcome:
    """What was said of one mutation: ``named`` the right line, another line, or no cause."""

    example: str
    kind: str
    said: str  # "right", "wrong" or "nothing"
    cause: str
    seconds: float


def outcome(example: Example, seed: int) -> Outcome | None:
    """Plant one mutation in an example and ask for the cause; None if it does not show, or the kernel fails."""
    rng = random.Random(seed)
    module = sys.modules[example.run.__module__]
    with lab.target("cpu"), lab.record() as right:
        example.run(**example.inputs("small", 0, "cpu"))
    # Kernels under a decorator, such as an autotuner, are left alone.
    kernels = {
        name: kernel
        for name, kernel in vars(module).items()
        if isinstance(kernel, triton.runtime.JITFunction) and any(kernel.fn.__name__ == each.kernel for each in right)
    }
    if not kernels:
        return None
    name = rng.choice(sorted(kernels))
    kernel = kernels[name]
    source = kernel.src
    every = list(mutations(source))
    kinds = sorted({one.kind for one in every})
    kind = rng.choice(kinds)
    mutation = rng.choice([one for one in every if one.kind == kind])
    try:
        mutated = applied(kernel, mutation)
        setattr(module, name, mutated)
        with lab.target("cpu"), lab.record() as launches:
            example.run(**example.inputs("small", 0, "cpu"))
    except Exception:
        return None
    finally:
        setattr(module, name, kernel)
    pairs = [(a, b) for a, b in zip(launches, right, strict=False) if a.kernel == kernel.fn.__name__]
    if not pairs or pairs[0][0].error is not None:
        return None
    launch, meant = pairs[0]
    from triton_lab.launch.comparison.launch_results import of_launch

    results = of_launch(meant)
    try:
        comparison = lab.compare(launch, {name: results.arrays[name] for name in results.written})
    except ValueError:
        return None
    if not comparison.arguments or comparison.verdict != DIFFERENT:
        return None
    start = time.perf_counter()
    causes = comparison.causes()
    seconds = time.perf_counter() - start
    named = {int(n) for part in re.findall(r"lines? ([\d and]+)", causes.cause) for n in re.findall(r"\d+", part)}
    first = launch.first_line - 1
    wrong = {line + first for line in lines_of(mutation, source)}
    said = "nothing" if not causes.known else "right" if named & wrong else "wrong"
    return Outcome(example.name, mutation.kind, said, causes.cause, seconds)


def main() -> None:
    count, seed = (int(one) for one in (*sys.argv[1:3], *("60", "0")[len(sys.argv[1:3]) :]))
    rng, found = random.Random(seed), []
    examples = list(all_examples())
    tries = 0
    while len(found) < count and tries < 10 * count:
        tries += 1
        one = outcome(rng.choice(examples), rng.randrange(1 << 30))
        if one is not None:
            found.append(one)
            print(f"{one.said:8} {one.seconds:6.2f} s  {one.example}: {one.kind}: {one.cause[:150]}", flush=True)
    for kind in sorted({one.kind for one in found}):
        said = [one.said for one in found if one.kind == kind]
        print(
            f"{kind}: {len(said)}, " + ", ".join(f"{said.count(each)} {each}" for each in ("right", "wrong", "nothing"))
        )
    said = [one.said for one in found]
    print(f"all: {len(said)}, " + ", ".join(f"{said.count(each)} {each}" for each in ("right", "wrong", "nothing")))
    taken = sorted(one.seconds for one in found)
    print(f"median {statistics.median(taken):.2f} s, 95 % within {taken[int(0.95 * (len(taken) - 1))]:.2f} s")


if __name__ == "__main__":
    main()
