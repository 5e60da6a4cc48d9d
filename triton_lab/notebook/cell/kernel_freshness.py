"""Kernels that are compiled again when their helpers or globals change.

Triton compiles a kernel once and keeps it, with the helper functions as they were then, and refuses to run it once a
global has changed. In a notebook, where cells are run again and again, that shows yesterday's kernel. So each kernel of
the notebook gets a hook that runs before its launches: it drops the compiled kernel if something that it uses has
changed.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Mapping
from typing import Any

from triton_lab.backend.source.kernel_dependencies import as_callable, fingerprint, used

# By identity: a kernel's own hash is that of its text, and changes with it.
_followed: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def follow_all(namespace: Mapping[str, Any]) -> None:
    """Follow every kernel in ``namespace``, including those with an autotuner or heuristics."""
    for value in list(namespace.values()):
        kernel = jit_function(value)
        if kernel is not None:
            follow(kernel)


def jit_function(value: Any) -> Any:
    """The JITFunction that ``value`` is or wraps, or None."""
    from triton.runtime.jit import JITFunction, KernelInterface

    depth = 0
    while isinstance(value, KernelInterface) and not isinstance(value, JITFunction) and depth < 10:
        value, depth = getattr(value, "fn", None), depth + 1
    return value if isinstance(value, JITFunction) else None


def follow(kernel: Any) -> None:
    """Have ``kernel`` compiled again from now on after a change of what it uses."""
    if _followed.get(id(kernel)) is kernel:
        return
    _followed[id(kernel)] = kernel
    known = fingerprint(kernel)
    reference = weakref.ref(kernel)

    def refresh(*_: Any, **__: Any) -> None:
        nonlocal known
        kernel = reference()
        if kernel is None:
            return
        now = fingerprint(kernel)
        if now != known:
            known = now
            forget(kernel)
            # Triton's own key has neither types nor the values found in modules: its disk cache would return the old
            # kernel.
            kernel.hash = hashlib.sha256(f"{kernel.cache_key} {_told(now)}".encode()).hexdigest()

    kernel.add_pre_run_hook(refresh)


def _told(known: tuple[Any, ...]) -> str:
    """A fingerprint as text that is the same in every process: it has no identities."""
    parts = []
    for name, *rest in known:
        parts.append(f"{name}: {rest[1]} {_told(rest[2])}" if len(rest) == 3 else f"{name}: {rest}")
    return "; ".join(parts)


def forget(kernel: Any, seen: set[int] | None = None) -> None:
    """Drop Triton's compiled versions of ``kernel``, and the hashes that it keeps of it and its helpers."""
    seen = set() if seen is None else seen
    if id(kernel) in seen:
        return
    seen.add(id(kernel))
    kernel.hash = None
    kernel.used_global_vals = {}
    if hasattr(kernel, "device_caches"):
        kernel.device_caches.clear()
    for _, value in used(kernel):
        helper = as_callable(value)
        if helper is not None:
            forget(helper, seen)
