"""The texts of hostile nests: of a grammar without measure, and programs with damaged text."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from triton_lab.polyhedral.polybench.problems import POLYBENCH
from triton_lab.polyhedral.related_work import page_nests

COUNT = 2000

_PYTHON = (
    "for i in range(n):\n    for j in range(i, n):\n        A[i, j] = A[i - 1, j] + B[j]\n",
    "def f(A, x, n):\n    for i in range(1, n):\n        if i % 2 == 0 and i < n - 3:\n            A[i] = x[i // 2]\n",
    "for t in range(T):\n    for i in range(1, n - 1):\n        B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3\n",
    "def f(C, A):\n    for i in range(C.shape[0]):\n        C[i] = max(A[i], 0) if i > 2 else -A[i]\n    return C\n",
)
_PAGE = tuple(text for name, text in vars(page_nests).items() if name.isupper() and isinstance(text, str))
_SPICE = (
    "(", ")", "[", "]", "{", "}", ";", ":", ",", "$", "@", "\\", "'", '"', "/*", "*/", "//", "#", "\x00", "\ud800",
    "\udfff", "\u2028", "\x85", "\x0b", "\x0c", "\r", "\t", "é", "λ", "𝔸", "0x", "1e999", "08", "9" * 25, "'a'",
    "~", "!", "&&", "||", "^", "<<", "->", "++", "--", "?", " else ", " if ", " for ", " while (1) ", " and ",
    " or ", " not ", "lambda: 0", " in ", "return ", "break;", "goto x;", "x:", "int ", "unsigned ", "struct s ",
    "sizeof(int)", "min(", "floord(i, 0)", "i % 0", "i / -3", "A[A[i]]", "A[i][j][k]", "A", "i = 3;", "**", ":=",
    "1_000", "1j", "f''", "...", "None", "exists", "mod",
)  # fmt: skip


def texts(seed: int, count: int = COUNT) -> Iterator[tuple[str, str]]:
    """Names and texts: the first are those with one measure without bounds, the others are damaged or of a grammar."""
    random = Random(seed)
    made = 0
    for name, text in _without_measure():
        yield name, text
        made += 1
    bases = [*_PAGE, *POLYBENCH.values(), *_PYTHON]
    for number in range(made, count):
        if number % 3 == 0:
            yield f"damaged {number}", _damaged(random, random.choice(bases))
        else:
            text = _c_nest(random, 0) if random.random() < 0.6 else _python_nest(random, 0)
            yield f"grammar {number}", text if random.random() < 0.85 else _damaged(random, text)


def _without_measure() -> Iterator[tuple[str, str]]:
    """Texts that are long, deep or wide in one respect."""
    for size in (3, 10, 30, 100, 300, 1000):
        yield f"{size} brackets", f"A[0] = {'(' * size}1{')' * size};"
        yield f"{size} brackets in Python", f"for i in range(n):\n    A[i] = {'(' * size}1{')' * size}\n"
        yield f"{size} terms", f"A[0] = {'+'.join(f'B[{q}]' for q in range(size))};"
        yield (
            f"{size} terms in Python",
            f"for i in range(n):\n    A[i] = {'+'.join(f'B[i + {q}]' for q in range(size))}\n",
        )
        yield f"{size} terms of a subscript", f"for (int i = 0; i < n; i++) A[{'+'.join(['i'] * size)}] = 1;"
        yield f"{size} signs", f"A[0] = {'- ' * size}1;"
        yield f"{size} signs in Python", f"for i in range(n):\n    A[i] = {'-' * size}1\n"
        yield f"{size} negations", f"if ({'!' * size}(n < 3)) A[0] = 1;"
        yield f"{size} powers", f"for i in range(n):\n    A[i] = {'**'.join(['x'] * size)}\n"
        yield f"{size} choices", f"A[0] = {''.join(f'n < {q} ? {q} : ' for q in range(size))}0;"
        yield f"{size} ifs", "".join(f"if (n == {q}) A[{q}] = 1; else " for q in range(size)) + "A[0] = 2;"
        yield f"{size} blocks", "{" * size + "A[0] = 1;" + "}" * size
        yield f"{size} loops", "".join(f"for (int i{q} = 0; i{q} < n; i{q}++) " for q in range(size)) + "A[i0] = 1;"
        yield (
            f"{size} loops in Python",
            "".join(f"{' ' * q}for i{q} in range(n):\n" for q in range(size)) + " " * size + "A[i0] = 1\n",
        )
        yield f"{size} statements", "for (int i = 0; i < n; i++) {" + "A[i] = A[i - 1] + 1;\n" * size + "}"
        yield (
            f"{size} statements and an error",
            "for (int i = 0; i < n; i++) {\n" + "A[i] = A[i - 1] + 1;\n" * size + "$}",
        )
        yield f"{size} parameters", f"for (int i = 0; i < {' + '.join(f'n{q}' for q in range(size))}; i++) A[i] = 1;"
        yield f"{size} subscripts", f"for (int i = 0; i < n; i++) A{'[i]' * size} = 1;"
        yield f"{size} digits", f"for (int i = 0; i < {'7' * size}; i++) A[i * {'3' * size}] = {'1' * size};"
        yield f"{size} digits in Python", f"for i in range({'7' * size}):\n    A[i * {'3' * size}] = {'1' * size}\n"
        yield (
            f"{size} letters",
            f"for (int {'i' * size} = 0; {'i' * size} < n; {'i' * size}++) {'A' * size}[{'i' * size}] = 1;",
        )
        yield (
            f"{size} maxima",
            f"for (int i = {'+'.join(f'max(n, {q} * m)' for q in range(size))}; i < k; i++) A[i] = 1;",
        )
        yield f"{size} minima in one another", f"A[{'min(n, ' * size}m{')' * size}] = 1;"
        yield (
            f"{size} remainders",
            f"for (int i = 0; i < n; i++) A[{'+'.join(f'(i - {q}) % {q + 2}' for q in range(size))}] = 1;",
        )
        yield f"{size} divisions", f"for (int i = 0; i < n; i++) A[i{''.join(f' / {q + 2}' for q in range(size))}] = 1;"
        yield (
            f"{size} conditions of two cases",
            "for (int i = 0; i < n; i++) if ("
            f"{' && '.join(f'(i != {3 * q} || i < {q})' for q in range(size))}) A[i] = 1;",
        )
        yield (
            f"{size} gaps",
            f"for (int i = 0; i < n; i++) if ({' && '.join(f'i != m{q}' for q in range(size))}) A[i] = 1;",
        )
        yield (
            f"{size} bounds",
            f"for (int i = 0; {' && '.join(f'i < n + {q} * m' for q in range(size))}; i++) A[i] = 1;",
        )
        yield (
            f"{size} scalars",
            "".join(f"int s{q} = {f's{q - 1} + s{q - 1}' if q else 'n'};" for q in range(size))
            + f"A[s{size - 1}] = 1;",
        )


def _damaged(random: Random, text: str) -> str:
    """``text`` with one to four places changed."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        at = random.randint(0, len(text))
        size = random.choice((1, 1, 2, 5, 20))
        match random.randrange(7):
            case 0:
                text = text[:at] + text[at + size :]
            case 1 | 2:
                text = text[:at] + random.choice(_SPICE) + text[at:]
            case 3:
                text = text[:at] + random.choice(_SPICE) + text[at + size :]
            case 4:
                text = text[:at] + text[max(0, at - size) : at] * random.choice((2, 3, 30)) + text[at:]
            case 5:
                text = text[:at]
            case 6:
                text = text[:at] + chr(random.choice((random.randrange(128), random.randrange(0x11000)))) + text[at:]
    return text


_NAMES = (
    "i",
    "j",
    "k",
    "n",
    "m",
    "N",
    "t",
    "x",
    "e0",
    "o0_",
    "c0",
    "floor",
    "exists",
    "mod",
    "S0",
    "A",
    "range",
    "int_",
)


def _iterators(random: Random, loops: int) -> str:
    """The iterators of the loops around, or now and then one more."""
    return "ijklp"[: loops + (random.random() < 0.05)]


def _expression(random: Random, depth: int, python: bool, loops: int) -> str:
    if depth > 3 or random.random() < 0.35:
        if random.random() < 0.97:
            return random.choice((*_iterators(random, loops), *_iterators(random, loops), "n", "m", "0", "1", "2", "7"))
        return random.choice((*_NAMES, str(random.randrange(1 << 40)), "1.5", "A[i]"))
    left, right = (_expression(random, depth + 1, python, loops) for _ in range(2))
    match random.choice((0, 0, 0, 3, 3, 9)) if random.random() < 0.92 else random.randrange(10):
        case 0 | 1 | 2:
            return f"{left} {random.choice('+-')} {right}"
        case 3:
            return f"{random.choice(('2', '3', '-4', '100', '5', '7', left))} * ({right})"
        case 4:
            operation = "//" if python and random.random() < 0.7 else random.choice("/%")
            return f"({left}) {operation} {random.choice(('2', '3', '0', '-2', '64', '1000003', right))}"
        case 5:
            return f"{random.choice(('min', 'max', 'abs', 'sqrt', 'f'))}({left}, {right})"
        case 6:
            return f"-({left})"
        case 7:
            return f"{random.choice('ABC')}[{left}]" + random.choice(("", f"[{right}]"))
        case 8:
            condition = _condition(random, depth + 1, python, loops)
            return f"({left} if {condition} else {right})" if python else f"({condition} ? {left} : {right})"
    return f"({left})"


def _condition(random: Random, depth: int, python: bool, loops: int) -> str:
    if depth < 4 and random.random() < 0.4:
        one, other = (_condition(random, depth + 1, python, loops) for _ in range(2))
        words = ("and", "or") if python else ("&&", "||")
        joined = f"({one} {random.choice(words)} {other})"
        return joined if random.random() < 0.8 else f"{'not ' if python else '!'}{joined}"
    comparison = random.choice(("<", "<=", ">", ">=", "==", "!="))
    return (
        f"{_expression(random, depth + 1, python, loops)} {comparison} {_expression(random, depth + 1, python, loops)}"
    )


def _c_nest(random: Random, depth: int) -> str:
    lines = []
    for _ in range(random.choice((1, 1, 2, 3))):
        kind = random.random()
        if depth < 5 and kind < 0.6:
            name = random.choice(("i", "j", "k", "l", "p")) if random.random() < 0.05 else "ijklp"[depth]
            bound = _expression(random, 2, False, depth)
            start = random.choice(("0", "1", "-3", _expression(random, 3, False, depth)))
            step = random.choice((f"{name}++", f"{name}++", f"{name} += 3"))
            if random.random() < 0.03:
                step = random.choice((f"{name}--", f"{name} += 0", f"{name} += {name}", ""))
            body = _c_nest(random, depth + 1)
            compare = random.choice(("<", "<=", "<", "<=", "<", ">="))
            lines.append(f"for (int {name} = {start}; {name} {compare} {bound}; {step}) {{\n{body}}}")
        elif depth < 5 and kind < 0.75:
            orelse = f" else {{ {_c_nest(random, depth + 1)} }}" if random.random() < 0.3 else ""
            lines.append(f"if ({_condition(random, 0, False, depth)}) {{ {_c_nest(random, depth + 1)} }}{orelse}")
        elif kind < 0.77:
            kind_of = random.choice(("int", "int", "double", "long", "int", "unsigned"))
            lines.append(f"{kind_of} {random.choice(_NAMES)} = {_expression(random, 2, False, depth)};")
        else:
            usual = ("=", "=", "=", "=", "+=", "*=")
            operation = random.choice(usual if random.random() < 0.95 else ("|=", "<<=", "%="))
            target = f"{random.choice('ABC')}[{_expression(random, 2, False, depth)}]"
            lines.append(f"{target} {operation} {_expression(random, 0, False, depth)};")
    return "\n".join(lines) + "\n"


def _python_nest(random: Random, depth: int) -> str:
    space, lines = "    " * depth, []
    for _ in range(random.choice((1, 1, 2))):
        kind = random.random()
        if depth < 5 and kind < 0.6:
            bounds = ", ".join(_expression(random, 2, True, depth) for _ in range(random.choice((1, 1, 2))))
            if random.random() < 0.02:
                bounds = f"0, {bounds.split(', ')[0]}, {random.choice(('2', '-1', '0', 'n'))}"
            lines.append(f"{space}for {'ijklp'[depth]} in range({bounds}):\n{_python_nest(random, depth + 1)}")
        elif 0 < depth < 5 and kind < 0.75:
            lines.append(f"{space}if {_condition(random, 0, True, depth)}:\n{_python_nest(random, depth + 1)}")
        else:
            target = f"{random.choice('ABC')}[{_expression(random, 2, True, depth)}]"
            lines.append(f"{space}{target} = {_expression(random, 0, True, depth)}\n")
    return "".join(lines)
