"""Instructions of LLVM IR, and the functions that represent a GPU's instructions."""

from __future__ import annotations

from triton_lab.localization import N_

TABLE: tuple[tuple[str, str], ...] = (
    (r"getelementptr", N_("Computes an address: a pointer plus a number of elements. No memory is accessed.")),
    (r"load", N_("Reads memory.")),
    (r"store", N_("Writes memory.")),
    (r"atomicrmw|cmpxchg", N_("Reads, changes and writes memory in one step (atomic).")),
    (r"fence", N_("A fence: reads and writes are not moved past this place.")),
    (r"alloca", N_("Allocates memory of the thread's own.")),
    (
        r"(extract|insert)value",
        N_("Extracts or inserts one member of a struct. A thread holds its part of a block as a struct."),
    ),
    (r"(extract|insert)element", N_("Extracts or inserts one element of a small vector.")),
    (r"shufflevector", N_("Selects elements of two small vectors into a new one.")),
    (r"f?add|fadd|add", N_("The sum of two numbers.")),
    (r"f?sub", N_("The difference of two numbers.")),
    (r"f?mul", N_("The product of two numbers.")),
    (r"fdiv", N_("The quotient of two floats.")),
    (
        r"[su]div|[su]rem",
        N_("The quotient or remainder of integers. It costs many instructions, since GPUs have none for it."),
    ),
    (r"fneg", N_("The float negated.")),
    (r"and|or|xor", N_("Bitwise operation on two numbers.")),
    (r"shl|[al]shr", N_("Shifts the bits to the left, or to the right (lshr fills with 0, ashr with the sign).")),
    (r"[if]cmp", N_("Compares two numbers: true or false.")),
    (r"select", N_("Selects one of two values by a condition, without a branch.")),
    (r"phi", N_("The value that depends on the path to this place: carried by a loop, or chosen by a branch.")),
    (r"br|switch", N_("Jumps to another place, perhaps on a condition.")),
    (r"ret", N_("The end of the function.")),
    (r"unreachable", N_("This place is never reached.")),
    (r"[sz]ext", N_("Extends an integer to more bits: sext repeats the sign, zext fills with 0.")),
    (r"trunc", N_("The lowest bits of an integer.")),
    (r"fptrunc|fpext", N_("Converts a float to fewer or more bits.")),
    (r"[su]itofp|fpto[su]i", N_("Converts an integer to a float, or truncates a float to an integer.")),
    (r"bitcast", N_("The same bits, read as another type.")),
    (r"addrspacecast|inttoptr|ptrtoint", N_("Converts an address to another address space, or to a number.")),
    (r"freeze", N_("Replaces an undefined value by some fixed value.")),
    (r"call", N_("Calls a function: of a library, or one that was not inlined.")),
    (r"asm", N_("GPU instructions that Triton writes as inline assembly, such as masked loads.")),
    (r"llvm\.fmuladd\.\w+", N_("a * b + c; it may become one instruction that rounds once.")),
    (r"llvm\.fma\.\w+", N_("a * b + c, rounded once.")),
    (
        r"llvm\.(maxnum|minnum|maximumnum|minimumnum)\.\w+",
        N_("The maximum or minimum of two floats. If one is NaN, the result is the other."),
    ),
    (r"llvm\.(maximum|minimum)\.\w+", N_("The maximum or minimum of two floats. If one is NaN, the result is NaN.")),
    (r"llvm\.[su](min|max)\.\w+", N_("The minimum or maximum of two integers.")),
    (
        r"llvm\.[us](add|sub)\.sat\.\w+",
        N_("The sum or difference, clamped to the type's range instead of wrapping."),
    ),
    (r"llvm\.ctpop\.\w+", N_("The number of bits that are 1.")),
    (r"llvm\.(exp2?|log2?|sqrt|fabs|floor|ceil|rint|trunc)\.\w+", N_("The mathematical function of that name.")),
    (r"llvm\.vector\.reduce\.[\w.]+", N_("Combines the elements of a small vector into one.")),
    (r"llvm\.assume", N_("Tells the optimizer a condition that always holds. It costs nothing.")),
    (r"llvm\.nvvm\.read\.ptx\.sreg\.tid\.\w", N_("The number of the thread within the program.")),
    (r"llvm\.nvvm\.read\.ptx\.sreg\.ctaid\.\w", N_("The number of the program along an axis of the grid.")),
    (
        r"llvm\.nvvm\.read\.ptx\.sreg\.[\w.]+",
        N_("A special register: the number of the thread, warp or program, or a clock."),
    ),
    (
        r"llvm\.nvvm\.shfl\.sync\.\w+\.\w+",
        N_("Threads of a warp exchange a register: each reads another's."),
    ),
    (
        r"llvm\.nvvm\.barrier[\w.]*|llvm\.nvvm\.bar[\w.]*",
        N_("All threads of the program (or a group of them) wait for each other."),
    ),
    (
        r"llvm\.nvvm\.ldmatrix[\w.]+",
        N_("A warp reads small matrices from shared memory, distributed to its threads as tensor cores need them."),
    ),
    (r"llvm\.nvvm\.stmatrix[\w.]+", N_("A warp writes small matrices to shared memory.")),
    (
        r"llvm\.nvvm\.cp\.async\.(commit|wait)[\w.]*",
        N_("Commits a group of copies to shared memory, or waits for such groups."),
    ),
    (r"llvm\.nvvm\.cp\.async[\w.]*", N_("Starts a copy from global to shared memory that does not use registers.")),
    (
        r"llvm\.nvvm\.(ex2|lg2|rcp|r?sqrt|sin|cos|div)[\w.]*",
        N_("The function of that name, on the fast hardware unit or exactly rounded."),
    ),
    (
        r"llvm\.nvvm\.wgmma[\w.]+",
        N_("Around matrix products of four warps: a fence, a commit of a group, or a wait for it."),
    ),
    (
        r"llvm\.nvvm\.tcgen05[\w.]+",
        N_("Blackwell's tensor cores and their memory: a product, a copy, or a wait."),
    ),
    (r"llvm\.nvvm\.elect\.sync", N_("Elects one thread of the warp for work that is done once.")),
    (r"llvm\.nvvm\.redux\.sync[\w.]*", N_("Combines a number of all threads of a warp in one instruction.")),
    (r"llvm\.nvvm\.(vote|match)[\w.]*", N_("A vote: evaluates a condition in all threads of a warp at once.")),
    (
        r"llvm\.nvvm\.(fence|mbarrier)[\w.]*",
        N_("A fence for shared memory between hardware units, or a barrier that counts arrivals."),
    ),
    (r"llvm\.nvvm\.\w[\w.]*", N_("An instruction of NVIDIA's GPUs.")),
    (
        r"llvm\.amdgcn\.raw\.ptr\.buffer\.load\.async\.lds|llvm\.amdgcn\.\w*\.?load\.to\.lds[\w.]*",
        N_("Copies from global memory to shared memory (LDS) without using registers."),
    ),
    (
        r"llvm\.amdgcn\.raw\.ptr\.buffer\.load[\w.]*",
        N_("Reads global memory through a buffer. Addresses out of range give 0."),
    ),
    (
        r"llvm\.amdgcn\.raw\.ptr\.buffer\.(store|atomic)[\w.]*",
        N_("Writes or changes global memory through a buffer. Addresses out of range are not written."),
    ),
    (
        r"llvm\.amdgcn\.make\.buffer\.rsrc[\w.]*",
        N_("Describes a range of memory for the buffer instructions: its start and its end."),
    ),
    (
        r"llvm\.amdgcn\.mfma[\w.]+|llvm\.amdgcn\.smfmac[\w.]+",
        N_("A matrix product on the matrix cores, by the whole wavefront."),
    ),
    (
        r"llvm\.amdgcn\.s?wmma[\w.]+|llvm\.amdgcn\.swmmac[\w.]+",
        N_("A matrix product on RDNA's matrix units, by the whole wavefront."),
    ),
    (r"llvm\.amdgcn\.ds\.read\.tr[\w.]*", N_("Reads a small matrix from shared memory (LDS) and transposes it.")),
    (
        r"llvm\.amdgcn\.ds\.b?permute[\w.]*",
        N_("Threads of the wavefront exchange a register through the hardware of shared memory."),
    ),
    (r"llvm\.amdgcn\.(update|mov)\.dpp[\w.]*", N_("Reads a register of a nearby thread.")),
    (
        r"llvm\.amdgcn\.permlane[\w.]*|llvm\.amdgcn\.(readlane|writelane|readfirstlane)[\w.]*",
        N_("Moves values between threads, or from a thread to all."),
    ),
    (r"llvm\.amdgcn\.ballot[\w.]*", N_("A bit for each thread: whether its condition holds.")),
    (
        r"llvm\.amdgcn\.s\.barrier[\w.]*",
        N_("All wavefronts of the program wait for each other. Signal and wait may be two instructions."),
    ),
    (
        r"llvm\.amdgcn\.(s\.waitcnt|s\.wait\w*|wait\.\w+|asyncmark)[\w.]*",
        N_("Marks, or waits for, copies and accesses that are still running."),
    ),
    (
        r"llvm\.amdgcn\.work(item|group)\.id\.\w|llvm\.amdgcn\.wave\.id",
        N_("The number of the thread, of the program or of the wavefront."),
    ),
    (
        r"llvm\.amdgcn\.(sched|iglp|s\.setprio)[\w.]*",
        N_("Gives the compiler or the hardware an order of instructions. It computes nothing."),
    ),
    (r"llvm\.amdgcn\.\w[\w.]*", N_("An instruction of AMD's GPUs.")),
)
