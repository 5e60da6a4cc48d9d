"""Lazy tensors are called as torch's are: no parameter has a name of our own."""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from triton_lab import lazy

STUBS = Path(torch.__file__).parent / "_C"
# Beside torch's: the name that pictures give a tensor, and what torch's stub calls otherwise than torch does.
OURS = {"tensor": {"name"}, "requires_grad_": {"requires_grad"}}


def signatures() -> Iterator[tuple[str, set[str]]]:
    """Function or method -> its parameters, for each overload that torch declares."""
    for file in ("__init__.pyi", "_VariableFunctions.pyi"):
        for node in ast.walk(ast.parse((STUBS / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                arguments = node.args
                yield (
                    node.name,
                    {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)},
                )
    for name, method in inspect.getmembers(torch.Tensor, inspect.isfunction):
        with contextlib.suppress(ValueError):  # a wrapper of a builtin, which the stubs tell
            yield name, set(inspect.signature(method).parameters)


@pytest.fixture(scope="module")
def known() -> dict[str, set[str]]:
    """What torch calls the parameters of a function, all overloads together."""
    found: dict[str, set[str]] = {}
    for name, parameters in signatures():
        found.setdefault(name, set()).update(parameters)
    return found


def named(function: object) -> set[str]:
    """The parameters that can be given by name."""
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)} - {"self"}


def test_functions_take_what_torchs_take(known: dict[str, set[str]]) -> None:
    functions = {name: getattr(lazy, name) for name in lazy.__all__ if name in known}
    assert len(functions) > 12
    odd = {
        name: named(f) - known[name] - OURS.get(name, set()) for name, f in functions.items() if inspect.isfunction(f)
    }
    assert {name: extra for name, extra in odd.items() if extra} == {}


def test_methods_take_what_torchs_take(known: dict[str, set[str]]) -> None:
    methods = dict(inspect.getmembers(lazy.Tensor, inspect.isfunction))
    odd = {
        n: named(m) - known[n] - OURS.get(n, set()) for n, m in methods.items() if not n.startswith("_") and n in known
    }
    assert len(odd) > 60
    assert {name: extra for name, extra in odd.items() if extra} == {}


def test_a_device_may_be_named_in_words() -> None:
    for made in (lazy.tensor([1.0], device="cpu"), lazy.ones(1, device="cpu")):
        assert made.device == torch.device("cpu")
        assert (made + 1).tolist() == [2.0]
