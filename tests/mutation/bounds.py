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
        "drawing": "drawing drawing_figure drawing_pieces heatmap_drawing histogram_figure",
        "launch/values": "variable_view",
        "lazy": "buffers_picture graph_layout lazy_report",
        "polyhedral": "array_panels border_labels legend_box page_view plane_axes plane_plot ragged_view "
        "formula_figure three_ways_view",
    }.items()
    for name in names.split()
)

BOUNDS: Mapping[str, frozenset[str]] = {
    f"triton_lab/{path}.py": frozenset(names.split())
    for path, names in {
        # So many are worked on at once, so that memory stays small.
        "interpreter/error_functions": "_CHUNK",
        "interpreter/machine": "BATCH_BYTES _MOST_WAITING",
        "launch/checks/analysis/atomic_sums": "_MOST_LANES",
        "launch/checks/race/conflicts": "_ROWS _MANY _SHORT",
        "launch/checks/race/thread_conflicts": "_SPARSE _CELLS _FEW _SORTED",
        "launch/checks/race/lane_collisions": "_SPARSE",
        "launch/checks/race/happens_before": "_CLOCKS",
        "launch/checks/race/candidates": "_PAIRS",
        "launch/checks/race/shared_cells": "_TOGETHER",
        "launch/recording/poison": "_PIECE POISONED",
        "launch/maps/box_positions": "MOST_BOXES",
        "launch/maps/access_lanes": "_KEPT",
        "launch/maps/lane_positions": "_SEEN",
        "polyhedral/kernels/access_instances": "_LANES",
        "polyhedral/kernels/accessed_elements": "_PROGRAMS",
        # The quicker of two ways to the same result is taken from here on.
        "interpreter/ops/dot": "_IN_ONE_THREAD",
        "launch/element_index": "DENSE",
        "launch/byte_ranges": "_MANY _DENSE",
        "launch/recording/snapshot": "_MAPPED",
        # Terms beyond those that a result's last bit depends on.
        "native/math/modified_bessel": "_WIDE_TERMS",
        # So much is tried, kept or looked at before it is too much, and says so.
        "compiled/compiler_client": "SECONDS MAX_BYTES",
        "interpreter/faulting_lanes": "_MOST_LOOKUPS",
        "launch/diagnosis/tried_fixes": "_EDITS _TRIES _STEPS _ROOM _MOST_BYTES _OPERATION",
        "footprint/disjoint_programs": "_MOST _MOST_RUNS _MOST_PAIRS",
        "launch/checks/analysis/overflow_taint": "_MOST_EXAMPLES",
        "launch/checks/analysis/read_effects": "_STEPS",
        "launch/recording/record": "MAX_BYTES MAX_TOTAL_BYTES",
        "launch/recording/written_bytes": "_MOST_RUNS",
        "launch/recording/tape": "_EVENT_BYTES",
        "lazy/codegen/elementwise_kernel": "BLOCK",
        "lazy/compile_cache": "LARGEST",
        "lazy/executable": "UNDO_LIMIT",
        "lazy/fusion": "LARGEST",
        "polyhedral/blocks/translation_validation": "_MOST_INSTANCES _FILLING",
        "polyhedral/core/isl_effort": "OPERATIONS _STACK",
        "polyhedral/kernels/symbolic/symbolic_arithmetic": "_MOST_VALUES",
        "polyhedral/kernels/program_footprint": "_MOST_PROGRAMS",
        "polyhedral/kernels/element_coordinates": "_MOST_TRIES",
        "polyhedral/kernels/symbolic/symbolic_values": "MOST_CASES",
        "polyhedral/kernels/model_check": "_LANES",
        # So much fits into a picture, a page or what goes to the browser.
        "views/drawing/png": "LEVEL",
        "views/launch/card/launch_card": "PAGE_BYTES",
        "views/launch/card/card_parts": "KEPT_NUMBERS",
        "views/launch/values/steps_view": "MOST",
        "views/launch/card/card_tab": "NUMBERS",
        "views/launch/values/variable_view": "MOST",
        "views/polyhedral/iteration_scene": "MOST_ARRAY_CELLS",
    }.items()
}
