"""Why a kernel does not compile, in the user's words: maps compilers' messages to the source line they concern."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_lab import messages
from triton_lab.backend.source.kernel_source import is_tritons, line_of
from triton_lab.backend.targets.sm90_limits import NotCompilable, refuse
from triton_lab.compiled.compiler_client import CompileOutcome
from triton_lab.compiled.front_end import Request
from triton_lab.compiled.lines.assembly_lines import files_of
from triton_lab.compiled.stage_names import order
from triton_lab.ir import Op, parse_plan
from triton_lab.localization import N_, _, translated

_STAGES = {
    "ttir": N_("the Triton IR"),
    "ttgir": N_("the layouts (TTGIR)"),
    "llir": N_("LLVM IR"),
    "ptx": N_("PTX"),
    "cubin": N_("machine code, by ptxas"),
    "amdgcn": N_("assembly"),
    "hsaco": N_("machine code"),
}
# MLIR's message: file, line, column, text.
_MLIR = re.compile(r'^(?:loc\()?"?([^\n":]+)"?:(\d+):(\d+)\)?: error: (.*)$', re.MULTILINE)
_ASSEMBLERS = (
    re.compile(r"^ptxas\S* \S+, line (\d+); error\s*: (.*)$", re.MULTILINE),
    re.compile(r"^[\w-]*assembler:(\d+):\d+: error: (.*)$", re.MULTILINE),
)
# Triton 3.6's message for AMD quotes the line and gives no line number.
_QUOTING = re.compile(r"^error: (.*)\n[ \t]+(\S.*)$", re.MULTILINE)
_LAST_WORDS = ("LLVM ERROR: ", "Assertion ", "ptxas fatal", "what():", ": error: ")
_ASSEMBLY = "tt.elementwise_inline_asm"
_NOT_IT = ("Failures have been detected while processing", "Ptx assembly aborted")
_LACKING_MEMORY = re.compile(r"bad_alloc|out of memory|[Cc]annot allocate memory|MemoryError", re.IGNORECASE)


class CompileError(RuntimeError):
    """A kernel that Triton's front end accepts and the GPU's compiler does not finish.

    ``target`` names the GPU; ``stage`` is what was being made; ``file`` and ``line`` are the place of the cause in
    the user's source (the kernel's first line, where the compiler gives none); ``said`` is what the compiler printed.
    """

    def __init__(self, message: str, target: str, stage: str, place: tuple[str, int], said: str) -> None:
        super().__init__(message)
        self.target = target
        self.stage = stage
        self.file, self.line = place
        self.said = said


@dataclass(frozen=True)
class _Reason:
    text: str
    file: str = ""
    line: int = 0
    advice: str = ""


def error_of(source: Any, request: Request, outcome: CompileOutcome, memory: int) -> CompileError:
    """The error that describes ``outcome``, a failed compilation."""
    target, function = request.target, source.fn
    stages = order(target.backend, request.language)
    stage = next((name for name in stages if name not in outcome.stages), stages[-1])
    reason = _reason(request, outcome, memory)
    define = next((n for n, line in enumerate(function.raw_src) if line.lstrip().startswith("def ")), 0)
    # Without a line in the message, the error points at the kernel's first line.
    file = reason.file or str(function.fn.__code__.co_filename)
    line = reason.line or function.starting_line_number + define
    text = line_of(function, file, line).rstrip()
    lines = [
        _("{function} does not compile for {name}: {text}").format(
            function=function.__name__, name=target.name, text=reason.text
        ),
        _("  {place}, in kernel {function}").format(place=messages.place(file, line), function=function.__name__),
        *([f"    {text}"] if text.strip() else []),
        _("  It failed while making {stage}.").format(stage=translated(_STAGES[stage])),
        *([f"  {reason.advice}"] if reason.advice else []),
    ]
    return CompileError("\n".join(lines), target.name, stage, (file, line), outcome.said)


def _reason(request: Request, outcome: CompileOutcome, memory: int) -> _Reason:
    said = f"{outcome.said}\n{outcome.failure}"
    if outcome.failure.startswith("it took more"):
        return _Reason(
            outcome.failure, advice=_("Allow more time with seconds=..., or compile it with smaller blocks.")
        )
    if _LACKING_MEMORY.search(said):
        needed = _("its compiler needed more than {memory} GiB of memory").format(memory=f"{memory / 2**30:.3g}")
        return _Reason(needed, advice=_("Allow more memory with max_bytes=..., or compile it with smaller blocks."))
    if "Cannot find" in outcome.failure:
        tool = _("a Triton tool is missing: {partition}").format(partition=outcome.failure.partition(": ")[2])
        return _Reason(
            tool,
            advice=_("Install Triton again, or name the tool in the environment: TRITON_PTXAS_PATH=/path/to/ptxas."),
        )
    for pattern in _ASSEMBLERS:
        if found := pattern.search(said):
            return _Reason(found[2], *place_of(_text_before(outcome.stages), int(found[1])))
    if found := _QUOTING.search(outcome.said):
        assembly = _text_before(outcome.stages)
        number = next((n for n, line in enumerate(assembly.split("\n"), 1) if line.strip() == found[2].strip()), 0)
        return _Reason(found[1], *place_of(assembly, number))
    for file, line, _unused, text in _MLIR.findall(outcome.said):
        if not text.startswith(_NOT_IT) and not is_tritons(file):
            return _in_our_words(request, file, int(line)) or _Reason(text, file, int(line))
    return _death(request, outcome)


def _in_our_words(request: Request, file: str, line: int) -> _Reason | None:
    """The reason for an operation on that line which GPUs do not have, in the words for sm_90; None without one."""
    if request.language != "TRITON":
        return None
    plan = parse_plan(request.module)
    try:
        refuse(plan, request.kernel)
    except NotCompilable as error:
        if error.op is not None and (file, line) in _places(error.op):
            told = error.message.split("\n")
            return _Reason(told[0].replace("sm_90", request.target.name), file, line, told[-1].strip())
    return None


def _death(request: Request, outcome: CompileOutcome) -> _Reason:
    """The reason for a compiler that ended itself, or failed without naming a line."""
    lines = [line.strip() for line in outcome.said.splitlines() if line.strip()]
    told = [line for line in lines if any(sign in line for sign in _LAST_WORDS)]
    told += [before for before, line in itertools.pairwise(lines) if line.startswith("UNREACHABLE executed")]
    first = next(iter(outcome.failure.splitlines()), "")
    text = ": ".join(filter(None, [first, *told[:1]]))
    if "constraint" in text or "inline asm" in text:
        # An error in the user's own assembly without a line of its own is reported at its call, if there is only one.
        found = {place for op in parse_plan(request.module).walk() if op.name == _ASSEMBLY for place in _places(op)[:1]}
        if len(found) == 1:
            return _Reason(text, *found.pop())
    return _Reason(text)


def _places(op: Op) -> list[tuple[str, int]]:
    """The places of an operation in the user's files, the innermost first."""
    frames = op.location.frames() if op.location is not None else ()
    return [(frame.file, frame.line) for frame in frames if not is_tritons(frame.file)]


def _text_before(stages: Mapping[str, str | bytes]) -> str:
    """The assembly text that the assembler was given."""
    return next((str(stages[name]) for name in ("ptx", "amdgcn") if name in stages), "")


def place_of(assembly: str, line: int) -> tuple[str, int]:
    """The source file and line for line ``line`` (from 1) of an assembly text; ("", 0) where the text names none."""
    files = files_of(assembly)
    for text in reversed(assembly.split("\n")[: max(0, line - 1)]):
        if found := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)", text):
            return files.get(found[1], ""), int(found[2])
    return "", 0
