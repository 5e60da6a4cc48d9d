"""Instructions of NVIDIA's machine code.

They are explained from the names that NVIDIA lists and from what PTX becomes; not all suffixes are documented.
"""

from __future__ import annotations

from triton_lab.localization import N_

TABLE: tuple[tuple[str, str], ...] = (
    (r"LDG\..*|LDG", N_("Reads global memory into registers. .64 and .128 read two or four registers at once.")),
    (r"STG\..*|STG", N_("Writes registers to global memory. .64 and .128 write two or four at once.")),
    (r"LDGSTS.*", N_("Copies from global to shared memory without using registers (cp.async).")),
    (r"LDGDEPBAR.*|DEPBAR.*", N_("Commits a group of copies to shared memory, or waits for running copies.")),
    (
        r"LDSM.*",
        N_("A warp reads 8x8 matrices from shared memory, distributed as tensor cores need them (ldmatrix)."),
    ),
    (r"STSM.*", N_("A warp writes 8x8 matrices to shared memory.")),
    (r"LDS\..*|LDS", N_("Reads shared memory into registers.")),
    (r"STS\..*|STS", N_("Writes registers to shared memory.")),
    (
        r"LDL.*|STL.*",
        N_("Reads or writes the thread's own memory: spilled registers, or its stack."),
    ),
    (r"LDT.*|STT.*|UTCCP.*", N_("Moves data between registers or shared memory and tensor memory.")),
    (
        r"LDCU?.*|ULDC.*",
        N_("Reads constant memory, which holds the kernel's arguments; with a U, once for a warp."),
    ),
    (r"LD\..*|LD|ST\..*|ST", N_("Reads or writes the memory space that the address selects.")),
    (
        r"(ATOMG?|ATOMS|REDG?|RED)(\..*)?",
        N_("Reads, changes and writes memory in one step (atomic); RED returns no old value."),
    ),
    (r"UTC\w*MMA.*", N_("A matrix product on Blackwell's tensor cores. The sum stays in tensor memory.")),
    (
        r"HGMMA.*|IGMMA.*|QGMMA.*|BGMMA.*",
        N_("A matrix product of four warps on tensor cores, from shared memory (wgmma)."),
    ),
    (
        r"HMMA.*|IMMA.*|DMMA.*|QMMA.*|OMMA.*|BMMA.*",
        N_("A warp multiplies two small matrices on tensor cores and adds a third."),
    ),
    (r"HFMA2\.MMA.*", N_("a * b + c for two floats of 16 bits; with zeros it only loads a constant.")),
    (r"WARPGROUP.*", N_("Around matrix products of four warps: an arrival, or a wait.")),
    (
        r"UTCBAR.*|UTCATOMSWS.*|UVIRTCOUNT.*",
        N_("Bookkeeping of Blackwell's tensor cores: barriers and columns of tensor memory."),
    ),
    (r"UTMA.*|UBLK.*", N_("The copy engine (TMA) moves a block between global and shared memory.")),
    (r"FFMA2.*|FADD2.*|FMUL2.*", N_("The same for two floats of 32 bits in a pair of registers.")),
    (r"FFMA.*", N_("a * b + c in floats of 32 bits, rounded once.")),
    (r"FADD.*", N_("The sum of two floats of 32 bits.")),
    (r"FMUL.*", N_("The product of two floats of 32 bits.")),
    (r"U?FMNMX.*", N_("The minimum or maximum of two floats (with a 3, of three); the last operand selects which.")),
    (r"U?FSETP.*|U?FSET.*", N_("Compares floats. The result is a predicate.")),
    (r"U?FSEL.*", N_("Selects one of two floats by a predicate.")),
    (r"FCHK.*", N_("Tests whether a division of floats needs the slow routine.")),
    (r"HADD2.*|HMUL2.*|HFMA2.*|HSETP2.*|HMNMX2.*", N_("Arithmetic with two floats of 16 bits in one register.")),
    (r"DADD.*|DMUL.*|DFMA.*|DSETP.*|DMNMX.*", N_("Arithmetic with floats of 64 bits.")),
    (
        r"MUFU.*",
        N_("The special function unit: EX2 (power of 2), RCP (reciprocal), LG2, SQRT, RSQ, SIN, COS, TANH."),
    ),
    (r"F2FP.*", N_("Converts two 32-bit floats to 16 bits or fewer and packs them into one register.")),
    (
        r"U?[FI]2[FI]P?(\..*)?|U?I2FP.*|U?I2I.*|U?F2IP.*",
        N_("Converts between integers and floats, or between widths."),
    ),
    (r"U?FRND.*", N_("Rounds a float to an integral value.")),
    (r"U?IMAD\.MOV.*", N_("A multiplication used to copy a register, since the multiplier was free.")),
    (r"U?IMAD\.WIDE.*", N_("a * b + c of integers with a 64-bit product. Used for addresses.")),
    (r"U?IMAD\.SHL.*", N_("A multiplication used to shift a register.")),
    (r"U?IMAD.*", N_("a * b + c of integers.")),
    (r"VIADDMNMX.*", N_("Adds, then takes the minimum or maximum.")),
    (r"U?IADD3?.*|VIADD.*|UVIADD.*|I3ADD.*", N_("The sum of two or three integers; .X adds a carry.")),
    (r"U?LEA.*", N_("Shifts and adds: an address from a base and an index.")),
    (r"U?ISETP.*", N_("Compares integers. The result is a predicate, which can guard instructions.")),
    (r"U?V?IMNMX.*|VIMNMX.*|UVIMNMX.*", N_("The minimum or maximum of integers.")),
    (r"U?IABS.*", N_("The absolute value of an integer.")),
    (r"U?LOP3?.*", N_("Any bitwise operation on three registers, given by a table of eight results.")),
    (r"U?PLOP3.*", N_("The same for predicates.")),
    (r"U?SHF.*|U?SHL.*|U?SHR.*", N_("Shifts bits, also across two registers.")),
    (r"U?SGXT.*|U?BMSK.*", N_("Repeats a sign bit, or creates a bit mask.")),
    (r"U?PRMT.*", N_("Selects any four bytes of two registers.")),
    (r"U?POPC.*|U?FLO.*|U?BREV.*", N_("Counts bits, finds the highest 1, or reverses the bits.")),
    (r"U?SEL.*", N_("Selects one of two values by a predicate.")),
    (r"U?MOV.*", N_("Copies a register or a constant.")),
    (r"S2U?R.*|CS2U?R.*", N_("Reads a special register: the number of the thread or program, or a clock. SRZ is 0.")),
    (r"R2UR.*|UR2\w+", N_("Copies between a thread's registers and the uniform registers, which all threads share.")),
    (r"U?P2U?R.*|R2P.*|B2R.*|R2B.*|S2UP.*", N_("Copies predicates or barriers to bits of a register, or back.")),
    (
        r"SHFL.*",
        N_(
            "Threads of a warp exchange a register: BFLY (with the thread whose number differs in one bit), UP, DOWN "
            "or IDX."
        ),
    ),
    (r"C?REDUX.*", N_("Combines a number of all threads of a warp in one instruction.")),
    (r"U?VOTEU?.*|MATCH.*", N_("A vote: evaluates a condition in all threads of a warp at once.")),
    (r"ELECT.*", N_("Elects one thread of the warp for work that is done once.")),
    (r"BAR.*|UCGABAR.*", N_("All threads of the program wait for each other.")),
    (r"SYNCS.*|ARRIVES.*", N_("A barrier in shared memory that counts arrivals (mbarrier).")),
    (r"MEMBAR.*|FENCE.*|ERRBAR.*|CGAERRBAR.*|ACQBULK.*", N_("Orders memory accesses as other threads see them.")),
    (r"CCTL.*|UTMACCTL.*", N_("Tells a cache which lines to invalidate or to load.")),
    (
        r"BSSY.*|BSYNC.*|BREAK.*",
        N_("The place where diverged threads of a warp join again: BSSY names it, BSYNC waits there."),
    ),
    (r"WARPSYNC.*|ENDCOLLECTIVE.*", N_("Threads of a warp wait for each other.")),
    (r"BRA.*|BRX.*|JMP.*|JMX.*|BRXU.*", N_("Jumps to another place, or with a predicate only where it is true.")),
    (r"EXIT.*", N_("The thread ends, or with a predicate only where it is true.")),
    (r"CALL.*|RET.*|LEPC.*", N_("Calls a routine, for example for a division, or returns from it.")),
    (r"NOP.*", N_("Does nothing: it fills a line of the instruction cache.")),
    (r"NANOSLEEP.*|YIELD.*|NANOTRAP.*", N_("The warp yields to other warps.")),
    (r"BPT.*|KILL.*", N_("Stops with a trap: an error.")),
    (r"USETMAXREG.*|PREEXIT.*|ACQSHMINIT.*", N_("Bookkeeping of registers, or of the next kernel.")),
)
