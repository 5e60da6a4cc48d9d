"""f-strings in a kernel's print become a prefix and values, on the lines where they stood."""

from __future__ import annotations

import textwrap

import pytest

from triton_lab.notebook.prints import rewrite


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
