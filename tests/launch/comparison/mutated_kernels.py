"""Plants `source_mutations` in kernels that are launched, and asks for their causes.

``python -m tests.launch.comparison.mutated_kernels [COUNT] [SEED] [--in HOSTS] [--half 0|1] [--processes N]`` plants
some in the examples and in the kernels of reported slips, and prints what `lab.compare` says of them by class, and the
time. ``--in libraries`` plants them in kernels of public libraries: those that `bench.library_kernels` calls, if they
are installed or lie on PYTHONPATH. The halves have no kernel in common: what is tuned on one is measured on the other,
and ``--blind`` prints the counts alone.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
import ast
import importlib.util
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from itertools import chain
from typing import Any

import numpy as np
import torch
import triton
from numpy.typing import NDArray

import triton_lab as lab
from bench import library_kernels
from tests.launch.comparison.judgement import Judgement, compiled, counted, each_of, judged
from tests.launch.comparison.reported.slip import Subject
from tests.launch.comparison.reported_slips import SUBJECTS
from tests.launch.comparison.source_mutations import applied, lines_of, mutations
from triton_lab.examples import all_examples
from triton_lab.examples.example import Example
from triton_lab.launch.comparison.launch_results import of_launch
from triton_lab.launch.launch import Launch
from triton_lab.testing.cuda_on_cpu import in_place_of_a_gpu

ROUNDS = 20
"""How often each kernel has its turn at most: many mutations change no result."""


@dataclass(frozen=True)
class Host:
    """What mutations are planted in: ``run`` makes the same launches each time, ``package`` holds their kernels.

    ``subject`` is a kernel with a ``run`` of its own, which takes it.
    """

    name: str
    package: str
    run: Callable[[], Any]
    subject: Subject | None = None

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


def reported() -> Iterator[Host]:
    """The kernels of reported slips."""
    for subject in SUBJECTS:
        name = subject.kernel.fn.__name__
        yield Host(name, "", lambda subject=subject: subject.run(subject.kernel), subject)  # type: ignore[misc]


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
    if host.subject is not None:
        return {host.subject.kernel.fn.__name__: (host.subject.kernel, [])}
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
    if host.subject is not None:
        run = host.subject.run
        return replace(host, run=lambda: run(mutated)).recorded()
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
    what: str


GRID = "too few programs"


def with_fewer_programs(kernel: Any) -> Any:
    """The kernel, launched with about half of the programs along the longest axis of its grid."""
    made = compiled(kernel, kernel.src)
    run = made.run

    def fewer(*args: Any, grid: Any, **options: Any) -> Any:
        def half(meta: dict[str, Any]) -> tuple[int, ...]:
            counts = [int(one) for one in (grid(meta) if callable(grid) else grid)]
            longest = counts.index(max(counts))
            counts[longest] = max(1, counts[longest] // 2)
            return tuple(counts)

        return run(*args, grid=half, **options)

    made.run = fewer
    return made


@dataclass(frozen=True)
class Task:
    """A kernel by its name, the host by its place among those of its kind, and a seed that chooses the mutation."""

    kind: str
    host: int
    kernel: str
    seed: int


_HOSTS: dict[str, Callable[[], Iterator[Host]]] = {
    "examples": examples, "libraries": libraries, "reported": reported,
    "own": lambda: chain(examples(), reported()),
}  # fmt: skip


@cache
def hosts(kind: str) -> list[Host]:
    return list(_HOSTS[kind]())


def planted(task: Task) -> Planted | None:
    """Plant one mutation in a kernel and ask for the cause; None if it does not show, or the kernel fails."""
    host, name, rng = hosts(task.kind)[task.host], task.kernel, random.Random(task.seed)
    kernel, holders = kernels_of(host)[name]
    every = list(mutations(kernel.src))
    kind = rng.choice(sorted({GRID, *(one.kind for one in every)}))
    try:
        if kind == GRID:
            lines, text = set[int](), kernel.src
            launches = launched_with(host, kernel, holders, with_fewer_programs(kernel))
        else:
            mutation = rng.choice([one for one in every if one.kind == kind])
            lines, text = lines_of(mutation, kernel.src), ast.unparse(mutation.tree)
            if not lines:
                return None
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
        judgement = judged(pairs[0][0], expected, lines, text, certain=not far)
    except (KeyError, ValueError):
        return None
    what = GRID if kind == GRID else f"{kind}, {ast.unparse(mutation.tree).splitlines()[min(lines) - 1].strip()}"
    return Planted(host.name, name, kind, judgement, what) if judgement else None


def far_apart(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether some elements differ by more than a hundredth, or one is no number."""
    if one.dtype.kind not in "fiu":
        return False
    return not np.allclose(one.astype(float), other.astype(float), rtol=0.01, atol=0.01, equal_nan=True)


def tasks(kind: str, seed: int, half: int | None) -> list[Task]:
    """All kernels of the hosts in an order of chance, several times; those of one half alone, by their names."""
    rng, kernels = random.Random(seed), []
    for number, host in enumerate(hosts(kind)):
        try:
            kernels += [(number, name) for name in kernels_of(host)]
        except Exception as error:  # a call that this machine cannot make
            print(f"{host.name} fails: {type(error).__name__}: {str(error)[:100]}")
    kernels = [one for one in kernels if half is None or sha256(one[1].encode()).digest()[0] % 2 == half]
    print(f"{len({name for _, name in kernels})} kernels", flush=True)
    return [
        Task(kind, number, name, rng.randrange(1 << 30))
        for _ in range(ROUNDS)
        for number, name in rng.sample(kernels, len(kernels))
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--in", dest="kind", choices=_HOSTS, default="own", help="where they are planted")
    parser.add_argument("--half", type=int, choices=(0, 1), help="in the kernels of one half alone")
    parser.add_argument("--blind", action="store_true", help="print the counts alone")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    found: list[Planted] = []
    tries = 0
    for one in each_of(planted, tasks(given.kind, given.seed, given.half), given.processes):
        tries += 1
        if one is not None:
            found.append(one)
            judgement = one.judgement
            if not given.blind:
                print(f"{judgement.said:11} {judgement.seconds:6.2f} s  ", end="")
                print(f"{one.host}, {one.kernel}: {one.what} | {judgement.cause[:150]}", flush=True)
            if len(found) == given.count:
                break
    print(counted((one.kind, one.judgement) for one in found))
    print(
        f"in {len({one.kernel for one in found})} kernels; {tries - len(found)} tries gave no wrong result, or failed"
    )


if __name__ == "__main__":
    main()
