"""Shares compiled kernels: equal kernels are compiled once, even for different graphs.

Two kernels are equal if their texts are equal without names (of the kernel, its arguments, the numbers of values, the
docstring), and they are compiled for the same dtypes, tiles and target.
"""

from __future__ import annotations

import linecache
import re
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from triton_lab.lazy.codegen import GeneratedKernel
from triton_lab.lazy.graph import short

NUMBERED = re.compile(r"\b(v|at|part|index|found)(\d+)(?=\b|_)")


@dataclass(frozen=True, eq=False)
class SharedKernel:
    """A Triton function (or the interpreter's substitute) whose source is in `linecache` while this object lives."""

    function: Any

    def __post_init__(self) -> None:
        weakref.finalize(self, _forget, self.function.fn.__code__.co_filename).atexit = False


class SharedKernels:
    """The compiled kernels of living executables, with counts. It has no lock: steps take `storage.lock`."""

    def __init__(self) -> None:
        self._known: weakref.WeakValueDictionary[tuple[str, ...], SharedKernel] = weakref.WeakValueDictionary()
        self.compiled = 0
        self.reused = 0

    def find(self, key: tuple[str, ...]) -> SharedKernel | None:
        """The kernel compiled under this key; counts a use."""
        found = self._known.get(key)
        self.reused += found is not None
        return found

    def keep(self, key: tuple[str, ...], compiled: SharedKernel) -> None:
        """Add a kernel that was just compiled."""
        self._known[key] = compiled
        self.compiled += 1

    def clear(self) -> None:
        """Forget all kernels compiled so far, and the counts."""
        self._known.clear()
        self.compiled = self.reused = 0


shared = SharedKernels()


def key(kernel: GeneratedKernel, dtypes: Sequence[torch.dtype], target: str) -> tuple[str, ...]:
    """The key of a compiled kernel: everything that determines it."""
    told = " ".join(map(short, dtypes))
    return unnamed(kernel), told, str(kernel.tiles), f"checks {kernel.checks}", target


def unnamed(kernel: GeneratedKernel) -> str:
    """The text of a kernel without the names and numbers that its graph gave it."""
    before, _, rest = kernel.source.partition(f"def {kernel.name}(")
    head, _, body = rest.partition("\n")
    body = body.partition("\n")[2]  # after the docstring
    arguments = [name.strip() for name in head.split(",") if "constexpr" not in name]
    place = {name: f"argument{position}" for position, name in enumerate(arguments)}
    text = re.sub(r"\b[a-z]+\d+\b", lambda word: place.get(word[0], word[0]), f"{head}\n{body}")
    numbers: dict[str, int] = {}
    text = NUMBERED.sub(lambda word: f"{word[1]}_{numbers.setdefault(word[2], len(numbers))}", text)
    return before + text


def _forget(filename: str) -> None:
    """Remove a source from `linecache`. (Triton's registry keeps the last function of a name.)"""
    linecache.cache.pop(filename, None)
