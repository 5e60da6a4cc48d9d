"""Numbers that say how much at once, how long or how far: only time, memory or the size of a picture depends on them.

One more or less of them is nothing that a test should see: another number would have been as right. What is computed
from them may well be wrong, and a change of an operator in their line is drawn as everywhere. A bound that decides what
a user gets (which addresses 32 bits reach, how many programs CUDA takes, up to where a finding is told) is not here:
its own tests stand on both sides of it.
"""

from __future__ import annotations

from collections.abc import Mapping

# Modules that lay out or draw static pictures: their numbers above 3 are pixels, points and weights of what is nicer.
PICTURES = frozenset(
    f"triton_lab/views/{folder}/{name}.py"
    for folder, names in {
        "drawing": "drawing figure histogram pieces",
        "launch": "variable",
        "lazy": "buffers layout report",
        "polyhedral": "arrays canvas labels legend page plot ragged text ways",
    }.items()
    for name in names.split()
)

BOUNDS: Mapping[str, frozenset[str]] = {
    f"triton_lab/{path}.py": frozenset(names.split())
    for path, names in {
        # So many are worked on at once, so that memory stays small.
        "interpreter/error_functions": "_CHUNK",
        "interpreter/machine": "BATCH_BYTES _MOST_WAITING",
        "launch/checks/added_atomically": "_MOST_LANES",
        "launch/checks/contest": "_ROWS _MANY _SHORT",
        "launch/checks/lane_order": "_SPARSE _CELLS _FEW _SORTED",
        "launch/checks/collision": "_SPARSE",
        "launch/checks/order": "_CLOCKS",
        "launch/checks/pairs": "_PAIRS",
        "launch/checks/shared_cells": "_TOGETHER",
        "launch/fresh": "_PIECE POISONED",
        "launch/maps/boxed": "MOST_BOXES",
        "launch/maps/lanes": "_KEPT",
        "launch/maps/positions": "_SEEN",
        "polyhedral/kernels/points": "_LANES",
        "polyhedral/kernels/touched": "_PROGRAMS",
        # The quicker of two ways to the same result is taken from here on.
        "interpreter/convert": "_WORTH_A_CALL _IN_ONE_THREAD",
        "interpreter/ops/dot": "_IN_ONE_THREAD",
        "launch/places": "DENSE",
        "launch/ranges": "_MANY _DENSE",
        "launch/snapshot": "_MAPPED",
        # Terms and points beyond those that a result's last bit depends on.
        "interpreter/special": "_TERMS _POINTS",
        # So much is tried, kept or looked at before it is too much, and says so.
        "backend/resources": "_SECONDS",
        "compiled/child": "SECONDS MAX_BYTES",
        "interpreter/faults": "_MOST_LOOKUPS",
        "launch/checks/fixes": "_EDITS _TRIES _SECONDS _STEPS _ROOM",
        "launch/checks/rectangles": "_MOST_PIECES",
        "launch/checks/taint": "_MOST_EXAMPLES",
        "launch/checks/uses": "_STEPS",
        "launch/record": "MAX_BYTES MAX_TOTAL_BYTES _MOST_RUNS",
        "launch/tape": "_EVENT_BYTES",
        "lazy/codegen/elementwise": "BLOCK",
        "lazy/compile_cache": "LARGEST",
        "lazy/executable": "UNDO_LIMIT",
        "lazy/regions": "LARGEST",
        "polyhedral/blocks/proof": "_MOST_INSTANCES _FILLING",
        "polyhedral/core/effort": "OPERATIONS _STACK",
        "polyhedral/kernels/arithmetic": "_MOST_VALUES",
        "polyhedral/kernels/footprint": "_MOST_PROGRAMS",
        "polyhedral/kernels/places": "_MOST_TRIES",
        "polyhedral/kernels/values": "MOST_CASES",
        "polyhedral/kernels/verify": "_LANES",
        # So much fits into a picture, a page or what goes to the browser.
        "views/drawing/png": "LEVEL",
        "views/launch/card": "PAGE_BYTES",
        "views/launch/parts": "KEPT_NUMBERS",
        "views/launch/steps": "MOST",
        "views/launch/tab": "NUMBERS",
        "views/launch/touched_values": "MOST",
        "views/launch/variable": "MOST",
        "views/polyhedral/scene": "MOST_ARRAY_CELLS",
    }.items()
}
