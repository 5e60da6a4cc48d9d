"""The dialects ``ttg`` and ``ttng``: layouts, shared memory and what a GPU does asynchronously.

Triton's passes make these, and Gluon's front end does. Those that move data through shared memory depend on all lanes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from triton_lab.ir.traits import lane_rules as rules
from triton_lab.ir.traits.memory_effect import LOAD, STORE, UPDATE
from triton_lab.ir.traits.trait import ANY_ORDER, CORRECT, Kind, Trait, table
from triton_lab.localization import N_

_ACCESS = partial(Trait, kind=Kind.ACCESSES, lanes=rules.unknown)
_ORDER = partial(Trait, kind=Kind.ORDERS, lanes=rules.nothing)

# Why the CPU target does not run an operation.
_CLUSTER = N_("it needs a cluster of several programs, and the CPU target runs each program by itself")
_TAKEN_OVER = N_("it takes over programs that a GPU has not started yet, and the CPU target starts all of them")
_TENSOR_MAP = N_("it writes a descriptor in the GPU's own format")
_ONE_WARP = N_("the CPU target runs all warps of a partition together")
_PTX = N_("PTX is the GPU's")

TRAITS = table(
    Trait("ttg.convert_layout", Kind.MOVES, rules.lane_by_lane, keeps=True, idempotent=True),
    Trait("ttg.fp4_to_fp", Kind.CASTS, rules.unknown, numbers="float"),
    _ORDER("ttg.barrier"),
    _ORDER("ttg.async_wait"),
    _ORDER("ttg.async_commit_group"),
    _ACCESS("ttg.local_alloc"),
    _ACCESS("ttg.local_dealloc"),
    _ACCESS("ttg.local_load"),
    _ACCESS("ttg.local_store"),
    _ACCESS(
        "ttg.async_copy_global_to_local", effect=replace(LOAD, operands="address buffer mask? other?", result="token")
    ),
    _ACCESS("ttg.local_gather"),
    _ACCESS("ttg.local_scatter"),
    _ACCESS("ttg.local_atomic_scatter_rmw"),
    _ORDER("ttg.local_barrier"),
    Trait("ttg.warp_id", Kind.CREATES, rules.unknown, refused=_ONE_WARP),
    Trait("ttg.inline_asm", Kind.ELEMENTWISE, rules.unknown, refused=_PTX),
    Trait("ttg.memdesc_index", Kind.MOVES, rules.unknown),
    Trait("ttg.memdesc_subslice", Kind.MOVES, rules.unknown),
    Trait("ttg.memdesc_trans", Kind.MOVES, rules.unknown),
    Trait("ttg.memdesc_reshape", Kind.MOVES, rules.unknown),
    Trait("ttg.memdesc_reinterpret", Kind.MOVES, rules.unknown),
    Trait("ttg.warp_specialize", Kind.CONTROL, rules.unknown),
    Trait("ttg.warp_specialize.partitions", Kind.CONTROL, rules.unknown),
    Trait("ttg.warp_return", Kind.CONTROL, rules.unknown),
    Trait("ttg.warp_yield", Kind.CONTROL, rules.unknown),
    Trait("ttng.warp_group_dot", Kind.CONTRACTS, rules.unknown, rounding=ANY_ORDER),
    Trait("ttng.tc_gen5_mma", Kind.CONTRACTS, rules.unknown, rounding=ANY_ORDER),
    Trait("ttng.tc_gen5_mma_scaled", Kind.CONTRACTS, rules.unknown, rounding=ANY_ORDER),
    _ORDER("ttng.warp_group_dot_wait"),
    _ORDER("ttng.fence_async_shared"),
    _ORDER("ttg.fence_async_shared"),
    _ORDER("ttng.init_barrier"),
    _ORDER("ttng.inval_barrier"),
    _ORDER("ttng.barrier_expect"),
    _ORDER("ttng.arrive_barrier"),
    _ORDER("ttng.wait_barrier"),
    _ORDER("ttng.async_tma_store_wait"),
    _ORDER("ttg.async_tma_store_wait"),
    _ACCESS(
        "ttng.async_tma_copy_global_to_local",
        effect=replace(LOAD, operands="address coordinate* offset* barrier buffer predicate", result=None),
    ),
    _ACCESS("ttng.async_tma_copy_local_to_global", effect=replace(STORE, operands="address coordinate* buffer")),
    _ACCESS(
        "ttng.async_tma_reduce",
        effect=replace(UPDATE, operands="address coordinate* buffer", orders=False, result=None),
    ),
    _ACCESS(
        "ttng.async_tma_gather",
        effect=replace(LOAD, operands="address coordinate* barrier buffer predicate", result=None),
    ),
    _ACCESS("ttng.async_tma_scatter", effect=replace(STORE, operands="address coordinate* buffer")),
    _ACCESS("ttng.tmem_alloc"),
    _ACCESS("ttng.tmem_load"),
    _ACCESS("ttng.tmem_store"),
    _ACCESS("ttng.tmem_copy"),
    Trait("ttng.packed_arith", Kind.ELEMENTWISE, rules.lane_by_lane, numbers="float", rounding=CORRECT),
    _ORDER("ttng.tmem_wait"),
    _ORDER("ttng.fence_mbarrier_init_release_cluster"),
    _ORDER("ttng.cluster_barrier", refused=_CLUSTER),
    _ORDER("ttng.cluster_arrive", refused=_CLUSTER),
    _ORDER("ttng.cluster_wait", refused=_CLUSTER),
    _ACCESS("ttng.async_shared_store", refused=_CLUSTER),
    _ACCESS("ttng.clc_try_cancel", refused=_TAKEN_OVER),
    _ACCESS("ttng.clc_try_cancel_sync", refused=_TAKEN_OVER),
    _ACCESS("ttng.clc_load_result", refused=_TAKEN_OVER),
    Trait("ttng.clc_is_canceled", Kind.MOVES, rules.unknown, refused=_TAKEN_OVER),
    Trait("ttng.clc_get_program_id", Kind.MOVES, rules.unknown, refused=_TAKEN_OVER),
    _ACCESS("ttng.tensormap_create", refused=_TENSOR_MAP),
    _ORDER("ttng.tensormap_fenceproxy_acquire", refused=_TENSOR_MAP),
    Trait("ttng.reinterpret_tensor_descriptor", Kind.MOVES, rules.unknown, refused=_TENSOR_MAP),
    Trait("ttng.tmem_subslice", Kind.MOVES, rules.unknown),
    _ORDER("ttng.tc_gen5_commit"),
    _ORDER("ttng.async_copy_mbarrier_arrive"),
)
