"""Operations of TTIR and TTGIR."""

from __future__ import annotations

_WHOLE = "of the block, element by element"

TABLE: tuple[tuple[str, str], ...] = (
    # tt: what Triton's language says.
    (r"tt\.func", "The kernel, or a function that was not inlined, with its arguments."),
    (r"tt\.return", "The end of the function."),
    (r"tt\.call", "Calls another function of the kernel's module."),
    (r"tt\.get_program_id", "The number of this program along an axis of the grid: tl.program_id."),
    (r"tt\.get_num_programs", "How many programs the grid has along an axis: tl.num_programs."),
    (r"tt\.make_range", "A block of the whole numbers from start up to, and without, end: tl.arange."),
    (r"tt\.splat", "A block that holds one and the same scalar everywhere."),
    (r"tt\.unsplat", "The only element of a block as a scalar."),
    (r"tt\.expand_dims", "The same elements with one more axis of length 1: x[:, None]."),
    (r"tt\.broadcast", "Repeats a block along its axes of length 1 until it has the wanted shape."),
    (r"tt\.reshape", "The same elements under another shape."),
    (r"tt\.trans", "The block with its axes in another order."),
    (
        r"tt\.(join|split)",
        "Puts two blocks side by side along a new last axis of length 2, or takes such a pair apart.",
    ),
    (r"tt\.cat", "Puts the elements of two blocks into one; their order may change."),
    (r"tt\.gather", "Takes elements out of a block at places that another block names."),
    (r"tt\.addptr", "Moves pointers on by so many elements: addresses are computed here, no memory is touched."),
    (
        r"tt\.load",
        "Reads the memory that a block of pointers points at; where the mask is false, the other value is taken.",
    ),
    (r"tt\.store", "Writes a block of values to a block of pointers, where the mask is true."),
    (r"tt\.atomic_rmw", "Reads, changes and writes each element in one step that no other program can come between."),
    (
        r"tt\.atomic_cas",
        "Compares memory with a value and exchanges it if they are equal, in one step for all programs.",
    ),
    (
        r"tt\.dot",
        "Multiplies two matrices and adds a third: a * b + c. It becomes instructions of tensor cores where it can.",
    ),
    (r"tt\.dot_scaled", "Multiplies matrices of small floats whose groups of elements have a common scale."),
    (r"tt\.reduce\.return", "What the combination of two elements gives, in a reduction."),
    (
        r"tt\.reduce",
        "Combines the elements along an axis into one, such as sum or max; the region says how two are combined.",
    ),
    (r"tt\.scan\.return", "What the combination of two elements gives, in a scan."),
    (r"tt\.scan", "Combines each element with all before it along an axis, such as a running sum."),
    (r"tt\.histogram", "Counts how often each number occurs in a block."),
    (r"tt\.clamp", "Each element, held between a least and a greatest value."),
    (r"tt\.mulhiui", "The upper half of the product of two unsigned numbers, which is twice as wide as they are."),
    (r"tt\.fp_to_fp", "Converts between formats of floating-point numbers that the standard operations do not know."),
    (r"tt\.bitcast|arith\.bitcast", "The same bits, read as another type."),
    (r"tt\.(int_to_ptr|ptr_to_int)", "An address as a number, or a number as an address."),
    (r"tt\.elementwise_inline_asm", "Assembly that the kernel's author wrote, for each element or a few at a time."),
    (r"tt\.extern_elementwise", "Calls a function of a library, such as libdevice, for each element."),
    (r"tt\.precise_(sqrt|divf)", "Rounded as IEEE demands, where the usual one is a quick approximation."),
    (
        r"tt\.make_tensor_descriptor",
        "Describes a tensor in memory (address, shape, strides), so that hardware can fetch blocks of it.",
    ),
    (r"tt\.descriptor_(load|gather)", "Fetches a block of a tensor by its descriptor and a position."),
    (r"tt\.descriptor_(store|scatter|reduce)", "Writes a block to a tensor by its descriptor and a position."),
    (r"tt\.(assert|print)", "Checks, or prints, values while the kernel runs."),
    # scf and cf: control flow.
    (r"scf\.for", "A loop that counts. Values that change from turn to turn are its iter_args."),
    (r"scf\.while", "A loop that goes on while its condition holds."),
    (r"scf\.if", "Runs one of two regions; both give the same number of values."),
    (r"scf\.condition", "Decides whether the loop goes on, and hands values to its next turn."),
    (r"scf\.yield", "The values that a region gives: to the next turn of a loop, or behind an if."),
    (r"cf\.(br|cond_br|switch)", "Goes on in another block of operations, perhaps depending on a condition."),
    # arith and math.
    (r"arith\.constant", "A value that is known while the kernel is compiled."),
    (r"arith\.add[if]", f"The sum {_WHOLE}."),
    (r"arith\.sub[if]", f"The difference {_WHOLE}."),
    (r"arith\.mul[if]", f"The product {_WHOLE}."),
    (r"arith\.divf", f"The quotient {_WHOLE}, of floating-point numbers."),
    (
        r"arith\.(div|ceildiv|floordiv)[su]i",
        "The quotient of whole numbers: costly, since GPUs have no instruction for it.",
    ),
    (r"arith\.rem[suf]i?", "What is left over by a division: costly, as the division itself."),
    (r"arith\.(and|or|xor)i", "Combines the bits of two numbers; of masks it is and, or, either-or."),
    (r"arith\.sh(l|rsi|rui)", "Shifts the bits of a number to the left or to the right."),
    (r"arith\.cmp[if]", "Compares two numbers: the result is a mask."),
    (r"arith\.select", "Chooses between two values where a mask is true or false: tl.where."),
    (r"arith\.(maxnumf|minnumf)", "The larger or the smaller of two floats; of a number and NaN it is the number."),
    (r"arith\.(maximumf|minimumf)", "The larger or the smaller of two floats; with NaN it is NaN."),
    (r"arith\.(max|min)[su]i", "The larger or the smaller of two whole numbers."),
    (r"arith\.neg[fi]", "The number with the other sign."),
    (r"arith\.(extf|truncf)", "A float as one with more or with fewer bits."),
    (r"arith\.ext[su]i", "A whole number with more bits, which keeps its value."),
    (r"arith\.trunci", "The lowest bits of a whole number, as one with fewer."),
    (r"arith\.([su]itofp|fpto[su]i)", "A whole number as a float, or a float cut down to a whole number."),
    (r"arith\.index_cast\w*", "The number as another type of whole numbers."),
    (r"math\.exp2?", "The power of e, or of 2 where the name ends so."),
    (r"math\.log\w*", "The logarithm."),
    (r"math\.r?sqrt", "The square root; with an r before it, one over that."),
    (r"math\.(sin|cos|tanh|erf)", "The function of that name, element by element."),
    (r"math\.(floor|ceil|round\w*|trunc)", "A float, rounded to a whole one."),
    (r"math\.abs[fi]", "The number without its sign."),
    (r"math\.fma", "a * b + c, rounded once."),
    # ttg: where data lies in the GPU.
    (
        r"ttg\.convert_layout",
        "Deals a block's elements to the threads in another way; often through shared memory, which takes time.",
    ),
    (r"ttg\.local_alloc", "Takes shared memory for a block, and may put the block there."),
    (r"ttg\.local_dealloc", "From here on that shared memory may be used for something else."),
    (r"ttg\.local_load", "Reads a block from shared memory into registers."),
    (r"ttg\.local_store", "Writes a block from registers to shared memory."),
    (
        r"ttg\.memdesc_(index|subslice|subview)",
        "A part of a piece of shared memory, such as one of a pipeline's buffers. Nothing is copied.",
    ),
    (r"ttg\.memdesc_(trans|reshape|reinterpret)", "The same shared memory, seen with other axes. Nothing is copied."),
    (
        r"ttg\.async_copy_global_to_local",
        "Starts a copy from global to shared memory, which goes on beside what follows.",
    ),
    (r"ttg\.async_commit_group", "Closes a group of copies that were started: they are waited for together."),
    (r"ttg\.async_wait", "Waits until at most so many groups of copies are still under way."),
    (r"ttg\.(barrier|local_barrier)|gpu\.barrier", "All threads of the program wait here for each other."),
    (
        r"ttg\.warp_specialize\w*|ttg\.warp_(yield|return)",
        "Warps of one program do different work here, such as loading beside computing.",
    ),
    (r"ttg\.(global_scratch_alloc|warp_id)", "Memory for the compiler's own use, or the number of the warp."),
    # ttng: NVIDIA's.
    (
        r"ttng\.warp_group_dot",
        "A matrix product by tensor cores for four warps together, which goes on by itself (wgmma).",
    ),
    (r"ttng\.warp_group_dot_wait", "Waits until at most so many of these matrix products are still under way."),
    (
        r"ttng\.tc_gen5_(mma\w*|commit)",
        "A matrix product by Blackwell's tensor cores, whose sum lies in tensor memory.",
    ),
    (
        r"ttng\.tmem_(alloc|load|store|copy|subslice)",
        "Takes, reads or writes tensor memory, which Blackwell's tensor cores have for themselves.",
    ),
    (
        r"ttng\.(init|inval|arrive|wait)_barrier|ttng\.barrier_expect",
        "A barrier in shared memory that counts who has arrived: copies and matrix products arrive there, too.",
    ),
    (
        r"ttng\.fence_async_shared|ttng\.fence\w*",
        "What threads wrote to shared memory is seen by tensor cores and copies from here on.",
    ),
    (
        r"ttng\.async_tma_\w+|ttng\.tensormap\w*",
        "A block is moved by the copy engine (TMA) between global and shared memory.",
    ),
    # amdg: AMD's.
    (
        r"amd\w*\.buffer_load",
        "Reads by a base address and offsets of 32 bits; what lies out of range gives 0 with no branch.",
    ),
    (r"amd\w*\.buffer_store", "Writes by a base address and offsets of 32 bits; what lies out of range is left out."),
    (r"amd\w*\.buffer_load_to_local", "Copies from global memory to shared memory (LDS), past the registers."),
    (r"amd\w*\.buffer_atomic_\w+", "Changes memory in one step, by a base address and offsets of 32 bits."),
    (
        r"amd\w*\.in_thread_transpose",
        "Turns the small block that each thread holds, so that it can write wider pieces.",
    ),
    (r"amd\w*\.\w+", "An operation of Triton's for AMD's GPUs alone."),
)
