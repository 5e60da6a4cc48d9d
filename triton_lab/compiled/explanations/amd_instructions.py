"""Instructions of AMD's GPUs, CDNA and RDNA.

Names with s\\_ in front work on scalars for the whole wavefront, with v\\_ on a register of each thread.
"""

from __future__ import annotations

from triton_lab.localization import N_

_E = r"(_e32|_e64|_dpp|_sdwa|_e64_dpp)?"

TABLE: tuple[tuple[str, str], ...] = (
    (
        r"v_(mfma|smfmac)_\w+",
        N_(
            "The wavefront multiplies two matrices on the matrix cores and adds a third. The name gives shape and "
            "types."
        ),
    ),
    (
        r"v_(wmma|swmmac)_\w+",
        N_("The wavefront multiplies two 16x16 matrices on RDNA's matrix units and adds a third."),
    ),
    (
        r"buffer_load_\w+_lds|buffer_load_lds_\w+|global_load_lds_\w+",
        N_("Copies from global memory to shared memory (LDS) without using registers."),
    ),
    (r"buffer_load_\w+", N_("Reads global memory through a buffer. Addresses out of range give 0.")),
    (r"buffer_store_\w+", N_("Writes global memory through a buffer. Addresses out of range are not written.")),
    (
        r"buffer_(inv|wbl2|wbinvl1\w*|gl\w+)\w*|global_(inv|wb|wbinv)\w*",
        N_("Invalidates caches, or writes them back, so that other writes become visible."),
    ),
    (r"(buffer|global|flat)_atomic_\w+", N_("Reads, changes and writes memory in one step (atomic).")),
    (r"(global|flat)_load_\w+", N_("Reads global memory into registers; b128 or dwordx4 is 16 bytes for each thread.")),
    (r"(global|flat)_store_\w+", N_("Writes registers to global memory.")),
    (
        r"scratch_\w+",
        N_("Reads or writes the thread's own memory: spilled registers, or its stack."),
    ),
    (r"ds_(read|load)_\w*tr\w*", N_("Reads a small matrix from shared memory (LDS) and transposes it.")),
    (r"ds_(read|load)\w*", N_("Reads shared memory (LDS); with a 2 from two places at once.")),
    (r"ds_(write|store)\w*", N_("Writes shared memory (LDS); with a 2 to two places at once.")),
    (r"ds_b?permute\w*|ds_swizzle\w*", N_("Threads exchange a register through the hardware of shared memory.")),
    (r"ds_\w+", N_("Reads, changes and writes shared memory (LDS) in one step (atomic).")),
    (
        r"s_(buffer_)?load_\w+",
        N_("Reads memory into scalar registers through the constant cache, for example the kernel's arguments."),
    ),
    (
        r"s_waitcnt\w*|s_wait_(loadcnt|storecnt|dscnt|kmcnt|"
        r"expcnt|samplecnt|bvhcnt)\w*|s_wait_asyncmark\w*|s_wait_idle",
        N_("Waits until at most this many loads, stores or shared-memory accesses are still running."),
    ),
    (
        r"s_wait_alu|s_delay_alu",
        N_("Tells the hardware how long to wait for results of earlier instructions."),
    ),
    (
        r"s_nop|s_sleep\w*|s_clause|s_setprio\w*|s_sched\w*|s_set\w+|s_code_end|s_inst_prefetch\w*|s_ttrace\w*",
        N_("Timing: waits some cycles, keeps instructions together, or sets a mode."),
    ),
    (
        r"s_barrier\w*",
        N_("All wavefronts of the program wait for each other. Signal and wait may be two instructions."),
    ),
    (r"s_endpgm\w*", N_("The wavefront ends.")),
    (
        r"s_c?branch\w*",
        N_("Jumps to another place: scc is the scalar condition, vcc and exec are masks of threads (z: all 0)."),
    ),
    (r"s_(getpc|setpc|swappc|call)\w*", N_("Calls a routine, or returns from it.")),
    (r"s_sendmsg\w*|s_trap", N_("Sends a message to the hardware, for example that registers are free.")),
    (
        r"s_(and|or|xor|andn2|and_not1|or_not1|nand|nor|not)\w*_saveexec_\w+",
        N_("Saves the mask of active threads and makes threads inactive: a branch that only some threads take."),
    ),
    (r"s_bitcmp\w*|s_cmpk?_\w+", N_("Compares scalars. The result is scc.")),
    (r"s_cselect_\w+", N_("Selects one of two scalars by scc.")),
    (r"s_(mov|movk|cmov)\w*", N_("Copies a scalar or a constant.")),
    (
        r"s_add_nc_u64|s_(add|addc|addk|sub|subb)\w*",
        N_("The sum or the difference of scalars; with co or c, with carry."),
    ),
    (r"s_lshl[1234]_add_u32\w*", N_("Shifts a scalar and adds another: an address.")),
    (r"s_mulk?_\w+|s_fmac?_\w+|s_fma\w+", N_("The product of scalars; hi is its upper half.")),
    (
        r"s_(and|or|xor|not|andn2|and_not1|nand|nor|xnor|bitset\w|orn2|or_not1)\w*",
        N_("Bitwise operation on scalars; on masks of threads: and, or, not."),
    ),
    (
        r"s_(lshl|lshr|ashr|bfe|bfm|brev|ff\d|flbit|ctz|clz|bcnt\w|pack|sext)\w*",
        N_("Shifts, extracts or counts bits of a scalar."),
    ),
    (r"s_(abs|min|max)\w*", N_("The minimum or maximum of scalars, or an absolute value.")),
    (r"s_cvt_\w+", N_("Converts a scalar between integer and float.")),
    (r"s_\w+", N_("An instruction on scalars, for the whole wavefront at once.")),
    (
        r"v_dual_\w+",
        N_("One of two instructions that RDNA runs at the same time; the other follows the double colon."),
    ),
    (
        rf"v_(pk_)?fma\w*|v_(pk_)?fmac\w*|v_mac_\w+|v_fmaak\w*|v_fmamk\w*|v_mad_f\w+|v_mad_mix\w*|v_fma_mix\w*{_E}",
        "a * b + c in floats; fmac adds to its own result. pk: two at once.",
    ),
    (r"v_dot\d\w+", N_("A dot product of small numbers.")),
    (r"v_mad_\w+|v_mad_co\w+", N_("a * b + c of integers.")),
    (
        r"v_(pk_)?mul_(hi|lo|u32|i32)\w*|v_mul_[ui]\w+|v_pk_mul_lo\w+",
        N_("The lower or the upper half of a product of integers."),
    ),
    (
        r"v_s_(rcp|sqrt|rsq|exp|log)\w*|v_(rcp|sqrt|rsq|exp|log|sin|cos)_\w+",
        N_("The special function unit: reciprocal, square root, power of 2, or logarithm to base 2."),
    ),
    (r"v_div_(scale|fmas|fixup)\w*", N_("A step of an exact division: scale, refine, or handle the special cases.")),
    (r"v_(frexp|ldexp)\w*", N_("Mantissa or exponent of a float, or a float times a power of 2.")),
    (
        r"v_(pk_)?(add|sub|subrev)_f\w+|v_pk_add_\w+",
        N_("The sum or the difference of floats (subrev: the other way round). pk: two at once."),
    ),
    (r"v_(pk_)?mul_\w*f\w+", N_("The product of floats. pk: two at once.")),
    (
        r"v_xad_u32\w*|v_(add3|add_lshl|lshl_add|lshl_or|and_or|or3|xor3|xor_add)\w*",
        N_("Two operations on three registers in one instruction, as the name says. Used for addresses."),
    ),
    (
        r"v_(pk_)?(add|sub|subrev|addc|subb)\w*",
        N_("The sum or the difference of integers; co: with carry, nc: without."),
    ),
    (
        r"v_cmpx?_\w+",
        N_("Compares in each thread. The result is a mask of threads. cmpx makes the others inactive."),
    ),
    (r"v_cndmask_\w+", N_("Selects one of two values by the thread's bit in a mask.")),
    (
        r"v_(pk_)?(max|min|med)3?(imum|inum)?\w*|v_maxmin\w*|v_minmax\w*",
        N_("The minimum or maximum of two numbers; with a 3, of three (med: the median)."),
    ),
    (
        r"v_cvt_\w+|v_(rndne|trunc|ceil|floor|fract)_\w+",
        N_("Converts between types, or rounds to an integer. pk: two into one register."),
    ),
    (
        r"v_mov_\w*dpp\w*|v_\w+_dpp\w*",
        N_("The same operation with a register of a nearby thread (DPP): neighbours exchange values this way."),
    ),
    (
        r"v_(pk_)?mov_\w+|v_swap\w*|v_accvgpr_\w+",
        N_("Copies a register or a constant; accvgpr to or from the registers of the matrix cores."),
    ),
    (
        r"v_(readlane|readfirstlane|writelane)\w*",
        N_("Copies one thread's register to a scalar, or a scalar to one thread. Spilled scalars are stored this way."),
    ),
    (r"v_permlane\w*", N_("Threads exchange registers, row by row or half by half.")),
    (r"v_(perm|alignbit|alignbyte|pack)\w*", N_("Selects bytes or halves of two registers.")),
    (r"v_bitop3\w*", N_("Any bitwise operation on three registers, given by a table of eight results.")),
    (r"v_(and|or|xor|not|xnor)_\w+", N_("Bitwise operation.")),
    (r"v_(lshl|lshr|ashr)\w*", N_("Shifts bits; rev: the shift count comes first.")),
    (
        r"v_(bfe|bfi|bfm|bfrev|ffb\w|bcnt|mbcnt|clz|ctz|cls)\w*",
        N_("Extracts, inserts, counts or reverses bits. mbcnt: the number of threads before this one."),
    ),
    (r"v_nop\w*", N_("Waits some cycles.")),
)
