"""Compilations as data: a saved launch holds what a compiler made of its kernel, readable on any machine.

It holds the text of the stages, the machine code and the tools' reports, and nothing to compile again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.compiled.architecture import architecture
from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.compiler_client import CompileOutcome
from triton_lab.compiled.stage_names import LABELS
from triton_lab.compiled.user_sources import Source
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.saving.file_format import simple

# A file holds at most so many compilations, the last ones, of so many bytes together.
MOST = 16
MOST_BYTES = 64 << 20
BINARY = ("cubin", "hsaco")
STAGES = (*LABELS, *BINARY)
_TOLD = {"usage": str, "log": str, "lacking": dict, "metadata": dict}
_METADATA = ("shared", "tmem_size", "warp_size", "num_warps", "num_stages", "num_ctas")

Bytes = NDArray[np.uint8]


def told(launch: Recorded, array: Callable[[Bytes], int]) -> list[dict[str, Any]]:
    """The last compilations of ``launch``, as many as there is room for; ``array`` keeps bytes, and gives their
    number."""
    kept: list[dict[str, Any]] = []
    room = MOST_BYTES
    for one in reversed(launch.compilations[-MOST:]):
        stages = {name: _bytes(made) for name, made in one.stages.items() if name in STAGES}
        room -= sum(map(len, stages.values())) + sum(len(source.text) for source in one.sources)
        if room < 0:
            break
        kept.append(
            {
                "kernel": one.kernel,
                "target": one.target,
                "constants": {name: simple(value) for name, value in one.constants.items()},
                "options": {name: simple(value) for name, value in one.options.items()},
                "file": one.file,
                "line": one.line,
                "stages": [[name, array(made)] for name, made in stages.items()],
                "seconds": dict(one.seconds),
                "told": _known(one.outcome.told),
                "sources": [[source.name, source.file, source.first, source.text] for source in one.sources],
            }
        )
    return kept[::-1]


def _bytes(made: str | bytes) -> Bytes:
    return np.frombuffer(made.encode() if isinstance(made, str) else made, np.uint8)


def _known(outcome: dict[str, Any]) -> dict[str, Any]:
    """The facts of the tools' reports that readers use."""
    found = {name: outcome.get(name, kind()) for name, kind in _TOLD.items()}
    return {**found, "metadata": {name: one for name, one in found["metadata"].items() if name in _METADATA}}


def read(launch: Recorded, given: Any, array: Callable[[Any], NDArray[Any]]) -> list[Compiled]:
    """The compilations that `told` has told. Raises ValueError for what it cannot have told."""
    _hold(type(given) is list and len(given) <= MOST, "the compilations")
    return [_compiled(one, array, launch) for one in given]


def _compiled(given: Any, array: Callable[[Any], NDArray[Any]], launch: Recorded) -> Compiled:
    stages: dict[str, str | bytes] = {}
    for name, number in given["stages"]:
        made = array(number)
        _hold(name in STAGES and made.dtype == np.uint8 and made.ndim == 1, "a stage")
        stages[name] = made.tobytes() if name in BINARY else made.tobytes().decode()
    known = given["told"]
    _hold(set(known) == set(_TOLD) and all(type(known[name]) is kind for name, kind in _TOLD.items()), "what was told")
    _hold(
        set(known["metadata"]) <= set(_METADATA) and _all(known["metadata"].values(), int, type(None)), "the metadata"
    )
    _hold(_all(known["lacking"].values(), str), "what is lacking")
    _hold(_all(given["seconds"].values(), int, float), "seconds")
    _hold(
        all(type(line) is list and list(map(type, line)) == [str, str, int, str] for line in given["sources"]),
        "sources",
    )
    for name in ("constants", "options"):
        _hold(_all(given[name].values(), bool, int, float, str, type(None)), name)
    _hold(type(given["kernel"]) is type(given["file"]) is str and type(given["line"]) is int, "the place")
    return Compiled(
        given["kernel"],
        architecture(given["target"]),
        given["constants"],
        given["options"],
        given["file"],
        given["line"],
        CompileOutcome(stages, given["seconds"], known),
        tuple(Source(*line) for line in given["sources"]),
        launch=launch,
    )


def _all(values: Any, *kinds: type) -> bool:
    return all(type(value) in kinds for value in values)


def _hold(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(f"{what} of a compilation cannot be right")
