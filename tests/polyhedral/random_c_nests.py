"""Random C nests with all that C's front end reads, and what they do: the same program as Python that notes it.

Each statement has a label, so that its instances here and in a scop have the same name. Sizes are small, and every
subscript stays in its array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

SIZE = 64
ARRAYS = ("A", "B")
Place = tuple[str, int]
Instance = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class CNest:
    """``text`` in C, ``traced`` in Python; ``depends``: whether data decides what runs."""

    text: str
    traced: str
    depends: bool


@dataclass
class CTrace:
    """The labelled instances in order, what each read and wrote, and the memory after all."""

    instances: list[Instance] = field(default_factory=list)
    reads: list[list[Place]] = field(default_factory=list)
    writes: list[list[Place]] = field(default_factory=list)
    memory: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Both:
    """An expression in C and in Python."""

    c: str
    python: str


def trace(nest: CNest, n: int, start: dict[str, list[int]]) -> CTrace:
    """What ``nest`` does from ``start`` on."""
    result = CTrace(memory={name: list(values) for name, values in start.items()})
    outside: list[Place] = []  # what conditions read belongs to no statement

    def enter(name: str, *point: int) -> bool:
        result.instances.append((name, point))
        result.reads.append([])
        result.writes.append([])
        return True

    def load(name: str, index: int = 0) -> int:
        (result.reads[-1] if entered[0] else outside).append((name, index))
        return result.memory[name][index]

    def store(name: str, index: int, value: int) -> None:
        result.writes[-1].append((name, index))
        result.memory[name][index] = value
        entered[0] = False

    entered = [False]

    def begin(name: str, *point: int) -> None:
        enter(name, *point)
        entered[0] = True

    exec(nest.traced, {"n": n, "begin": begin, "load": load, "store": store})
    return result


class _Generator:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.c: list[str] = []
        self.python: list[str] = []
        self.labels = 0
        self.depends = False
        self.constants: list[str] = []

    # Expressions.

    def affine(self, names: tuple[str, ...]) -> _Both:
        parts = [f"{self.random.choice([-1, 1, 1, 2])} * {name}" for name in names if self.random.random() < 0.6]
        plain = " + ".join([*parts, str(self.random.randint(-2, 3))])
        both = _Both(plain, plain)
        match self.random.randint(0, 9):
            case 0:
                low = self.affine(names)
                when = self.comparison(names)
                return _Both(
                    f"({when.c} ? {both.c} : {low.c})", f"(({both.python}) if {when.python} else ({low.python}))"
                )
            case 1:
                return _Both(f"min({both.c}, 3)", f"min({both.python}, 3)")
            case 2 if self.constants:
                name = self.random.choice(self.constants)
                return _Both(f"{both.c} + {name}", f"{both.python} + {name}")
            case 3:
                return _Both(f"(({both.c}) >> 1)", f"(({both.python}) >> 1)")
            case 4:
                return _Both(f"(unsigned char)({both.c}) % 8", f"(({both.python}) % 256) % 8")
        return both

    def index(self, names: tuple[str, ...]) -> _Both:
        inner = self.affine(names)
        if self.random.random() < 0.3:
            return _Both(f"({inner.c}) & {SIZE // 2 - 1}", f"({inner.python}) & {SIZE // 2 - 1}")
        return _Both(f"{inner.c} + 30", f"{inner.python} + 30")

    def load(self, names: tuple[str, ...]) -> _Both:
        if self.random.random() < 0.2:
            return _Both("s", "load('s')")
        array, index = self.random.choice(ARRAYS), self.index(names)
        return _Both(f"{array}[{index.c}]", f"load({array!r}, {index.python})")

    def comparison(self, names: tuple[str, ...]) -> _Both:
        parts = [f"{self.random.choice([-1, 1, 2])} * {name}" for name in (*names, "n") if self.random.random() < 0.6]
        left, right = " + ".join([*parts, "1"]), str(self.random.randint(-1, 4))
        op = self.random.choice(["<", "<=", ">", ">=", "==", "!=", "!="])
        return _Both(f"{left} {op} {right}", f"({left} {op} {right})")

    def condition(self, names: tuple[str, ...], data: bool) -> _Both:
        plain = self.comparison(names)
        if data:
            self.depends = True
            read = self.load(names)
            number = self.random.randint(0, 3)
            asked = _Both(f"{read.c} % 4 > {number}", f"({read.python} % 4 > {number})")
            match self.random.randint(0, 4):
                case 0:
                    return _Both(f"{plain.c} && {asked.c}", f"({plain.python} and {asked.python})")
                case 1:
                    return _Both(f"{asked.c} || {plain.c}", f"({asked.python} or {plain.python})")
                case 2:
                    return _Both(f"!({asked.c})", f"(not {asked.python})")
            return asked
        other = self.comparison(names)
        match self.random.randint(0, 4):
            case 0:
                return _Both(f"({plain.c} || {other.c})", f"({plain.python} or {other.python})")
            case 1:
                return _Both(f"!({plain.c})", f"(not {plain.python})")
            case 2:
                third = self.comparison(names)
                return _Both(
                    f"({plain.c} ? {other.c} : {third.c})",
                    f"({other.python} if {plain.python} else {third.python})",
                )
        return plain

    def value(self, names: tuple[str, ...]) -> _Both:
        one, other = self.load(names), self.load(names)
        when = self.condition(names, data=False) if self.random.random() < 0.5 else None
        if when is not None and self.random.random() < 0.5:
            return _Both(
                f"({when.c} ? {one.c} : {other.c} + 1)", f"({one.python} if {when.python} else {other.python} + 1)"
            )
        op = self.random.choice(["+", "|", "^", "&"])
        return _Both(f"(({one.c} {op} {other.c}) & 255)", f"(({one.python} {op} {other.python}) & 255)")

    # Statements.

    def line(self, depth: int, c: str, python: str | None = None) -> None:
        self.c.append("  " * depth + c)
        if python is not None:
            self.python.append("  " * depth + python)

    def statement(self, names: tuple[str, ...], depth: int, scalar: bool = True) -> None:
        label = f"L{self.labels}"
        self.labels += 1
        self.line(depth, "", f"begin({', '.join([repr(label), *names])})")
        op = self.random.choice(["", "", "", "+", "|", "^", "&", ">>", "%"])
        value = self.value(names)
        if op in (">>", "%"):
            value = _Both("3", "3")
        if scalar and self.random.random() < 0.25:
            target, array, index = "s", "s", "0"
        else:
            place = self.index(names)
            array = self.random.choice(ARRAYS)
            target, index = f"{array}[{place.c}]", place.python
        new = f"load({array!r}, {index}) {op} ({value.python})" if op else value.python
        self.line(depth, f"{label}: {target} {op}= {value.c};", f"store({array!r}, {index}, {new})")

    def block(self, names: tuple[str, ...], depth: int, loop: bool) -> None:
        for _ in range(self.random.randint(1, 3 if len(names) < 2 else 2)):
            choice = self.random.random()
            if len(names) < 2 and (not names or choice < 0.3):
                self.loop(names, depth)
            elif choice < 0.55:
                self.branch(names, depth, loop)
            elif choice < 0.65 and names:
                name = f"k{self.labels}_{len(self.c)}"
                value = self.comparison(names).c.split(" ")[0] + " + " + names[-1]
                self.line(depth, f"int {name} = {value};", f"{name} = {value}")
                self.constants.append(name)
                self.statement(names, depth)
                self.constants.remove(name)
            else:
                self.statement(names, depth)

    def branch(self, names: tuple[str, ...], depth: int, loop: bool) -> None:
        when = self.condition(names, data=self.random.random() < 0.5)
        self.line(depth, f"if ({when.c}) {{", f"if {when.python}:")
        kind = self.random.random()
        if loop and kind < 0.35:
            if self.random.random() < 0.5:
                self.statement(names, depth + 1)
            word = self.random.choice(["break", "continue"])
            self.line(depth + 1, f"{word};", word)
        else:
            self.block(names, depth + 1, loop) if len(names) > 1 else self.statement(names, depth + 1)
        if self.random.random() < 0.4:
            self.line(depth, "} else {", "else:")
            self.statement(names, depth + 1)
        self.line(depth, "}")

    def loop(self, names: tuple[str, ...], depth: int) -> None:
        name = "ij"[len(names)]
        low = self.random.choice(["0", "1", *names])
        high = self.random.choice(["n", "n", "4", *(f"{outer} + 2" for outer in names)])
        head: tuple[str, str]
        match self.random.randint(0, 4):
            case 0:
                head = f"for (int {name} = 0; {name} != n; {name}++)", f"for {name} in range(0, n):"
            case 1:
                head = (
                    f"for (int {name} = {high}; {name} > {low}; {name}--)",
                    f"for {name} in range({high}, {low}, -1):",
                )
            case 2:
                head = (
                    f"for (int {name} = {low}; {name} < {high}; {name} += 2)",
                    f"for {name} in range({low}, {high}, 2):",
                )
            case 3:
                head = f"for (unsigned {name} = 0; {name} < 5; {name}++)", f"for {name} in range(5):"
                if names:
                    head = f"for (int {name} = 0; {name} < 5; {name}++)", f"for {name} in range(5):"
                else:
                    head = head[0].replace("unsigned", "short"), head[1]
            case _:
                head = f"for (int {name} = {low}; {name} < {high}; {name}++)", f"for {name} in range({low}, {high}):"
        self.line(depth, f"{head[0]} {{", head[1])
        self.block((*names, name), depth + 1, True)
        self.line(depth, "}")


def random_c_nest(random: Random) -> CNest:
    """A nest of loops, conditions and labelled statements."""
    made = _Generator(random)
    made.block((), 0, False)
    return CNest("\n".join(line for line in made.c if line.strip()), "\n".join(made.python), made.depends)


def starting_memory(random: Random) -> dict[str, list[int]]:
    """Numbers for the arrays and the scalar."""
    memory = {name: [random.randint(0, 9) for _ in range(SIZE)] for name in ARRAYS}
    return {**memory, "s": [random.randint(0, 9)]}


Oracle = Callable[[CNest, int], CTrace]
