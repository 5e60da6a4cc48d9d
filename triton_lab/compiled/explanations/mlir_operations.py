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
    (r"tt\.make_range", N_("A block of the whole numbers from start up to, and without, end: tl.arange.")),
    (r"tt\.splat", N_("A block that holds one and the same scalar everywhere.")),
    (r"tt\.unsplat", N_("The only element of a block as a scalar.")),
    (r"tt\.expand_dims", N_("The same elements with one more axis of length 1: x[:, None].")),
    (r"tt\.broadcast", N_("Repeats a block along its axes of length 1 until it has the wanted shape.")),
    (r"tt\.reshape", N_("The same elements under another shape.")),
    (r"tt\.trans", N_("The block with its axes in another order.")),
    (
        r"tt\.(join|split)",
        N_("Puts two blocks side by side along a new last axis of length 2, or takes such a pair apart."),
    ),
    (r"tt\.cat", N_("Puts the elements of two blocks into one; their order may change.")),
    (r"tt\.gather", N_("Takes elements out of a block at places that another block names.")),
    (r"tt\.addptr", N_("Moves pointers on by so many elements: addresses are computed here, no memory is touched.")),
    (
        r"tt\.load",
        N_("Reads the memory that a block of pointers points at; where the mask is false, the other value is taken."),
    ),
    (r"tt\.store", N_("Writes a block of values to a block of pointers, where the mask is true.")),
    (r"tt\.atomic_rmw", N_("Reads, changes and writes each element in one step (atomic).")),
    (
        r"tt\.atomic_cas",
        N_("Compares memory with a value and exchanges it if they are equal, in one step for all programs."),
    ),
    (
        r"tt\.dot",
        N_(
            "Multiplies two matrices and adds a third: a * b + c. It becomes instructions of tensor cores where it can."
        ),
    ),
    (r"tt\.dot_scaled", N_("Multiplies matrices of small floats whose groups of elements have a common scale.")),
    (r"tt\.reduce\.return", N_("The combination of two elements, in a reduction.")),
    (
        r"tt\.reduce",
        N_("Combines the elements along an axis into one, such as sum or max; the region says how two are combined."),
    ),
    (r"tt\.scan\.return", N_("The combination of two elements, in a scan.")),
    (r"tt\.scan", N_("Combines each element with all before it along an axis, such as a running sum.")),
    (r"tt\.histogram", N_("Counts how often each number occurs in a block.")),
    (r"tt\.clamp", N_("Each element, held between a least and a greatest value.")),
    (r"tt\.mulhiui", N_("The upper half of the product of two unsigned numbers, which is twice as wide as they are.")),
    (
        r"tt\.fp_to_fp",
        N_("Converts between formats of floating-point numbers that the standard operations do not know."),
    ),
    (r"tt\.bitcast|arith\.bitcast", N_("The same bits, read as another type.")),
    (r"tt\.(int_to_ptr|ptr_to_int)", N_("An address as a number, or a number as an address.")),
    (
        r"tt\.elementwise_inline_asm",
        N_("Assembly that the kernel's author wrote, for each element or a few at a time."),
    ),
    (r"tt\.extern_elementwise", N_("Calls a function of a library, such as libdevice, for each element.")),
    (r"tt\.precise_(sqrt|divf)", N_("Rounded as IEEE demands, where the usual one is a quick approximation.")),
    (
        r"tt\.make_tensor_descriptor",
        N_("Describes a tensor in memory (address, shape, strides), so that hardware can fetch blocks of it."),
    ),
    (r"tt\.descriptor_(load|gather)", N_("Fetches a block of a tensor by its descriptor and a position.")),
    (r"tt\.descriptor_(store|scatter|reduce)", N_("Writes a block to a tensor by its descriptor and a position.")),
    (r"tt\.(assert|print)", N_("Checks, or prints, values while the kernel runs.")),
    # scf and cf: control flow.
    (r"scf\.for", N_("A loop that counts. Values that change from turn to turn are its iter_args.")),
    (r"scf\.while", N_("A loop that goes on while its condition holds.")),
    (r"scf\.if", N_("Runs one of two regions; both give the same number of values.")),
    (r"scf\.condition", N_("Decides whether the loop goes on, and hands values to its next turn.")),
    (r"scf\.yield", N_("The values that a region gives: to the next turn of a loop, or behind an if.")),
    (r"cf\.(br|cond_br|switch)", N_("Jumps to another block of operations, perhaps on a condition.")),
    # arith and math.
    (r"arith\.constant", N_("A value that is known while the kernel is compiled.")),
    (r"arith\.add[if]", f"The sum {_WHOLE}."),
    (r"arith\.sub[if]", f"The difference {_WHOLE}."),
    (r"arith\.mul[if]", f"The product {_WHOLE}."),
    (r"arith\.divf", f"The quotient {_WHOLE}, of floating-point numbers."),
    (
        r"arith\.(div|ceildiv|floordiv)[su]i",
        N_("The quotient of whole numbers: costly, since GPUs have no instruction for it."),
    ),
    (r"arith\.rem[suf]i?", N_("What is left over by a division: costly, as the division itself.")),
    (r"arith\.(and|or|xor)i", N_("Combines the bits of two numbers; of masks it is and, or, either-or.")),
    (r"arith\.sh(l|rsi|rui)", N_("Shifts the bits of a number to the left or to the right.")),
    (r"arith\.cmp[if]", N_("Compares two numbers: the result is a mask.")),
    (r"arith\.select", N_("Chooses between two values where a mask is true or false: tl.where.")),
    (r"arith\.(maxnumf|minnumf)", N_("The larger or the smaller of two floats; of a number and NaN it is the number.")),
    (r"arith\.(maximumf|minimumf)", N_("The larger or the smaller of two floats; with NaN it is NaN.")),
    (r"arith\.(max|min)[su]i", N_("The larger or the smaller of two whole numbers.")),
    (r"arith\.neg[fi]", N_("The number with the other sign.")),
    (r"arith\.(extf|truncf)", N_("A float as one with more or with fewer bits.")),
    (r"arith\.ext[su]i", N_("A whole number with more bits, which keeps its value.")),
    (r"arith\.trunci", N_("The lowest bits of a whole number, as one with fewer.")),
    (r"arith\.([su]itofp|fpto[su]i)", N_("A whole number as a float, or a float cut down to a whole number.")),
    (r"arith\.index_cast\w*", N_("The number as another type of whole numbers.")),
    (r"math\.exp2?", N_("The power of e, or of 2 where the name ends so.")),
    (r"math\.log\w*", N_("The logarithm.")),
    (r"math\.r?sqrt", N_("The square root; with an r before it, one over that.")),
    (r"math\.(sin|cos|tanh|erf)", N_("The function of that name, element by element.")),
    (r"math\.(floor|ceil|round\w*|trunc)", N_("A float, rounded to a whole one.")),
    (r"math\.abs[fi]", N_("The number without its sign.")),
    (r"math\.fma", N_("a * b + c, rounded once.")),
    # ttg: where data lies in the GPU.
    (
        r"ttg\.convert_layout",
        N_("Deals a block's elements to the threads in another way; often through shared memory, which takes time."),
    ),
    (r"ttg\.local_alloc", N_("Takes shared memory for a block, and may put the block there.")),
    (r"ttg\.local_dealloc", N_("From here on that shared memory may be used for something else.")),
    (r"ttg\.local_load", N_("Reads a block from shared memory into registers.")),
    (r"ttg\.local_store", N_("Writes a block from registers to shared memory.")),
    (
        r"ttg\.memdesc_(index|subslice|subview)",
        N_("A part of a piece of shared memory, such as one of a pipeline's buffers. Nothing is copied."),
    ),
    (
        r"ttg\.memdesc_(trans|reshape|reinterpret)",
        N_("The same shared memory, seen with other axes. Nothing is copied."),
    ),
    (
        r"ttg\.async_copy_global_to_local",
        N_("Starts a copy from global to shared memory, which goes on beside what follows."),
    ),
    (r"ttg\.async_commit_group", N_("Closes a group of copies that were started: they are waited for together.")),
    (r"ttg\.async_wait", N_("Waits until at most so many groups of copies are still under way.")),
    (r"ttg\.(barrier|local_barrier)|gpu\.barrier", N_("All threads of the program wait here for each other.")),
    (
        r"ttg\.warp_specialize\w*|ttg\.warp_(yield|return)",
        N_("Warps of one program do different work here, such as loading beside computing."),
    ),
    (r"ttg\.(global_scratch_alloc|warp_id)", N_("Memory for the compiler's own use, or the number of the warp.")),
    # ttng: NVIDIA's.
    (
        r"ttng\.warp_group_dot",
        N_("A matrix product by tensor cores for four warps together, which goes on by itself (wgmma)."),
    ),
    (r"ttng\.warp_group_dot_wait", N_("Waits until at most so many of these matrix products are still under way.")),
    (
        r"ttng\.tc_gen5_(mma\w*|commit)",
        N_("A matrix product by Blackwell's tensor cores, whose sum lies in tensor memory."),
    ),
    (
        r"ttng\.tmem_(alloc|load|store|copy|subslice)",
        N_("Takes, reads or writes tensor memory, which Blackwell's tensor cores have for themselves."),
    ),
    (
        r"ttng\.(init|inval|arrive|wait)_barrier|ttng\.barrier_expect",
        N_("A barrier in shared memory that counts arrivals: copies and matrix products arrive there, too."),
    ),
    (
        r"ttng\.fence_async_shared|ttng\.fence\w*",
        N_("What threads wrote to shared memory is seen by tensor cores and copies from here on."),
    ),
    (
        r"ttng\.async_tma_\w+|ttng\.tensormap\w*",
        N_("A block is moved by the copy engine (TMA) between global and shared memory."),
    ),
    # amdg: AMD's.
    (
        r"amd\w*\.buffer_load",
        N_("Reads by a base address and offsets of 32 bits; what lies out of range gives 0 with no branch."),
    ),
    (
        r"amd\w*\.buffer_store",
        N_("Writes by a base address and offsets of 32 bits; what lies out of range is left out."),
    ),
    (r"amd\w*\.buffer_load_to_local", N_("Copies from global memory to shared memory (LDS), past the registers.")),
    (r"amd\w*\.buffer_atomic_\w+", N_("Changes memory in one step, by a base address and offsets of 32 bits.")),
    (
        r"amd\w*\.in_thread_transpose",
        N_("Turns the small block that each thread holds, so that it can write wider pieces."),
    ),
    (r"amd\w*\.\w+", N_("An operation of Triton's for AMD's GPUs alone.")),
)
