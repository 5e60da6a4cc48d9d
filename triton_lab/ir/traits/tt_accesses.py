"""The operations of the dialect ``tt`` that touch memory.

A new one needs a row here, an implementation in `interpreter/ops` and a test.
"""

from __future__ import annotations

from dataclasses import replace

from triton_lab.ir.traits import lane_rules as rules
from triton_lab.ir.traits.memory_effect import LOAD, STORE, UPDATE, Effect
from triton_lab.ir.traits.trait import Kind, LaneRule, Trait, table


def _access(name: str, effect: Effect, lanes: LaneRule = rules.unknown) -> Trait:
    return Trait(name, Kind.ACCESSES, lanes, effect=effect)


TRAITS = table(
    _access("tt.load", LOAD, rules.load),
    _access("tt.store", STORE),
    # What a lane of an atomic finds depends on the lanes that have updated the same element before it.
    _access("tt.atomic_rmw", UPDATE),
    _access("tt.atomic_cas", replace(UPDATE, operands="address expected value")),
    _access("tt.atomic_load", replace(LOAD, kind="atomic", operands="address mask?", orders=True), rules.load),
    _access("tt.atomic_store", replace(STORE, kind="atomic", orders=True)),
    _access(
        "tt.atomic_poll",
        Effect("atomic", "address expected timeout?", reads=True, orders=True, waits=True, result="answer"),
    ),
    _access("tt.descriptor_load", replace(LOAD, operands="address coordinate*"), rules.descriptor_load),
    _access("tt.descriptor_store", replace(STORE, operands="address value coordinate*")),
    # Atomic, but it orders nothing: in PTX it is always relaxed.
    _access("tt.descriptor_reduce", replace(UPDATE, operands="address value coordinate*", orders=False, result=None)),
    _access("tt.descriptor_gather", replace(LOAD, operands="address coordinate coordinate"), rules.descriptor_gather),
    _access("tt.descriptor_scatter", replace(STORE, operands="address coordinate coordinate value")),
)
