"""Every way in which Triton's front end can make an operation, and what the interpreter does about it.

The front end goes through the methods ``create_*`` of libtriton's builder and no other way. A method
that is not in the table is a part of the language that nobody has looked at: the test fails then.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType

import pytest
import triton
from triton._C.libtriton import ir
from triton.compiler import ASTSource

from tests.interpreter.support import kernel_from
from triton_lab.backend.compiler import TARGET
from triton_lab.interpreter import ops
from triton_lab.interpreter.bound_code import compile_plan
from triton_lab.interpreter.kernel_errors import Unsupported
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.ir import parse_plan, traits
from triton_lab.ir.effects import ACCESSES
from triton_lab.ir.value_flow import TERMINATORS

ops.load_all()

# What the builder makes besides operations: blocks, locations, types, functions.
OTHER = {"create_block", "create_block_with_parent", "create_loc", "create_name_loc", "create_module"}
OTHER |= {"create_tensor_descriptor_type"}
# Lowered to other operations before the plan is made.
REWRITTEN = {"create_make_block_ptr", "create_advance", "create_tensor_pointer_load", "create_tensor_pointer_store"}
COMPARISONS = ("EQ", "NE", "SLT", "SLE", "SGT", "SGE", "ULT", "ULE", "UGT", "UGE")
TABLE: dict[str, tuple[str, ...]] = {
    "create_add": ("arith.addi",),
    "create_addptr": ("tt.addptr",),
    "create_and": ("arith.andi",),
    "create_approx_divf": ("tt.approx_divf",),
    "create_ashr": ("arith.shrsi",),
    "create_assert": ("tt.assert",),
    "create_assume": ("llvm.intr.assume",),
    "create_atomic_cas": ("tt.atomic_cas",),
    "create_atomic_load": ("tt.atomic_load",),
    "create_atomic_poll": ("tt.atomic_poll",),
    "create_atomic_rmw": ("tt.atomic_rmw",),
    "create_atomic_store": ("tt.atomic_store",),
    "create_barrier": ("gpu.barrier", "ttg.barrier"),
    "create_bitcast": ("tt.bitcast",),
    "create_branch": ("cf.br",),
    "create_broadcast": ("tt.broadcast",),
    "create_cat": ("tt.cat",),
    "create_ceil": ("math.ceil",),
    "create_clampf": ("tt.clampf",),
    "create_cond_branch": ("cf.cond_br",),
    "create_condition_op": ("scf.condition",),
    "create_cos": ("math.cos",),
    "create_descriptor_gather": ("tt.descriptor_gather",),
    "create_descriptor_load": ("tt.descriptor_load",),
    "create_descriptor_reduce": ("tt.descriptor_reduce",),
    "create_descriptor_scatter": ("tt.descriptor_scatter",),
    "create_descriptor_store": ("tt.descriptor_store",),
    "create_dot": ("tt.dot",),
    "create_dot_scaled": ("tt.dot_scaled",),
    "create_erf": ("math.erf",),
    "create_exp": ("math.exp",),
    "create_exp2": ("math.exp2",),
    "create_expand_dims": ("tt.expand_dims",),
    "create_extern_elementwise": ("tt.extern_elementwise",),
    "create_fabs": ("math.absf",),
    "create_fadd": ("arith.addf",),
    **{f"create_fcmp{order}{kind}": ("arith.cmpf",) for order in "OU" for kind in ("EQ", "NE", "LT", "LE", "GT", "GE")},
    "create_fdiv": ("arith.divf",),
    "create_floor": ("math.floor",),
    "create_fma": ("math.fma",),
    "create_fmul": ("arith.mulf",),
    "create_fneg": ("arith.negf",),
    "create_for_op": ("scf.for",),
    "create_fp_ext": ("arith.extf",),
    "create_fp_to_fp": ("tt.fp_to_fp",),
    "create_fp_to_si": ("arith.fptosi",),
    "create_fp_to_ui": ("arith.fptoui",),
    "create_fp_trunc": ("arith.truncf",),
    "create_frem": ("arith.remf",),
    "create_fsub": ("arith.subf",),
    "create_gather": ("tt.gather",),
    "create_get_num_programs": ("tt.get_num_programs",),
    "create_get_program_id": ("tt.get_program_id",),
    "create_grid_dependency_launch_dependents": ("tt.grid_dependency_launch_dependents",),
    "create_grid_dependency_wait": ("tt.grid_dependency_wait",),
    "create_histogram": ("tt.histogram",),
    "create_iabs": ("math.absi",),
    **{f"create_icmp{kind}": ("arith.cmpi",) for kind in COMPARISONS},
    "create_if_op": ("scf.if",),
    "create_inline_asm": ("tt.elementwise_inline_asm",),
    "create_int_cast": ("arith.extsi", "arith.extui", "arith.trunci"),
    "create_int_to_ptr": ("tt.int_to_ptr",),
    "create_join": ("tt.join",),
    "create_load": ("tt.load",),
    "create_log": ("math.log",),
    "create_log2": ("math.log2",),
    "create_lshr": ("arith.shrui",),
    "create_make_range": ("tt.make_range",),
    "create_make_tensor_descriptor": ("tt.make_tensor_descriptor",),
    "create_map_elementwise": ("tt.map_elementwise",),
    "create_map_elementwise_ret": ("tt.map_elementwise.return",),
    "create_masked_load": ("tt.load",),
    "create_masked_store": ("tt.store",),
    "create_maximumf": ("arith.maximumf",),
    "create_maxnumf": ("arith.maxnumf",),
    "create_maxsi": ("arith.maxsi",),
    "create_maxui": ("arith.maxui",),
    "create_minimumf": ("arith.minimumf",),
    "create_minnumf": ("arith.minnumf",),
    "create_minsi": ("arith.minsi",),
    "create_minui": ("arith.minui",),
    "create_mul": ("arith.muli",),
    "create_or": ("arith.ori",),
    "create_poison": ("ub.poison",),
    "create_precise_divf": ("tt.precise_divf",),
    "create_precise_sqrt": ("tt.precise_sqrt",),
    "create_print": ("tt.print",),
    "create_ptr_to_int": ("tt.ptr_to_int",),
    "create_reduce": ("tt.reduce",),
    "create_reduce_ret": ("tt.reduce.return",),
    "create_reshape": ("tt.reshape",),
    "create_rsqrt": ("math.rsqrt",),
    "create_scan": ("tt.scan",),
    "create_scan_ret": ("tt.scan.return",),
    "create_sdiv": ("arith.divsi",),
    "create_select": ("arith.select",),
    "create_shl": ("arith.shli",),
    "create_si_to_fp": ("arith.sitofp",),
    "create_sin": ("math.sin",),
    "create_splat": ("tt.splat",),
    "create_split": ("tt.split",),
    "create_sqrt": ("math.sqrt",),
    "create_srem": ("arith.remsi",),
    "create_store": ("tt.store",),
    "create_sub": ("arith.subi",),
    "create_trans": ("tt.trans",),
    "create_udiv": ("arith.divui",),
    "create_ui_to_fp": ("arith.uitofp",),
    "create_umulhi": ("tt.mulhiui",),
    "create_unsplat": ("tt.unsplat",),
    "create_urem": ("arith.remui",),
    "create_while_op": ("scf.while",),
    "create_xor": ("arith.xori",),
    "create_yield_op": ("scf.yield",),
}
# What the builder of Gluon's front end makes besides for NVIDIA's GPUs; of two names, one was an older Triton's.
GLUON: dict[str, tuple[str, ...]] = {
    "create_async_commit_group": ("ttg.async_commit_group",),
    "create_async_copy_global_to_local": ("ttg.async_copy_global_to_local",),
    "create_async_copy_mbarrier_arrive": ("ttng.async_copy_mbarrier_arrive",),
    "create_async_shared_store": ("ttng.async_shared_store",),
    "create_async_tma_copy_global_to_local": ("ttng.async_tma_copy_global_to_local",),
    "create_async_tma_copy_local_to_global": ("ttng.async_tma_copy_local_to_global",),
    "create_async_tma_gather": ("ttng.async_tma_gather",),
    "create_async_tma_reduce": ("ttng.async_tma_reduce",),
    "create_async_tma_scatter": ("ttng.async_tma_scatter",),
    "create_async_tma_store_wait": ("ttg.async_tma_store_wait", "ttng.async_tma_store_wait"),
    "create_async_wait_group": ("ttg.async_wait",),
    "create_clc_get_program_id": ("ttng.clc_get_program_id",),
    "create_clc_is_canceled": ("ttng.clc_is_canceled",),
    "create_clc_load_result": ("ttng.clc_load_result",),
    "create_clc_try_cancel": ("ttng.clc_try_cancel",),
    "create_cluster_barrier": ("ttng.cluster_barrier",),
    "create_convert_layout": ("ttg.convert_layout",),
    "create_fence_async_shared": ("ttg.fence_async_shared", "ttng.fence_async_shared"),
    "create_fp4_to_fp": ("ttg.fp4_to_fp",),
    "create_local_alloc": ("ttg.local_alloc",),
    "create_local_atomic_scatter_rmw": ("ttg.local_atomic_scatter_rmw",),
    "create_local_dealloc": ("ttg.local_dealloc",),
    "create_local_gather": ("ttg.local_gather",),
    "create_local_load": ("ttg.local_load",),
    "create_local_scatter": ("ttg.local_scatter",),
    "create_local_store": ("ttg.local_store",),
    "create_mbarrier_arrive": ("ttng.arrive_barrier",),
    "create_mbarrier_expect": ("ttng.barrier_expect",),
    "create_mbarrier_init": ("ttng.init_barrier",),
    "create_mbarrier_inval": ("ttng.inval_barrier",),
    "create_mbarrier_wait": ("ttng.wait_barrier",),
    "create_memdesc_index": ("ttg.memdesc_index",),
    "create_memdesc_reinterpret": ("ttg.memdesc_reinterpret",),
    "create_memdesc_reshape": ("ttg.memdesc_reshape",),
    "create_memdesc_subslice": ("ttg.memdesc_subslice",),
    "create_memdesc_trans": ("ttg.memdesc_trans",),
    "create_packed_arith": ("ttng.packed_arith",),
    "create_tcgen05_commit": ("ttng.tc_gen5_commit",),
    "create_tcgen05_mma": ("ttng.tc_gen5_mma",),
    "create_tcgen05_mma_scaled": ("ttng.tc_gen5_mma_scaled",),
    "create_threadwise_inline_asm": ("ttg.inline_asm",),
    "create_tmem_alloc": ("ttng.tmem_alloc",),
    "create_tmem_copy": ("ttng.tmem_copy",),
    "create_tmem_load": ("ttng.tmem_load",),
    "create_tmem_store": ("ttng.tmem_store",),
    "create_tmem_subslice": ("ttng.tmem_subslice",),
    "create_warp_return": ("ttg.warp_return",),
    "create_warp_specialize": ("ttg.warp_specialize",),
    "create_warp_specialize_partitions": ("ttg.warp_specialize.partitions",),
    "create_warp_yield": ("ttg.warp_yield",),
    "create_warpgroup_mma": ("ttng.warp_group_dot",),
    "create_warpgroup_mma_wait": ("ttng.warp_group_dot_wait",),
}
# Chosen while the module is made, so that no operation is left; and casts of tests of Triton's own.
LEFT_OUT = {"create_set_auto_layout", "create_experimental_fpsan_embed", "create_experimental_fpsan_unembed"}
# For AMD's GPUs, whose operations are of the dialect amdg: refused by name like any that nobody declared.
AMD = {
    "create_amd_cluster_arrive",
    "create_amd_cluster_wait",
    "create_amd_sched_barrier",
    "create_async_copy_lds_barrier_arrive",
    "create_async_copy_local_to_global",
    "create_async_tdm_copy_global_to_local",
    "create_async_tdm_copy_local_to_global",
    "create_async_tdm_fused_copy_global_to_local",
    "create_async_tdm_gather",
    "create_async_tdm_scatter",
    "create_async_tdm_wait",
    "create_buffer_atomic_rmw",
    "create_buffer_load",
    "create_buffer_load_to_local",
    "create_buffer_store",
    "create_extract_slice",
    "create_lds_barrier_arrive",
    "create_lds_barrier_init",
    "create_lds_barrier_wait",
    "create_local_load_packed_transposed",
    "create_scaled_downcast_fp4",
    "create_scaled_downcast_fp8",
    "create_scaled_upcast_fp4",
    "create_scaled_upcast_fp8",
    "create_tdm_prefetch",
    "create_update_tensor_descriptor",
    "create_warp_pipeline_border",
}
METHODS = {name for name in dir(ir.builder) if name.startswith("create_")}
# What only Triton's passes make.
BY_PASSES = {
    "arith.bitcast",
    "arith.ceildivsi",
    "arith.ceildivui",
    "arith.floordivsi",
    "ttg.local_barrier",
    "ttng.fence_mbarrier_init_release_cluster",
    "ttng.tmem_wait",
}
# Made without a method of that kind: constants, calls, returns.
ALWAYS = {"arith.constant", "tt.call", "tt.return"}


def test_every_method_of_the_builder_is_known():
    unknown = METHODS - set(TABLE) - REWRITTEN - OTHER
    assert not unknown, f"Triton {triton.__version__} can make operations that nobody has looked at"


def test_every_operation_in_the_table_can_be_run():
    names = {name for made in TABLE.values() for name in made} | ALWAYS
    assert not names - set(REGISTRY) - TERMINATORS


def test_nothing_else_is_implemented():
    """No code for operations that neither a front end nor one of Triton's passes makes."""
    names = {name for table in (TABLE, GLUON) for made in table.values() for name in made} | ALWAYS
    assert set(REGISTRY) - names == BY_PASSES


def test_every_operation_of_gluon_is_run_or_refused_by_its_trait():
    from triton._C.libtriton import gluon_ir

    made = {name for name in dir(gluon_ir.GluonOpBuilder) if name.startswith("create_")} - METHODS
    assert not made - set(GLUON) - LEFT_OUT - AMD, "operations of Gluon that nobody has looked at"
    names = {name for table in GLUON.values() for name in table}
    refused = {name for name in names if traits.of(name).refused}
    assert not names - set(REGISTRY) - TERMINATORS - refused
    assert not refused & set(REGISTRY), "what runs is not refused"
    assert all(traits.known(name) for name in names)


ALONE = """"builtin.module"() ({
  "tt.func"() <{function_type = () -> (), sym_name = "k", sym_visibility = "public"}> ({
    "NAME"() : () -> ()
    "tt.return"() : () -> ()
  }) : () -> ()
}) : () -> ()"""


def test_what_is_refused_is_said_with_its_reason():
    refused = [name for name, trait in traits.TRAITS.items() if trait.refused]
    assert {"ttng.cluster_barrier", "ttng.clc_try_cancel", "ttg.inline_asm"} <= set(refused)
    for name in refused:
        text = ALONE.replace("NAME", name)
        with pytest.raises(Unsupported) as caught:
            compile_plan(parse_plan(text))
        assert name in str(caught.value) and traits.of(name).refused in str(caught.value)


def touches_memory(function: FunctionType, seen: set[FunctionType]) -> bool:
    """Whether a function of the interpreter's operations, or one that it calls there, asks for memory."""
    if function in seen:
        return False
    seen.add(function)
    names = {name for code in codes(function.__code__) for name in code.co_names}
    called = (function.__globals__.get(name) for name in names)
    ours = [each for each in called if isinstance(each, FunctionType) and each.__module__.startswith(ops.__name__)]
    return "memory_for" in names or any(touches_memory(each, seen) for each in ours)


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def test_what_touches_memory_says_what_it_does_to_it():
    """An operation whose implementation asks for memory is in `ir/effects.py`, and the other way round."""
    assert {name for name, entry in REGISTRY.items() if touches_memory(entry.run, set())} == set(ACCESSES)


SIGNATURE = {"I": "*i32", "U": "*u32", "F": "*fp32", "H": "*fp16", "D": "*fp64", "B": "*i1", "L": "*i64", "C": "*u8"}
KERNELS = [
    """
    tl.store(I + k, ((i + 1) * (i - u.to(tl.int32))) & i | i ^ 3)
    tl.store(I + k, (i << 2) >> 1)
    tl.store(I + k, i // (i + 5) + i % (i + 7) + tl.abs(i))
    tl.store(U + k, (u // (u + 5) + u % (u + 7)) >> 1)
    tl.store(U + k, tl.minimum(u, 5) + tl.maximum(u, 7) + tl.umulhi(u, u))
    tl.store(I + k, tl.minimum(i, 5) + tl.maximum(i, 7))
    tl.store(L + k, i.to(tl.int64) + u.to(tl.int64))
    tl.store(I + k, tl.load(L + k).to(tl.int32))
    tl.store(B + k, (i < 3) ^ (f == 2.5))
    """,
    """
    tl.store(F + k, (f + 1.5) * f - f / (f + 2) + f % 3.0 + (-f))
    tl.store(F + k, tl.minimum(f, 3.0) + tl.maximum(f, 1.0) + tl.clamp(f, 0.0, 1.0))
    tl.store(F + k, tl.minimum(f, 3.0, tl.PropagateNan.ALL) + tl.maximum(f, 1.0, tl.PropagateNan.ALL))
    tl.store(F + k, tl.exp(f) + tl.exp2(f) + tl.log(f) + tl.log2(f) + tl.sin(f) + tl.cos(f) + tl.sqrt(f))
    tl.store(F + k, tl.rsqrt(f) + tl.erf(f) + tl.floor(f) + tl.ceil(f) + tl.abs(f) + tl.fma(f, f, f))
    tl.store(I + k, tl.inline_asm_elementwise("not.b32 $0, $1;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1))
    tl.store(F + k, tl.sqrt_rn(f) + tl.div_rn(f, f) + tl.fdiv(f, f) + libdevice.tanh(f))
    """,
    """
    tl.store(H + k, f.to(tl.float16))
    tl.store(D + k, f.to(tl.float64))
    tl.store(I + k, f.to(tl.int32))
    tl.store(U + k, f.to(tl.uint32))
    tl.store(F + k, i.to(tl.float32) + u.to(tl.float32))
    tl.store(C + k, f.to(tl.float8e5).to(tl.uint8, bitcast=True))
    tl.store(L + k, (I + k).to(tl.int64))
    tl.store(tl.load(L + k).to(tl.pointer_type(tl.int64)), 3)
    tl.store(F + k, i.to(tl.float32, bitcast=True))
    """,
    """
    x = tl.reshape(tl.load(F + tl.arange(0, 256)), (16, 16))
    tl.store(F + k, tl.sum(tl.trans(tl.dot(x, x)), 0))
    tl.store(F + k, tl.cumsum(f, 0) + tl.gather(f, i, 0) + tl.where(i > 3, f, f * 2))
    tl.store(I + k, tl.histogram(i, 16))
    tl.store(I + tl.arange(0, 32), tl.reshape(tl.join(i, i + 1), (32,)))
    a, b = tl.split(tl.reshape(tl.load(I + tl.arange(0, 32)), (16, 2)))
    tl.store(I + k, a + b + tl.sum(i[:, None] * a[None, :], 0))
    tl.store(I + tl.arange(0, 32), tl.cat(i, i, can_reorder=True))
    p, q = tl.split(tl.load(I + tl.arange(0, 2)))
    tl.store(I, p + q)
    r = tl.map_elementwise(least, i)
    tl.store(I + k, r)
    c = tl.reshape(tl.load(C + tl.arange(0, 1024)), (16, 64))
    s = tl.reshape(tl.load(C + tl.arange(0, 32)), (16, 2))
    tl.store(F + k, tl.sum(tl.dot_scaled(c, s, "e4m3", tl.trans(c), s, "e4m3"), 0))
    """,
    """
    tl.store(I + k, tl.atomic_add(I + k, 1) + tl.atomic_cas(I + k, i, i))
    d = tl.make_tensor_descriptor(I, [64, 64], [64, 1], [1, 16])
    d.store([0, 0], d.load([0, 0]))
    d.atomic_add([0, 0], d.load([1, 0]))
    g = d.gather(i, 0)
    d.scatter(g, i, 0)
    tl.debug_barrier()
    tl.assume(p0 > 0)
    tl.device_print("x", i)
    tl.device_assert(i < 1000)
    tl.store(I, tl.num_programs(0))
    """,
    """
    if p0 > 3:
        if tl.load(I) > 5:
            return
        tl.store(I + 3, 1)
    n = 0
    while n < tl.load(I):
        n += 1
    for j in range(p0):
        if j > tl.load(I + 1):
            n += own(j)
    if n == 7:
        tl.store(I, nothing(n))
    tl.store(I + 2, n)
    """,
]
NEWER = """
    tl.atomic_store(I + k, tl.atomic_load(I + k))
    tl.store(B, tl.atomic_poll(I, 3))
    tl.extra.cuda.gdc_wait()
    tl.extra.cuda.gdc_launch_dependents()
"""
PRELUDE = """
@triton.jit
def least(a):
    return a if a > 3 else 3 * a

@triton.jit(noinline=True)
def own(a):
    return a + 1

@triton.jit
def nothing(a):
    yes = False
    if yes:
        return a
"""


def made_by(body: str) -> set[str]:
    """The operations in the plan of a kernel with ``body``."""
    kernel = kernel_from(
        f"{PRELUDE}\n@triton.jit\ndef kernel({', '.join(SIGNATURE)}):\n"
        "    p0 = tl.program_id(0)\n    k = tl.arange(0, 16)\n"
        "    i, u, f = tl.load(I + k), tl.load(U + k), tl.load(F + k, mask=k < 9, other=0)\n" + body
    )
    compiled = triton.compile(ASTSource(kernel, SIGNATURE), target=TARGET, options={"debug": "assert" in body})
    text = compiled.asm["plan"]
    return {op.name for op in parse_plan(text if isinstance(text, str) else text.decode()).walk()}


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_the_table_names_the_operations_that_are_really_made():
    newer = [NEWER] if "create_atomic_poll" in METHODS else []
    seen = set().union(*map(made_by, [*KERNELS, *newer]))
    # One of two names each, depending on the version; and what canonicalisation always folds away.
    expected = {name for method, made in TABLE.items() if method in METHODS for name in made}
    expected -= {"gpu.barrier", "ttg.barrier", "ub.poison", "tt.approx_divf", "tt.unsplat", "arith.negf"}
    assert seen & {"gpu.barrier", "ttg.barrier"}
    missing = expected - seen
    assert not missing, missing
    assert seen - set(REGISTRY) - TERMINATORS == set()
