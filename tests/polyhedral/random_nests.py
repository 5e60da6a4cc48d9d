"""Random affine loop nests, as Python text, and what plain Python says that they do."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

Place = tuple[str, tuple[int, ...]]
Visit = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class RandomNest:
    """``text`` for the front end, ``traced`` the same with a call before each statement."""

    text: str
    traced: str


@dataclass
class Trace:
    """The visits in order, and for each the elements it read and the one it wrote."""

    visits: list[Visit] = field(default_factory=list)
    reads: list[list[Place]] = field(default_factory=list)
    writes: list[Place] = field(default_factory=list)

    def memory_pairs(self) -> dict[tuple[str, str, str], set[tuple[int, ...]]]:
        """(kind, source, target) -> pairs of instances that touch one element, one of them writing."""
        found: dict[tuple[str, str, str], set[tuple[int, ...]]] = {}
        for later in range(len(self.visits)):
            for earlier in range(later):
                (s, p), (t, q) = self.visits[earlier], self.visits[later]
                kinds = []
                if self.writes[earlier] in self.reads[later]:
                    kinds.append("flow")
                if self.writes[later] in self.reads[earlier]:
                    kinds.append("anti")
                if self.writes[later] == self.writes[earlier]:
                    kinds.append("output")
                for kind in kinds:
                    found.setdefault((kind, s, t), set()).add((*p, *q))
        return found

    def value_pairs(self) -> dict[tuple[str, str, str], set[tuple[int, ...]]]:
        """("flow", source, target) -> each read with the last write before it."""
        found: dict[tuple[str, str, str], set[tuple[int, ...]]] = {}
        last: dict[Place, Visit] = {}
        for (name, point), reads, write in zip(self.visits, self.reads, self.writes, strict=True):
            for place in reads:
                if place in last:
                    source, instance = last[place]
                    found.setdefault(("flow", source, name), set()).add((*instance, *point))
            last[write] = (name, point)
        return found


class _Recorder:
    """An array that remembers what was read and written; it holds zeros."""

    def __init__(self, name: str, trace: Trace) -> None:
        self.name, self.trace = name, trace

    def __getitem__(self, index: object) -> int:
        self.trace.reads[-1].append((self.name, index if isinstance(index, tuple) else (index,)))  # type: ignore[arg-type]
        return 0

    def __setitem__(self, index: object, value: int) -> None:
        self.trace.writes.append((self.name, index if isinstance(index, tuple) else (index,)))  # type: ignore[arg-type]


def trace(nest: RandomNest, n: int) -> Trace:
    """What plain Python does when it executes ``nest``."""
    result = Trace()

    def visit(name: str, *point: int) -> None:
        result.visits.append((name, point))
        result.reads.append([])

    exec(nest.traced, {"n": n, "visit": visit, "A": _Recorder("A", result), "B": _Recorder("B", result)})
    return result


@st.composite
def affine(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    """``2*i - j + 3`` and the like."""
    parts = [f"{draw(st.sampled_from([-2, -1, 1, 1, 1, 2]))} * {name}" for name in names if draw(st.booleans())]
    return " + ".join([*parts, str(draw(st.integers(-2, 3)))])


@st.composite
def _condition(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    left, right = draw(affine(names)), draw(affine(names))
    plain = f"{left} {draw(st.sampled_from(['<', '<=', '>', '>=', '==', '!=']))} {right}"
    return draw(st.sampled_from([plain, f"({left}) % 2 == 0", f"({left}) // 2 < {right}", f"not ({plain})"]))


@st.composite
def _range(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    low = draw(st.sampled_from(["0", "1", *names]))
    high = draw(st.sampled_from(["n", "n - 1", "3", *(f"{name} + 2" for name in names), f"min(n, 2 + {low})"]))
    match draw(st.sampled_from(["up", "up", "two", "down"])):
        case "up":
            return f"range({low}, {high})"
        case "two":
            return f"range({low}, {high}, 2)"
    return f"range({high}, {low}, -1)"


@st.composite
def random_nests(draw: st.DrawFn) -> RandomNest:
    """One to three statements in one to three loops."""
    count = iter(range(100))
    plain: list[str] = []
    traced: list[str] = []

    def block(names: tuple[str, ...], indent: str, depth: int) -> None:
        for _ in range(draw(st.integers(1, 2 if depth < 2 else 1))):
            if depth < 3 and (not names or draw(st.booleans())):
                name = "ijk"[depth]
                head = f"{indent}for {name} in {draw(_range(names))}:"
                plain.append(head)
                traced.append(head)
                block((*names, name), f"{indent}    ", depth + 1)
            elif draw(st.integers(0, 3)) == 0:
                head = f"{indent}if {draw(_condition(names))}:"
                plain.append(head)
                traced.append(head)
                statement(names, f"{indent}    ")
            else:
                statement(names, indent)

    def statement(names: tuple[str, ...], indent: str) -> None:
        def load() -> str:
            array = draw(st.sampled_from("AB"))
            return f"{array}[{', '.join(draw(affine(names)) for _ in range(2 if array == 'A' else 1))}]"

        op = draw(st.sampled_from(["=", "+="]))
        value = " + ".join([load() for _ in range(draw(st.integers(0, 2)))] or ["1"])
        traced.append(f"{indent}visit({', '.join([repr(f'S{next(count)}'), *names])})")
        line = f"{indent}{load()} {op} {value}"
        plain.append(line)
        traced.append(line)

    block((), "", 0)
    return RandomNest("\n".join(plain), "\n".join(traced))
