"""Instructions of LLVM IR, and the functions that represent a GPU's instructions."""

from __future__ import annotations

from triton_lab.localization import N_

TABLE: tuple[tuple[str, str], ...] = (
    (r"getelementptr", N_("Computes an address: a pointer and how many elements further. No memory is touched.")),
    (r"load", N_("Reads memory.")),
    (r"store", N_("Writes memory.")),
    (r"atomicrmw|cmpxchg", N_("Reads, changes and writes memory in one step (atomic).")),
    (r"fence", N_("Says which reads and writes may not be moved past this place.")),
    (r"alloca", N_("Takes memory of the thread's own.")),
    (
        r"(extract|insert)value",
        N_("One member of a struct: taken out, or put in. Threads hold their share of a block as a struct."),
    ),
    (r"(extract|insert)element", N_("One element of a small vector: taken out, or put in.")),
    (r"shufflevector", N_("Picks elements of two small vectors into a new one.")),
    (r"f?add|fadd|add", N_("The sum of two numbers.")),
    (r"f?sub", N_("The difference of two numbers.")),
    (r"f?mul", N_("The product of two numbers.")),
    (r"fdiv", N_("The quotient of two floats.")),
    (
        r"[su]div|[su]rem",
        N_("The quotient of whole numbers, or what is left over: many instructions, as GPUs have none for it."),
    ),
    (r"fneg", N_("A float with the other sign.")),
    (r"and|or|xor", N_("Combines the bits of two numbers.")),
    (r"shl|[al]shr", N_("Shifts the bits to the left, or to the right (lshr fills with 0, ashr with the sign).")),
    (r"[if]cmp", N_("Compares two numbers: true or false.")),
    (r"select", N_("One of two values, as a condition says; no branch.")),
    (r"phi", N_("The value that depends on the path to this place: carried by a loop, or chosen by a branch.")),
    (r"br|switch", N_("Jumps to another place, perhaps on a condition.")),
    (r"ret", N_("The end of the function.")),
    (r"unreachable", N_("This place is never reached.")),
    (r"[sz]ext", N_("A whole number with more bits: sext repeats the sign, zext fills with 0.")),
    (r"trunc", N_("The lowest bits of a whole number.")),
    (r"fptrunc|fpext", N_("A float as one with fewer, or with more bits.")),
    (r"[su]itofp|fpto[su]i", N_("A whole number as a float, or a float cut down to a whole number.")),
    (r"bitcast", N_("The same bits, read as another type.")),
    (r"addrspacecast|inttoptr|ptrtoint", N_("An address as another kind of address, or as a number.")),
    (r"freeze", N_("Replaces an undefined value by some fixed value.")),
    (r"call", N_("Calls a function: of a library, or one that was not inlined.")),
    (r"asm", N_("Instructions of the GPU that Triton writes out by itself, such as loads under a mask.")),
    (r"llvm\.fmuladd\.\w+", N_("a * b + c; it may become one instruction that rounds once.")),
    (r"llvm\.fma\.\w+", N_("a * b + c, rounded once.")),
    (
        r"llvm\.(maxnum|minnum|maximumnum|minimumnum)\.\w+",
        N_("The larger or the smaller of two floats; of a number and NaN it is the number."),
    ),
    (r"llvm\.(maximum|minimum)\.\w+", N_("The larger or the smaller of two floats; with NaN it is NaN.")),
    (r"llvm\.[su](min|max)\.\w+", N_("The smaller or the larger of two whole numbers.")),
    (
        r"llvm\.[us](add|sub)\.sat\.\w+",
        N_("Sum or difference that stops at the end of the range, in place of wrapping around."),
    ),
    (r"llvm\.ctpop\.\w+", N_("How many bits are 1.")),
    (r"llvm\.(exp2?|log2?|sqrt|fabs|floor|ceil|rint|trunc)\.\w+", N_("The mathematical function of that name.")),
    (r"llvm\.vector\.reduce\.[\w.]+", N_("Combines the elements of a small vector into one.")),
    (r"llvm\.assume", N_("Tells the optimizer what is known to hold; it costs nothing.")),
    (r"llvm\.nvvm\.read\.ptx\.sreg\.tid\.\w", N_("The number of the thread within the program.")),
    (r"llvm\.nvvm\.read\.ptx\.sreg\.ctaid\.\w", N_("The number of the program along an axis of the grid.")),
    (
        r"llvm\.nvvm\.read\.ptx\.sreg\.[\w.]+",
        N_("A special register: which thread, warp or program this is, or a clock."),
    ),
    (
        r"llvm\.nvvm\.shfl\.sync\.\w+\.\w+",
        N_("Threads of a warp exchange a register: each takes that of another lane."),
    ),
    (
        r"llvm\.nvvm\.barrier[\w.]*|llvm\.nvvm\.bar[\w.]*",
        N_("All threads of the program (or a group of them) wait for each other."),
    ),
    (
        r"llvm\.nvvm\.ldmatrix[\w.]+",
        N_("A warp reads small matrices from shared memory, dealt out as tensor cores want them."),
    ),
    (r"llvm\.nvvm\.stmatrix[\w.]+", N_("A warp writes small matrices to shared memory.")),
    (
        r"llvm\.nvvm\.cp\.async\.(commit|wait)[\w.]*",
        N_("Closes a group of copies to shared memory, or waits for such groups."),
    ),
    (r"llvm\.nvvm\.cp\.async[\w.]*", N_("Starts a copy from global to shared memory, past the registers.")),
    (
        r"llvm\.nvvm\.(ex2|lg2|rcp|r?sqrt|sin|cos|div)[\w.]*",
        N_("The function of that name, by the quick unit for it or with its exact rounding."),
    ),
    (r"llvm\.nvvm\.wgmma[\w.]+", N_("Around matrix products of four warps: fence, close a group, or wait for it.")),
    (
        r"llvm\.nvvm\.tcgen05[\w.]+",
        N_("Blackwell's tensor cores and their memory: a product, a copy, or waiting for it."),
    ),
    (r"llvm\.nvvm\.elect\.sync", N_("Chooses one lane of the warp, for work that is done once.")),
    (r"llvm\.nvvm\.redux\.sync[\w.]*", N_("Combines a number of all lanes of a warp in one instruction.")),
    (r"llvm\.nvvm\.(vote|match)[\w.]*", N_("Asks all lanes of a warp a question at once.")),
    (
        r"llvm\.nvvm\.(fence|mbarrier)[\w.]*",
        N_("Orders what several units see of shared memory, or a barrier that counts arrivals."),
    ),
    (r"llvm\.nvvm\.\w[\w.]*", N_("An instruction of NVIDIA's GPUs.")),
    (
        r"llvm\.amdgcn\.raw\.ptr\.buffer\.load\.async\.lds|llvm\.amdgcn\.\w*\.?load\.to\.lds[\w.]*",
        N_("Copies from global memory to shared memory (LDS), past the registers."),
    ),
    (
        r"llvm\.amdgcn\.raw\.ptr\.buffer\.load[\w.]*",
        N_("Reads global memory through a buffer, which answers 0 for what is out of range."),
    ),
    (
        r"llvm\.amdgcn\.raw\.ptr\.buffer\.(store|atomic)[\w.]*",
        N_("Writes, or changes, global memory through a buffer; what is out of range is left out."),
    ),
    (
        r"llvm\.amdgcn\.make\.buffer\.rsrc[\w.]*",
        N_("Describes a stretch of memory for the buffer instructions: where it begins and ends."),
    ),
    (
        r"llvm\.amdgcn\.mfma[\w.]+|llvm\.amdgcn\.smfmac[\w.]+",
        N_("A matrix product by the matrix cores, for the whole wavefront."),
    ),
    (
        r"llvm\.amdgcn\.s?wmma[\w.]+|llvm\.amdgcn\.swmmac[\w.]+",
        N_("A matrix product by the matrix units of RDNA, for the whole wavefront."),
    ),
    (r"llvm\.amdgcn\.ds\.read\.tr[\w.]*", N_("Reads a small matrix from shared memory (LDS), transposed on its way.")),
    (
        r"llvm\.amdgcn\.ds\.b?permute[\w.]*",
        N_("Lanes of the wavefront exchange a register, by the paths of shared memory."),
    ),
    (r"llvm\.amdgcn\.(update|mov)\.dpp[\w.]*", N_("Takes a register of a lane nearby.")),
    (
        r"llvm\.amdgcn\.permlane[\w.]*|llvm\.amdgcn\.(readlane|writelane|readfirstlane)[\w.]*",
        N_("Moves values between lanes, or from a lane to all."),
    ),
    (r"llvm\.amdgcn\.ballot[\w.]*", N_("A bit for each lane: whether its condition holds.")),
    (
        r"llvm\.amdgcn\.s\.barrier[\w.]*",
        N_("All wavefronts of the program wait for each other; signal and wait may be apart."),
    ),
    (
        r"llvm\.amdgcn\.(s\.waitcnt|s\.wait\w*|wait\.\w+|asyncmark)[\w.]*",
        N_("Marks or waits for copies and accesses that are under way."),
    ),
    (
        r"llvm\.amdgcn\.work(item|group)\.id\.\w|llvm\.amdgcn\.wave\.id",
        N_("The number of the thread, of the program or of the wavefront."),
    ),
    (
        r"llvm\.amdgcn\.(sched|iglp|s\.setprio)[\w.]*",
        N_("Tells the compiler or the hardware what should run before what; it computes nothing."),
    ),
    (r"llvm\.amdgcn\.\w[\w.]*", N_("An instruction of AMD's GPUs.")),
)
