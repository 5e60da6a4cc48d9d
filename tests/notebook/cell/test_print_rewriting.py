"""f-strings in a kernel's print become a prefix and values, on the lines where they stood."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.notebook.cell.print_rewriting import rewrite


def kernel(body: str) -> str:
    return "@triton.jit\ndef k(x):\n" + textwrap.indent(body, "    ")


@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        ('print(f"x = {x}")', "print('x = {}', x)"),
        ('print(f"{x:.2f} and {x + 1}")', "print('{:.2f} and {}', x, x + 1)"),
        ('print(f"{{x}}")', "print('{{x}}')"),
        ('print(f"é {x}"); y = 1', "print('é {}', x); y = 1"),
    ],
)
def test_an_f_string_becomes_a_prefix_and_values(written: str, becomes: str) -> None:
    assert rewrite(kernel(written)) == kernel(becomes)


@pytest.mark.parametrize("body", ['print("x", x)', 'print(f"{x:{x}}")', 'y = f"{x}"', 'print(f"{x}", x)'])
def test_other_prints_stay(body: str) -> None:
    assert rewrite(kernel(body)) == kernel(body)


def test_lines_keep_their_numbers() -> None:
    source = kernel('print(\n    f"x = {x}"\n)\ny = x')
    rewritten = rewrite(source)
    assert rewritten.split("\n")[5].strip() == source.split("\n")[5].strip() == "y = x"


def test_prints_outside_kernels_stay() -> None:
    source = 'def f(x):\n    print(f"{x}")\n'
    assert rewrite(source) == source


def test_what_is_not_python_comes_back_as_it_is() -> None:
    assert rewrite("def (") == "def ("


names = st.sampled_from(["x", "y[0]", "x + y[1]", "(x, y)", "'ö' if x else 'ü'"])
formats = st.sampled_from(["", ":.2f", ":>8", ":x", ":05d"])
literals = st.sampled_from(["", "x = ", "{{", "}}", "ö ", "a, b\\n", "%d "])


@st.composite
def printed(draw: st.DrawFn) -> str:
    """An f-string whose values take their formats, and what stands around it on its lines."""
    parts = draw(literals)
    for value in draw(st.lists(names, max_size=3)):
        format = draw(formats) if value in ("x", "x + y[1]") else ""
        parts += "{" + value + format + "}" + draw(literals)
    before = draw(st.sampled_from(["", "z = 'ä'; ", "x; "]))
    after = draw(st.sampled_from(["", "; z = 1", "  # ö"]))
    if draw(st.booleans()):
        return f'{before}print(f"{parts}"){after}'
    gap = draw(st.sampled_from(["\n        ", " ", "\n\n      "]))
    return f'{before}print({gap}f"{parts}" "{draw(st.sampled_from(["", "end"]))}"{gap}){after}'


# In a string a page break and a line separator end no line.
HEADS = ["", '"""a\x0cb\u2028c"""\n', "\n\n", "import sys  # \x0c \x1c\n"]


@settings(deadline=None)
@given(st.lists(printed(), min_size=1, max_size=4), st.sampled_from(HEADS))
def test_what_is_rewritten_prints_the_same_from_the_same_line(bodies: list[str], head: str) -> None:
    """Held to what Python makes of the f-strings."""
    body = "".join(f"    {each}\n" for each in bodies)
    source = f"{head}@jit\ndef kernel(x, y):\n{body}    return x\n"
    rewritten = rewrite(source)
    assert rewritten.count("\n") == source.count("\n")

    def run(text: str, made: Callable[..., str]) -> list[tuple[int, str]]:
        said: list[tuple[int, str]] = []

        def capture(*arguments: object) -> None:
            said.append((sys._getframe(1).f_lineno, made(*arguments)))

        there: dict[str, Any] = {"jit": lambda function: function, "print": capture}
        exec(text, there)
        assert there["kernel"](7, (1, 2)) == 7
        return said

    def filled(template: str, *values: object) -> str:
        return template.format(*values)

    assert run(rewritten, filled) == run(source, str)
