"""What Triton's compiler for sm_90 makes of a kernel that was compiled for the CPU: what it takes of a GPU, and where
what it reduces or scans lies there.

``source`` and ``metadata`` are the kernel's, as Triton keeps them. It is compiled in a process of its own, once; where
sm_90's compiler refuses the kernel, that is a RuntimeError.
"""

from __future__ import annotations

import functools
import json
import re
import threading
from typing import Any

from triton_lab.backend.targets.sm90_resources import Resources
from triton_lab.compiled import compiler_client
from triton_lab.compiled.architecture import architecture
from triton_lab.compiled.compiler_client import MAX_BYTES, SECONDS, CompileOutcome
from triton_lab.compiled.front_end import Request
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.compiled.layouts.reduction_layouts import reductions, scans
from triton_lab.compiled.resource_facts import metadata_of
from triton_lab.localization import _


def resources_of(source: Any, metadata: Any) -> Resources:
    """Registers, spills and shared memory of a program."""
    return _resources(*_told(source, metadata))


def reduced_of(source: Any, metadata: Any) -> list[Linear | None]:
    """The layout of what each reduction of a kernel takes, in the order of the TTGIR; None where it is not known."""
    return list(_taken(*_told(source, metadata))[0])


def scanned_of(source: Any, metadata: Any) -> list[Linear | None]:
    """The same of what each scan takes."""
    return list(_taken(*_told(source, metadata))[1])


def instructions_of(source: Any, metadata: Any) -> frozenset[str]:
    """The mnemonics of the PTX instructions that multiply tiles and put bytes together."""
    return _instructions(*_told(source, metadata))


def _told(source: Any, metadata: Any) -> tuple[str, str, str]:
    """What the compiler is told of a kernel: its name, its TTIR and its options in JSON."""
    import triton

    from triton_lab.backend.compiler import TARGET, options_of

    options = options_of(metadata)
    ttir = triton.compile(source, target=TARGET, options=dict(options)).asm["ttir"]
    return metadata.name, ttir, json.dumps(options)


def _outcome(name: str, ttir: str, options: str) -> CompileOutcome:
    request = Request(name, architecture("sm_90"), ttir, options)
    return compiler_client.ask(request, SECONDS, MAX_BYTES, threading.Event())


@functools.lru_cache(maxsize=256)
def _resources(name: str, ttir: str, options: str) -> Resources:
    outcome = _outcome(name, ttir, options)
    if not outcome.failure:
        known = metadata_of(architecture("sm_90"), outcome)
        if known.registers is not None and known.spills is not None and known.shared is not None:
            return Resources(known.registers, known.spills, known.shared)
        outcome.failure = _("the tool that reports it is missing")
    raise _refusal(name, outcome, _("its registers are not known"))


@functools.lru_cache(maxsize=256)
def _taken(name: str, ttir: str, options: str) -> tuple[tuple[Linear | None, ...], tuple[Linear | None, ...]]:
    """By reductions, and by scans."""
    outcome = _outcome(name, ttir, options)
    text = outcome.stages.get("ttgir")  # what fails later has its layouts all the same
    if not isinstance(text, str):
        raise _refusal(name, outcome, _("the order of its sums is not known"))
    return tuple(reductions(text)), tuple(scans(text))


_MNEMONIC = re.compile(
    r"^\s*(?:@!?%p\d+\s+)?((?:wgmma\.mma_async|mma\.sync|shl\.b16|or\.b16|and\.b16)[\w.:]*)", re.MULTILINE
)


@functools.lru_cache(maxsize=256)
def _instructions(name: str, ttir: str, options: str) -> frozenset[str]:
    outcome = _outcome(name, ttir, options)
    text = outcome.stages.get("ptx")
    if not isinstance(text, str):
        raise _refusal(name, outcome, _("its instructions are not known"))
    return frozenset(_MNEMONIC.findall(text))


def _refusal(name: str, outcome: CompileOutcome, unknown: str) -> RuntimeError:
    reason = outcome.failure.strip().splitlines()[-1]
    return RuntimeError(
        _("the kernel {name} does not compile for sm_90, so {unknown}: {reason}").format(
            name=name, unknown=unknown, reason=reason
        )
    )
