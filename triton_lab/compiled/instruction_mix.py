"""Counts the instructions of machine code, statically, by what they do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

MATRIX = "matrix product"
GLOBAL = "global memory"
SHARED = "shared memory"
TENSOR = "tensor memory"
LOCAL = "spills and stack"
CONSTANT = "arguments and constants"
FLOAT = "floating point"
SPECIAL = "special functions"
CONVERSION = "conversion"
LANES = "between lanes"
MOVE = "moves"
WAITING = "waiting and barriers"
CONTROL = "control flow"
INTEGER = "integers and addresses"
OTHER = "other"
KINDS = (
    MATRIX,
    GLOBAL,
    SHARED,
    TENSOR,
    LOCAL,
    CONSTANT,
    FLOAT,
    SPECIAL,
    CONVERSION,
    LANES,
    MOVE,
    WAITING,
    CONTROL,
    INTEGER,
    OTHER,
)

# The first pattern that matches counts. It must match the whole name, for NVIDIA up to its first dot.
_NVIDIA = (
    (MATRIX, r"UTC\w*MMA|\w*MMA"),
    (TENSOR, r"LDTM|STTM|LDT|STT|UTCCP|UTCBAR|UTCATOMSWS|UTCSHIFT"),
    (GLOBAL, r"LDG|STG|LD|ST|ATOM|ATOMG|RED|REDG|LDGSTS|UTMA(?:LDG|STG|REDG|PF)|UBLKCP|UBLKRED|CCTL\w*"),
    (SHARED, r"LDS|STS|LDSM|STSM|ATOMS|STAS|LDSW|MOVM"),
    (LOCAL, r"LDL|STL"),
    (CONSTANT, r"LDC|LDCU|ULDC"),
    (SPECIAL, r"MUFU|FCHK"),
    (CONVERSION, r"U?[FI]2[FI]P?|F2FP|I2FP|U?FRND|F2IP|I2IP"),
    (LANES, r"SHFL|REDUX|CREDUX|VOTE|UVOTE|VOTEU|MATCH"),
    (MOVE, r"U?MOV(?:32I)?|S2R|S2UR|CS2R|CS2UR|R2UR|UR2UP|R2P|P2R|U?P2UR|PRMT|UPRMT|U?SEL|B2R|R2B|S2UP"),
    (
        WAITING,
        r"BAR|UCGABAR_\w+|DEPBAR|LDGDEPBAR|MEMBAR|SYNCS|ERRBAR|FENCE|WARPSYNC|WARPGROUP|WARPGROUPSET|NANOSLEEP|"
        r"ARRIVES|UTMACMDFLUSH|UTMACCTL|ELECT|CGAERRBAR|ACQBULK|PREEXIT|DEPBAR|ENDCOLLECTIVE|USETMAXREG|NOP",
    ),
    (CONTROL, r"BRA|BRX|BRXU|EXIT|BSSY|BSYNC|BREAK|CALL|RET|JMP|JMX|YIELD|BPT|KILL|LEPC|RPCMOV|BMOV|UBMOV|ACQSHMINIT"),
    (FLOAT, r"U?[FHD](?:ADD|MUL|FMA|MNMX|SETP?|SEL|SWZADD|CMP)\w*|HMNMX2|HADD2_32I|U?FMNMX3?"),
    (
        INTEGER,
        r"U?(?:IADD|ISETP|ISET|IMNMX|VIADD|VIMNMX|IDP|IABS|IMAD|IMUL|LEA|LOP|PLOP|SHF|SHL|SHR|BMSK|SGXT|FLO|POPC|"
        r"BREV|VABSDIFF|PSETP|XMAD|VIMAD|LOP3|I3ADD|BFE|BFI|VHMNMX|ISCADD)\w*",
    ),
)
_AMD = (
    (MATRIX, r"v_(?:mfma|smfmac|wmma|swmmac)_\w+"),
    (GLOBAL, r"(?:global|buffer|flat|tbuffer)_\w+"),
    (LANES, r"ds_(?:bpermute|permute|swizzle)\w*|v_(?:readlane|readfirstlane|writelane|permlane\w*)\w*|\w+_dpp"),
    (SHARED, r"ds_\w+"),
    (LOCAL, r"scratch_\w+|v_accvgpr_\w+"),
    (CONSTANT, r"s_(?:buffer_)?load_\w+"),
    (WAITING, r"s_(?:wait\w*|barrier\w*|sleep|nop|delay_alu|sched_\w+|setprio|clause|sendmsg\w*|dcache\w*)"),
    (CONTROL, r"s_(?:c?branch\w*|endpgm|setpc\w*|swappc\w*|call\w*|code_end|getpc\w*|trap)"),
    (CONVERSION, r"[vs]_(?:pk_)?cvt_\w+|v_(?:rndne|trunc|ceil|floor|fract)_\w+"),
    (SPECIAL, r"[vs]_(?:exp|log|rcp|rsq|sqrt|sin|cos|frexp|ldexp|div)_\w+"),
    (MOVE, r"[vs]_(?:pk_|dual_)?c?mov\w*|v_cndmask_\w+|v_perm_b32\w*|s_cselect_\w+|v_swap_\w+"),
    (FLOAT, r"[vs]_\w*_(?:f16|f32|f64|bf16|f8|bf8)(?:_\w+)?"),
    (INTEGER, r"[vs]_\w+"),
)


def opcodes(stages: Mapping[str, str | bytes]) -> Counter[str] | None:
    """How often each instruction occurs in the machine code; None without its text."""
    if "sass" in stages:
        return Counter(_sass(str(stages["sass"])))
    return Counter(_amdgcn(str(stages["amdgcn"]))) if "amdgcn" in stages else None


def kinds(counted: Mapping[str, int]) -> dict[str, int]:
    """The counts by what the instructions do, in the order of `KINDS`, without zeros."""
    found: Counter[str] = Counter()
    for name, count in counted.items():
        found[kind(name)] += count
    return {one: found[one] for one in KINDS if found[one]}


def kind(opcode: str) -> str:
    """What an instruction does: one of `KINDS`."""
    table, name = (_AMD, opcode) if opcode[:1].islower() else (_NVIDIA, opcode.partition(".")[0])
    return next((one for one, pattern in table if re.fullmatch(pattern, name)), OTHER)


def _sass(text: str) -> Iterator[str]:
    lines = [line.partition("\t")[2].strip() for line in text.splitlines() if "\t" in line]
    while lines and lines[-1].startswith("NOP"):  # padding up to a full cache line
        lines.pop()
    for line in lines:
        found = re.match(r"(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", line)
        if found:
            yield found[1]


def _amdgcn(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith(".Lfunc_end"):
            return
        found = re.match(r"\t([a-z]\w+)", line)
        if found:
            yield found[1]


def changed(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """The instructions whose counts differ, with both counts, the largest change first."""
    counts = {name: (before.get(name, 0), after.get(name, 0)) for name in {**before, **after}}
    found = {name: pair for name, pair in counts.items() if pair[0] != pair[1]}
    return dict(sorted(found.items(), key=lambda one: (-abs(one[1][1] - one[1][0]), one[0])))
