"""`compile`: compiles a kernel for a GPU, on any machine."""

from __future__ import annotations

import collections
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, overload

from triton_lab.backend.source.kernel_dependencies import as_callable, used
from triton_lab.compiled import compiler_client, disk_cache
from triton_lab.compiled.architecture import Architecture, architectures
from triton_lab.compiled.compile_failure import CompileError, error_of
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.compiled_list import CompiledList
from triton_lab.compiled.compiler_client import MAX_BYTES, SECONDS, CompileOutcome
from triton_lab.compiled.front_end import Request, read
from triton_lab.compiled.request import Signature, source_of
from triton_lab.compiled.user_sources import sources_of

_MOST_KEPT = 256

_lock = threading.Lock()
_remembered: collections.OrderedDict[Any, Compiled] = collections.OrderedDict()


@overload
def compile(
    kernel: Any,
    signature: Signature,
    constants: Mapping[str, Any] | None = None,
    target: str | None = None,
    *,
    seconds: float = SECONDS,
    max_bytes: int = MAX_BYTES,
    **options: Any,
) -> Compiled: ...
@overload
def compile(
    kernel: Any,
    signature: Signature,
    constants: Mapping[str, Any] | None = None,
    target: Sequence[str] = ...,
    *,
    seconds: float = SECONDS,
    max_bytes: int = MAX_BYTES,
    **options: Any,
) -> CompiledList: ...
def compile(
    kernel: Any,
    signature: Signature,
    constants: Mapping[str, Any] | None = None,
    target: str | Sequence[str] | None = None,
    *,
    seconds: float = SECONDS,
    max_bytes: int = MAX_BYTES,
    **options: Any,
) -> Compiled | CompiledList:
    """Compile ``kernel`` for a GPU that this machine need not have; several targets give a list.

    ``signature`` has the types of its parameters as Triton writes them, by name or in order: ``"*fp32, *fp32, i32"``;
    ``:16`` after a type says that the address or number is a multiple of 16, as a new tensor's address is.
    ``constants`` are the values of the other parameters. ``target`` is one of sm_80, sm_90, sm_100, sm_120, gfx942,
    gfx950 and gfx1200, or this machine's GPU. The default is this machine's GPU, else sm_90. ``options`` are
    Triton's: num_warps, num_stages and others.

    The compiler runs in a process of its own, limited to ``seconds`` and to ``max_bytes`` of memory. Results are kept
    in Triton's cache. Raises CompileError with the line at fault, Triton's CompilationError for what its front end
    refuses, and ValueError or TypeError for arguments that do not fit the kernel.

    >>> from triton_lab.examples.vector_add import add_kernel
    >>> compiled = lab.compile(add_kernel, "*fp32:16, *fp32:16, *fp32:16, i32", {"BLOCK": 1024}, "sm_90", num_warps=4)
    >>> compiled.metadata.shared, compiled.metadata.spills, compiled.metadata.matrix
    (0, 0, {})
    >>> lab.compile(add_kernel, "*fp32, *fp32, *fp32, i32", {"BLOCK": 1024}, "sm_9")
    Traceback (most recent call last):
        ...
    ValueError: there is no target 'sm_9' to compile for; choose sm_90, ...
    """
    source = source_of(kernel, signature, constants or {})
    made = successes(compiled_all([(source, one, options) for one in architectures(target)], seconds, max_bytes))
    return made[0] if target is None or isinstance(target, str) else CompiledList(made)


def compiled_all(
    asked: Sequence[tuple[Any, Architecture, Mapping[str, Any]]],
    seconds: float,
    max_bytes: int,
    disassembled: bool = True,
) -> list[Compiled | CompileError]:
    """A compilation or its error for each source (an ASTSource), target and options, all compiled at once.

    Without ``disassembled`` a compilation may lack the text of its machine code, and is not kept in this process.
    Raises what Triton's front end raises, and ValueError for options.
    """
    known = [_find(*one) for one in asked]
    # Triton's front end is not thread-safe, so it runs here. The other stages only wait for processes.
    requests = [
        None if found else replace(read(*one), disassembled=disassembled)
        for found, one in zip(known, asked, strict=True)
    ]
    stop = threading.Event()
    with ThreadPoolExecutor(compiler_client.MOST) as pool:
        waiting = [
            None if request is None else pool.submit(_compiled, source, request, options, seconds, max_bytes, stop)
            for request, (source, _, options) in zip(requests, asked, strict=True)
        ]
        try:
            made = [found or wait.result() for found, wait in zip(known, waiting, strict=True)]  # type: ignore[union-attr]
        except BaseException:
            stop.set()  # an interrupt does not wait for compilers
            raise
    # Errors are made on this thread: it runs the cell, so that their lines are reported as lines of this cell.
    return [
        error_of(source, request, one, max_bytes) if isinstance(one, CompileOutcome) and request is not None else one  # type: ignore[misc]
        for one, request, (source, _, _) in zip(made, requests, asked, strict=True)
    ]


def successes(made: Sequence[Compiled | CompileError]) -> list[Compiled]:
    """All compilations. Raises the first error among them."""
    for one in made:
        if isinstance(one, CompileError):
            raise one
    return [one for one in made if isinstance(one, Compiled)]


def _key(source: Any, target: Architecture, options: Mapping[str, Any]) -> Any:
    constants = tuple((place, type(value), repr(value)) for place, value in source.constants.items())
    signature = tuple((name, repr(type)) for name, type in source.signature.items())
    chosen = tuple((name, repr(value)) for name, value in sorted(options.items()))
    surroundings = tuple(compiler_client.environment().items())
    return (_meaning(source.fn), signature, constants, repr(source.attrs), target, chosen, surroundings)


def _meaning(kernel: Any, seen: frozenset[int] = frozenset()) -> tuple[Any, ...]:
    """What a kernel means now, with all that it uses.

    Equal for kernels that give the same module, line numbers and file names included.
    """
    from triton.language import constexpr, dtype

    result: list[Any] = [kernel.src, kernel.starting_line_number, kernel.fn and kernel.fn.__code__.co_filename]
    for name, value in used(kernel):
        helper = as_callable(value)
        if helper is not None:
            inner = () if id(helper) in seen or not hasattr(helper, "src") else _meaning(helper, seen | {id(kernel)})
            result.append((name, inner))
        elif isinstance(value, (int, float, str, bool, tuple, type(None), constexpr, dtype)):
            result.append((name, type(value), repr(value)))
        else:
            result.append((name, id(value)))
    return tuple(result)


def _find(source: Any, target: Architecture, options: Mapping[str, Any]) -> Compiled | None:
    """The compilation, if this process has made it before."""
    with _lock:
        return _remembered.get(_key(source, target, options))


def _compiled(
    source: Any,
    request: Request,
    options: Mapping[str, Any],
    seconds: float,
    max_bytes: int,
    stop: threading.Event,
) -> Compiled | CompileOutcome:
    """The compilation; or the outcome, where compiling failed."""
    outcome = disk_cache.find(request)
    if outcome is None:
        outcome = compiler_client.ask(request, seconds, max_bytes, stop)
        if outcome.failure:
            return outcome
        disk_cache.keep(request, outcome)
    function = source.fn
    constants = {function.arg_names[path[0]]: value for path, value in source.constants.items() if len(path) == 1}
    compiled = Compiled(
        function.__name__,
        request.target,
        constants,
        dict(options),
        str(function.fn.__code__.co_filename),
        function.starting_line_number,
        outcome,
        sources_of(function),
        request,
    )
    with _lock:
        if request.disassembled:
            _remembered[_key(source, request.target, options)] = compiled
        while len(_remembered) > _MOST_KEPT:
            _remembered.popitem(last=False)
    return compiled


def forget() -> None:
    """Forget what this process has compiled; Triton's cache on disk stays."""
    with _lock:
        _remembered.clear()
