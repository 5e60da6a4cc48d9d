"""Operations of TTIR and TTGIR."""

from __future__ import annotations

from triton_lab.localization import N_

_WHOLE = "of the block, element by element"

TABLE: tuple[tuple[str, str], ...] = (
    # tt: what Triton's language says.
    (r"tt\.func", N_("The kernel, or a function that was not inlined, with its arguments.")),
    (r"tt\.return", N_("The end of the function.")),
    (r"tt\.call", N_("Calls another function of the kernel's module.")),
    (r"tt\.get_program_id", N_("The number of this program along an axis of the grid: tl.program_id.")),
    (r"tt\.get_num_programs", N_("How many programs the grid has along an axis: tl.num_programs.")),
    (r"tt\.make_range", N_("A block of the integers from start to end - 1: tl.arange.")),
    (r"tt\.splat", N_("A block with the same scalar in every lane.")),
    (r"tt\.unsplat", N_("The single element of a block as a scalar.")),
    (r"tt\.expand_dims", N_("The same elements with one more axis of length 1: x[:, None].")),
    (r"tt\.broadcast", N_("Broadcasts a block: repeats it along its axes of length 1.")),
    (r"tt\.reshape", N_("The same elements under another shape.")),
    (r"tt\.trans", N_("The block with its axes in another order.")),
    (
        r"tt\.(join|split)",
        N_("Joins two blocks along a new last axis of length 2, or splits such a block."),
    ),
    (r"tt\.cat", N_("Concatenates two blocks. The order of the elements may change.")),
    (r"tt\.gather", N_("Gathers elements of a block at the indices in another block.")),
    (r"tt\.addptr", N_("Adds a number of elements to pointers. This computes addresses and accesses no memory.")),
    (
        r"tt\.load",
        N_("Reads memory through a block of pointers. Where the mask is false, the result is the other value."),
    ),
    (r"tt\.store", N_("Writes a block of values through a block of pointers, where the mask is true.")),
    (r"tt\.atomic_rmw", N_("Reads, changes and writes each element in one step (atomic).")),
    (
        r"tt\.atomic_cas",
        N_("Compares memory with a value and replaces it if they are equal, in one step (atomic compare-and-swap)."),
    ),
    (
        r"tt\.dot",
        N_("Multiplies two matrices and adds a third: a * b + c. If possible, it becomes tensor-core instructions."),
    ),
    (r"tt\.dot_scaled", N_("Multiplies matrices of small floats whose groups of elements have a common scale.")),
    (r"tt\.reduce\.return", N_("The result of combining two elements in a reduction.")),
    (
        r"tt\.reduce",
        N_("Reduces the elements along an axis to one, such as a sum or maximum. The region combines two elements."),
    ),
    (r"tt\.scan\.return", N_("The result of combining two elements in a scan.")),
    (r"tt\.scan", N_("Combines each element with all before it along an axis, such as a running sum.")),
    (r"tt\.histogram", N_("Counts how often each number occurs in a block.")),
    (r"tt\.clamp", N_("Clamps each element to a minimum and a maximum.")),
    (r"tt\.mulhiui", N_("The upper half of the double-width product of two unsigned integers.")),
    (
        r"tt\.fp_to_fp",
        N_("Converts between floating-point formats that MLIR's standard operations do not support."),
    ),
    (r"tt\.bitcast|arith\.bitcast", N_("The same bits, read as another type.")),
    (r"tt\.(int_to_ptr|ptr_to_int)", N_("Converts an address to an integer, or an integer to an address.")),
    (
        r"tt\.elementwise_inline_asm",
        N_("Inline assembly of the kernel's author, for one or a few elements at a time."),
    ),
    (r"tt\.extern_elementwise", N_("Calls a function of a library, such as libdevice, for each element.")),
    (r"tt\.precise_(sqrt|divf)", N_("Rounded as IEEE 754 requires; the normal version is a fast approximation.")),
    (
        r"tt\.make_tensor_descriptor",
        N_("Describes a tensor in memory (address, shape, strides), so that hardware can fetch blocks of it."),
    ),
    (r"tt\.descriptor_(load|gather)", N_("Fetches a block of a tensor by its descriptor and a position.")),
    (r"tt\.descriptor_(store|scatter|reduce)", N_("Writes a block to a tensor by its descriptor and a position.")),
    (r"tt\.(assert|print)", N_("Checks, or prints, values while the kernel runs.")),
    # scf and cf: control flow.
    (r"scf\.for", N_("A counting loop. Values that change in each iteration are its iter_args.")),
    (r"scf\.while", N_("A loop that runs while its condition holds.")),
    (r"scf\.if", N_("Runs one of two regions. Both return the same number of values.")),
    (r"scf\.condition", N_("Decides whether the loop continues, and passes values to its next iteration.")),
    (r"scf\.yield", N_("The results of a region: the values for a loop's next iteration, or of an if.")),
    (r"cf\.(br|cond_br|switch)", N_("Jumps to another block of operations, perhaps on a condition.")),
    # arith and math.
    (r"arith\.constant", N_("A value that is known while the kernel is compiled.")),
    (r"arith\.add[if]", f"The sum {_WHOLE}."),
    (r"arith\.sub[if]", f"The difference {_WHOLE}."),
    (r"arith\.mul[if]", f"The product {_WHOLE}."),
    (r"arith\.divf", f"The quotient {_WHOLE}, of floating-point numbers."),
    (
        r"arith\.(div|ceildiv|floordiv)[su]i",
        N_("The quotient of integers. It is costly, since GPUs have no instruction for it."),
    ),
    (r"arith\.rem[suf]i?", N_("The remainder of a division. It is as costly as the division.")),
    (r"arith\.(and|or|xor)i", N_("Bitwise and, or, xor of two numbers, or of two masks.")),
    (r"arith\.sh(l|rsi|rui)", N_("Shifts the bits of a number to the left or to the right.")),
    (r"arith\.cmp[if]", N_("Compares two numbers: the result is a mask.")),
    (r"arith\.select", N_("Selects one of two values by a mask: tl.where.")),
    (r"arith\.(maxnumf|minnumf)", N_("The maximum or minimum of two floats. If one is NaN, the result is the other.")),
    (r"arith\.(maximumf|minimumf)", N_("The maximum or minimum of two floats. If one is NaN, the result is NaN.")),
    (r"arith\.(max|min)[su]i", N_("The maximum or minimum of two integers.")),
    (r"arith\.neg[fi]", N_("The number negated.")),
    (r"arith\.(extf|truncf)", N_("Converts a float to more or fewer bits.")),
    (r"arith\.ext[su]i", N_("Extends an integer to more bits. Its value stays the same.")),
    (r"arith\.trunci", N_("Truncates an integer to its lowest bits.")),
    (r"arith\.([su]itofp|fpto[su]i)", N_("Converts an integer to a float, or truncates a float to an integer.")),
    (r"arith\.index_cast\w*", N_("Converts between an index and an integer type.")),
    (r"math\.exp2?", N_("A power of e; with a 2 in the name, a power of 2.")),
    (r"math\.log\w*", N_("The logarithm.")),
    (r"math\.r?sqrt", N_("The square root; with an r, its reciprocal.")),
    (r"math\.(sin|cos|tanh|erf)", N_("The function of that name, element by element.")),
    (r"math\.(floor|ceil|round\w*|trunc)", N_("Rounds a float to an integral value.")),
    (r"math\.abs[fi]", N_("The absolute value.")),
    (r"math\.fma", N_("a * b + c, rounded once.")),
    # ttg: where data lies in the GPU.
    (
        r"ttg\.convert_layout",
        N_(
            "Converts the layout: distributes a block's elements to the threads in another way. This often goes "
            "through shared memory, which takes time."
        ),
    ),
    (r"ttg\.local_alloc", N_("Allocates shared memory for a block, and may store the block there.")),
    (r"ttg\.local_dealloc", N_("Frees shared memory.")),
    (r"ttg\.local_load", N_("Reads a block from shared memory into registers.")),
    (r"ttg\.local_store", N_("Writes a block from registers to shared memory.")),
    (
        r"ttg\.memdesc_(index|subslice|subview)",
        N_("A view of a part of shared memory, such as one of a pipeline's buffers. Nothing is copied."),
    ),
    (
        r"ttg\.memdesc_(trans|reshape|reinterpret)",
        N_("A view of the same shared memory with other axes. Nothing is copied."),
    ),
    (
        r"ttg\.async_copy_global_to_local",
        N_("Starts an asynchronous copy from global to shared memory."),
    ),
    (r"ttg\.async_commit_group", N_("Commits the started copies as a group, which is waited for as a whole.")),
    (r"ttg\.async_wait", N_("Waits until at most this many groups of copies are still running.")),
    (r"ttg\.(barrier|local_barrier)|gpu\.barrier", N_("All threads of the program wait here for each other.")),
    (
        r"ttg\.warp_specialize\w*|ttg\.warp_(yield|return)",
        N_("Warp specialization: warps of one program do different work, for example some load and others compute."),
    ),
    (r"ttg\.(global_scratch_alloc|warp_id)", N_("Memory for the compiler's own use, or the number of the warp.")),
    # ttng: NVIDIA's.
    (
        r"ttng\.warp_group_dot",
        N_("An asynchronous matrix product of four warps on tensor cores (wgmma)."),
    ),
    (r"ttng\.warp_group_dot_wait", N_("Waits until at most this many matrix products are still running.")),
    (
        r"ttng\.tc_gen5_(mma\w*|commit)",
        N_("A matrix product on Blackwell's tensor cores. The sum is in tensor memory."),
    ),
    (
        r"ttng\.tmem_(alloc|load|store|copy|subslice)",
        N_("Allocates, reads or writes tensor memory, the own memory of Blackwell's tensor cores."),
    ),
    (
        r"ttng\.(init|inval|arrive|wait)_barrier|ttng\.barrier_expect",
        N_("A barrier in shared memory that counts arrivals, also those of copies and matrix products."),
    ),
    (
        r"ttng\.fence_async_shared|ttng\.fence\w*",
        N_("A fence: tensor cores and copies see the threads' earlier writes to shared memory."),
    ),
    (
        r"ttng\.async_tma_\w+|ttng\.tensormap\w*",
        N_("The copy engine (TMA) moves a block between global and shared memory."),
    ),
    # amdg: AMD's.
    (
        r"amd\w*\.buffer_load",
        N_("Reads memory at a base address plus 32-bit offsets. Addresses out of range give 0, without a branch."),
    ),
    (
        r"amd\w*\.buffer_store",
        N_("Writes memory at a base address plus 32-bit offsets. Addresses out of range are not written."),
    ),
    (r"amd\w*\.buffer_load_to_local", N_("Copies from global memory to shared memory (LDS) without using registers.")),
    (r"amd\w*\.buffer_atomic_\w+", N_("Changes memory at a base address plus 32-bit offsets in one step (atomic).")),
    (
        r"amd\w*\.in_thread_transpose",
        N_("Transposes the small block of each thread, so that it can write wider pieces."),
    ),
    (r"amd\w*\.\w+", N_("An operation of Triton's for AMD's GPUs alone.")),
)
