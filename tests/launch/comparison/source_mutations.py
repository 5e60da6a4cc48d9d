"""Slips planted in kernels' sources by rules of their own: each mutates one node of the kernel's syntax tree.

``python -m tests.launch.comparison.source_mutations [COUNT] [SEED] [--processes N]`` plants some in the examples and
prints what `lab.compare` says of them by class, and the time. With ``--libraries`` it plants them in kernels of public
libraries: those that `bench.library_kernels` calls, if they are installed or lie on PYTHONPATH.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
import triton
from numpy.typing import NDArray

import triton_lab as lab
from bench import library_kernels
from tests.launch.comparison.judgement import Judgement, compiled, counted, each_of, judged
from triton_lab.examples import all_examples
from triton_lab.examples.example import Example
from triton_lab.launch.comparison.launch_results import of_launch
from triton_lab.launch.launch import Launch
from triton_lab.testing.cuda_on_cpu import in_place_of_a_gpu

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

ROUNDS = 20
"""How often each kernel has its turn at most: many mutations change no result."""


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
        yield "sign", {"operand": ast.UnaryOp(ast.USub(), node.operand)}
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
    """The mutated kernel; its lines are those of its own text."""
    return compiled(kernel, ast.unparse(mutation.tree))


def lines_of(mutation: Mutation, source: str) -> set[int]:
    """The lines of the unparsed text that differ from the original's."""
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(source), mutation.tree))
    return {k + 1 for k, (one, other) in enumerate(zip(before, after, strict=True)) if one != other}


@dataclass(frozen=True)
class Host:
    """What mutations are planted in: ``run`` makes the same launches each time, ``package`` holds their kernels."""

    name: str
    package: str
    run: Callable[[], Any]

    def recorded(self) -> list[Launch]:
        with lab.target("cpu"), lab.record() as launches:
            self.run()
        return list(launches)

    @cached_property
    def right(self) -> list[Launch]:
        """The launches of the unchanged kernels."""
        return self.recorded()


@dataclass(frozen=True)
class Holder:
    """Where a kernel is found when it is called: an attribute of a module, or of an autotuner around it."""

    owner: Any
    attribute: str


def examples() -> Iterator[Host]:
    def host(example: Example) -> Host:
        inputs = example.inputs
        return Host(
            example.name, example.run.__module__, lambda: example.run(**inputs("small", 0, "cpu"))
        )  # the inputs are made anew: some kernels work in place

    return map(host, all_examples())


def libraries() -> Iterator[Host]:
    """The calls of each library that is there; says which is not."""
    for library, calls in library_kernels.CALLS.items():
        package = library_kernels.MODULES[library]
        if importlib.util.find_spec(package) is None:
            print(f"{library} is not installed: nothing is planted in it")
            continue
        with in_place_of_a_gpu(), torch.device("cuda"):
            torch.manual_seed(0)
            named = dict(calls())
        for name, call in named.items():
            yield Host(f"{library}, {name}", package, lambda call=call: _as_on_a_gpu(call))  # type: ignore[misc]


def _as_on_a_gpu(call: Callable[[], Any]) -> None:
    with ExitStack() as stack:
        stack.enter_context(in_place_of_a_gpu())
        stack.enter_context(torch.device("cuda"))
        stack.enter_context(warnings.catch_warnings(action="ignore"))
        torch.manual_seed(0)
        library_kernels.both_ways(call())


def kernels_of(host: Host) -> dict[str, tuple[Any, list[Holder]]]:
    """The kernels that ``host`` launches, by name, and what holds each. A name that two kernels have is left out."""
    launched = {launch.kernel for launch in host.right}
    found: dict[str, dict[Any, list[Holder]]] = {}
    for module_name, module in list(sys.modules.items()):
        if module_name == host.package or module_name.startswith(f"{host.package}."):
            for attribute, value in list(vars(module).items()):
                holder = Holder(module, attribute)
                while not isinstance(value, triton.runtime.JITFunction) and "fn" in getattr(value, "__dict__", {}):
                    holder, value = Holder(value, "fn"), value.fn
                if isinstance(value, triton.runtime.JITFunction) and value.fn.__name__ in launched:
                    found.setdefault(value.fn.__name__, {}).setdefault(value, []).append(holder)
    return {name: next(iter(each.items())) for name, each in found.items() if len(each) == 1}


def launched_with(host: Host, kernel: Any, holders: list[Holder], mutated: Any) -> list[Launch]:
    """The launches of ``host`` with ``mutated`` in the place of ``kernel``."""
    try:
        for holder in holders:
            setattr(holder.owner, holder.attribute, mutated)
        return host.recorded()
    finally:
        for holder in holders:
            setattr(holder.owner, holder.attribute, kernel)


@dataclass(frozen=True)
class Planted:
    """What was said of one mutation of ``kernel``."""

    host: str
    kernel: str
    kind: str
    judgement: Judgement


@dataclass(frozen=True)
class Task:
    """A kernel by its name, the host by its place among those of its kind, and a seed that chooses the mutation."""

    libraries: bool
    host: int
    kernel: str
    seed: int


@cache
def hosts(of_libraries: bool) -> list[Host]:
    return list(libraries() if of_libraries else examples())


def planted(task: Task) -> Planted | None:
    """Plant one mutation in a kernel and ask for the cause; None if it does not show, or the kernel fails."""
    host, name, rng = hosts(task.libraries)[task.host], task.kernel, random.Random(task.seed)
    kernel, holders = kernels_of(host)[name]
    every = list(mutations(kernel.src))
    kind = rng.choice(sorted({one.kind for one in every}))
    mutation = rng.choice([one for one in every if one.kind == kind])
    try:
        launches = launched_with(host, kernel, holders, applied(kernel, mutation))
    except Exception:
        return None
    pairs = [(a, b) for a, b in zip(launches, host.right, strict=False) if a.kernel == name]
    if not pairs or pairs[0][0].error is not None:
        return None
    made, results = (of_launch(launch) for launch in pairs[0])
    try:
        expected = {one: results.arrays[one] for one in results.written}
        far = any(far_apart(made.arrays[one], array) for one, array in expected.items())
        lines, text = lines_of(mutation, kernel.src), ast.unparse(mutation.tree)
        judgement = judged(pairs[0][0], expected, lines, text, certain=not far)
    except (KeyError, ValueError):
        return None
    return Planted(host.name, name, kind, judgement) if judgement else None


def far_apart(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether some elements differ by more than a hundredth, or one is no number."""
    if one.dtype.kind not in "fiu":
        return False
    return not np.allclose(one.astype(float), other.astype(float), rtol=0.01, atol=0.01, equal_nan=True)


def tasks(of_libraries: bool, seed: int) -> list[Task]:
    """All kernels of the hosts in an order of chance, several times."""
    rng, kernels = random.Random(seed), []
    for number, host in enumerate(hosts(of_libraries)):
        try:
            kernels += [(number, name) for name in kernels_of(host)]
        except Exception as error:  # a call that this machine cannot make
            print(f"{host.name} fails: {type(error).__name__}: {str(error)[:100]}")
    print(f"{len({name for _, name in kernels})} kernels", flush=True)
    return [
        Task(of_libraries, number, name, rng.randrange(1 << 30))
        for _ in range(ROUNDS)
        for number, name in rng.sample(kernels, len(kernels))
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--libraries", action="store_true", help="plant in kernels of public libraries")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    found: list[Planted] = []
    tries = 0
    for one in each_of(planted, tasks(given.libraries, given.seed), given.processes):
        tries += 1
        if one is not None:
            found.append(one)
            judgement = one.judgement
            print(f"{judgement.said:11} {judgement.seconds:6.2f} s  ", end="")
            print(f"{one.host}, {one.kernel}: {one.kind}: {judgement.cause[:150]}", flush=True)
            if len(found) == given.count:
                break
    print(counted((one.kind, one.judgement) for one in found))
    print(
        f"in {len({one.kernel for one in found})} kernels; {tries - len(found)} tries gave no wrong result, or failed"
    )


if __name__ == "__main__":
    main()
