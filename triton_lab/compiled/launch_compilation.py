"""Compiles a recorded launch's kernel, with the signature, constants and specialisation of the launch."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from triton_lab.backend.source.kernel_dependencies import fingerprint
from triton_lab.compiled import compiler_client, disk_cache
from triton_lab.compiled.architecture import Architecture, architectures
from triton_lab.compiled.compile import compiled_all, successes
from triton_lab.compiled.compile_failure import CompileError
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.compiled_list import CompiledList
from triton_lab.compiled.compiler_client import MAX_BYTES, SECONDS
from triton_lab.compiled.front_end import Request, options_of, without_marker
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

_LARGEST_OFFSET = 2**31 - 1
_GLUON = '"ttg.num-warps"'  # an attribute of modules that begin with layouts


def compiled_launch(
    launch: Recorded,
    target: str | Sequence[str] | None,
    *,
    seconds: float = SECONDS,
    max_bytes: int = MAX_BYTES,
    **options: Any,
) -> Compiled | CompiledList:
    """Implements `Launch.compile`. Raises as that does, and CannotReplay where the kernel has changed or is gone."""
    made = successes(attempts(launch, target, options, seconds, max_bytes))
    return made[0] if target is None or isinstance(target, str) else CompiledList(made)


def attempts(
    launch: Recorded,
    target: str | Sequence[str] | None,
    options: dict[str, Any],
    seconds: float = SECONDS,
    max_bytes: int = MAX_BYTES,
) -> list[Compiled | CompileError]:
    """The launch's kernel for each of the targets: a compilation or its error."""
    source, metadata = launch.compiled
    if source is None:  # loaded from a file, which has the kernel's operations and the options of the launch
        if metadata is None:
            raise CannotReplay(
                _(
                    "the file of this launch does not hold the options of {kernel}: it was written by an earlier "
                    "version. Launch {kernel} here, and compile that launch."
                ).format(kernel=launch.kernel)
            )
        return [_attempt(launch, one, {**vars(metadata), **options}) for one in architectures(target)]
    chosen = {**chosen_options(metadata), **options}
    kernel = _as_it_was(launch, source.fn)
    made = compiled_all(
        [(_source(launch, kernel, one), one, had(chosen, one, options)) for one in architectures(target)],
        seconds,
        max_bytes,
    )
    return [_remembered(launch, one) if isinstance(one, Compiled) else one for one in made]


def compiled_together(
    asked: Sequence[tuple[Recorded, Mapping[str, Any]]], target: str, seconds: float = SECONDS
) -> list[Compiled | CompileError]:
    """Compile several launches, each with options of its own, at once and without the text of the machine code.

    The launches do not keep the compilations. Raises what Triton's front end raises.
    """
    (architecture,) = architectures(target)
    sources = []
    for launch, options in asked:
        chosen = {**chosen_options(launch.compiled[1]), **options}
        kernel = _as_it_was(launch, launch.compiled[0].fn)
        sources.append((_source(launch, kernel, architecture), architecture, had(chosen, architecture, dict(options))))
    made = compiled_all(sources, seconds, MAX_BYTES, disassembled=False)
    return [
        replace(one, launch=launch) if isinstance(one, Compiled) else one
        for one, (launch, _options) in zip(made, asked, strict=True)
    ]


def _attempt(launch: Recorded, target: Architecture, options: Mapping[str, Any]) -> Compiled | CompileError:
    try:
        return _remembered(launch, compiled_plan(launch, target, options))
    except CompileError as error:
        return error


def is_gluon(launch: Recorded) -> bool:
    """Whether the kernel was written in Gluon: then its module has layouts from the start."""
    return _GLUON in launch.executable.plan.text


def compiled_plan(launch: Recorded, target: str | Architecture, options: Mapping[str, Any] = {}) -> Compiled:
    """Compile the kernel from the launch's operations, without its source; ``options`` are Triton's.

    For launches that came from a file or another process. Raises CompileError, ValueError for options.
    """
    architecture = architectures(target)[0] if isinstance(target, str) else target
    from triton.compiler.compiler import make_backend

    chosen = options_of(make_backend(architecture.target), architecture, options) if options else {}
    module = without_marker(launch.executable.plan.text)
    language = "GLUON" if is_gluon(launch) else "TRITON"
    request = Request(launch.kernel, architecture, module, json.dumps(chosen, sort_keys=True), language)
    outcome = disk_cache.find(request)
    if outcome is None:
        outcome = compiler_client.ask(request, SECONDS, MAX_BYTES, threading.Event())
        if outcome.failure:
            place = launch.file, launch.first_line
            raise CompileError(
                outcome.failure.strip().split("\n")[-1], architecture.name, _("machine code"), place, outcome.failure
            )
        disk_cache.keep(request, outcome)
    return Compiled(
        launch.kernel, architecture, {}, dict(options), launch.file, launch.first_line, outcome, (), request, launch
    )


def _remembered(launch: Recorded, made: Compiled) -> Compiled:
    """The same compilation, stored on the launch, whose card then shows it."""
    known = next((one for one in launch.compilations if one.outcome is made.outcome), None)
    if known is None:
        known = replace(made, launch=launch)
        launch.compilations.append(known)
    return known


def chosen_options(metadata: Any) -> dict[str, Any]:
    """The options of the launch that differ from its target's defaults."""
    from triton.compiler.compiler import make_backend

    usual = make_backend(metadata.target).parse_options({"enable_fp_fusion": True})
    return {
        name: getattr(metadata, name)
        for name, value in vars(usual).items()
        # The other fields describe the target; they were not chosen.
        if isinstance(value, (bool, int, float, str, type(None))) and getattr(metadata, name, value) != value
    }


def had(chosen: dict[str, Any], target: Architecture, asked: dict[str, Any]) -> dict[str, Any]:
    """The options that such a target has. Options named by the user stay, and are refused later."""
    from triton.compiler.compiler import make_backend

    known = vars(make_backend(target.target).parse_options({"enable_fp_fusion": True}))
    return {name: value for name, value in chosen.items() if name in asked or name in known}


def _as_it_was(launch: Recorded, kernel: Any) -> Any:
    """The kernel with the globals that it had at the launch."""
    from triton.runtime.jit import JITFunction

    if fingerprint(kernel) == launch.surroundings.known:
        return kernel

    kind = type(kernel) if isinstance(kernel, JITFunction) else JITFunction

    class Then(kind):  # type: ignore[misc, valid-type]
        """A JITFunction that Triton's cache does not confuse with the present kernel."""

    before = Then(kernel.fn, do_not_specialize=kernel.do_not_specialize)
    before._unsafe_update_src(kernel.src)
    before.__globals__ = launch.surroundings.restore(kernel)
    return before


def _source(launch: Recorded, kernel: Any, target: Architecture) -> Any:
    """The launch's ASTSource, as it would have been for ``target``."""
    from triton import knobs
    from triton.compiler import ASTSource

    source = launch.compiled[0]
    # AMD's compiler needs to know which tensors are small enough for 32-bit offsets.
    short = {}
    if not target.is_nvidia and knobs.amd.use_buffer_ops:
        short = {
            (kernel.arg_names.index(one.name),): [["tt.pointer_range", 32]]
            for one in launch.arguments
            if one.kind == "tensor" and one.name in kernel.arg_names and one.storage_bytes <= _LARGEST_OFFSET
        }
    known = {
        path: [one for one in source.attrs.get(path, []) if one[0] != "tt.pointer_range"] + short.get(path, [])
        for path in {**source.attrs, **short}
    }
    attributes = {path: told for path, told in sorted(known.items()) if told}
    # Gluon has a class of its own, whose modules begin further on in the compiler.
    made = type(source) if isinstance(source, ASTSource) else ASTSource
    return made(kernel, source.signature, dict(source.constants), attributes)
