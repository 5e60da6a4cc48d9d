"""Why a test of Triton's own fails or is skipped on the CPU target, with patterns that recognise each reason.

A reason recognises a test by the message in pytest's report; if that is not enough, also by the traceback and the
printed text; and if even these could hide a fault of ours, also by the function. The first match counts. A wrong
number matches none of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One test of a report. ``outcome`` is ``passed``, ``skipped`` or ``failed``, ``trace`` what pytest shows below
    the message, with what the test printed."""

    file: str
    function: str
    parameters: str
    outcome: str
    message: str = ""
    trace: str = ""

    @property
    def name(self) -> str:
        return f"{self.file}::{self.function}{self.parameters}"


@dataclass(frozen=True)
class Reason:
    """``name`` in plain words, ``why`` it is so, and three patterns, all of which must be found."""

    name: str
    why: str
    message: str = ""
    trace: str = ""
    function: str = ""

    def fits(self, case: Case) -> bool:
        asked = ((self.message, case.message), (self.trace, case.trace), (self.function, case.function))
        return all(re.search(pattern, text) for pattern, text in asked)


_CUDA = (
    "asks torch for a CUDA device",
    "The test names `cuda` itself, asks `torch.cuda` for a property of it, or wants pinned memory, whatever device it "
    "was told to take.",
)

FAILURES = (
    Reason(
        "runs inline PTX",
        "The instructions are those of an NVIDIA GPU, and no part of TTIR. The CPU target says so and names the line.",
        message=r"\bUnsupported: .*\btt\.elementwise_inline_asm\b",
    ),
    Reason(
        "runs an operation of the GPU dialects",
        "Layouts, shared memory, barriers and tensor memory are what the GPU compiler makes of TTIR.",
        message=r"\bUnsupported: .* operation (ttg|ttng|nvgpu|nvvm|amdg|amdgpu|gpu)\.",
    ),
    Reason(
        "reads what the GPU compiler made: TTGIR, LLVM IR, PTX or cubin",
        "The CPU target executes TTIR, the last form that it has. "
        "`triton.compile(..., target=GPUTarget('cuda', 90, 32))` makes the others, with no GPU.",
        message=r"\bKeyError: .*Unknown key: '(ttgir|llir|ptx|cubin|sass|amdgcn|hsaco)'",
    ),
    Reason(
        "starts from TTGIR, LLVM IR or PTX",
        "A file of a later form of the compiler is handed to `triton.compile`: the CPU target begins with TTIR.",
        message=r"\bValueError: '(ttgir|llir|ptx|amdgcn)' is not in list",
    ),
    Reason(
        "takes the CPU for a device that refuses its tensors",
        "On a GPU a tensor of the CPU is a `ValueError`; here it is what kernels run on.",
        message=r"\bDID NOT RAISE.* ValueError\b",
        function=r"^test_pointer_arguments$",
    ),
    Reason(
        *_CUDA,
        message=r"Torch not compiled with CUDA enabled|Found no NVIDIA driver|No CUDA GPUs are available|"
        r"pin_memory=True requires|Cannot access accelerator device",
    ),
    Reason(
        *_CUDA,
        message=r"\b(TypeError|ValueError|AttributeError|RuntimeError): ",
        trace=r"(?s)torch/cuda/\w+\.py:\d+: in \w+(?!.*\.py:\d+: in )",  # the innermost frame
    ),
    Reason(
        "uses a number type that no NVIDIA GPU has",
        "`fp8e4b8` and `fp8e5b16` are AMD's. The test leaves them out where the target is `cuda`; ours is `cpu`, with "
        "the types of sm_90.",
        message=r"type fp8(e4b8|e5b16) not supported in this architecture",
    ),
    Reason(
        "does arithmetic that sm_90 refuses",
        "An NVIDIA GPU of sm_90 converts fp8 and multiplies matrices of it, and does not compute with it otherwise: "
        "what does not compile there is an error here.",
        message=r"\bbackend\.targets\.sm90_limits\.Refused: ",
    ),
    Reason(
        "takes a target that is not `cuda` for one with fewer fp8 types",
        "The test knows the types of CUDA and of HIP; of any other target it expects `fp8e5` alone. Ours has those of "
        "sm_90.",
        message=r"\bDID NOT RAISE.* CompilationError\b",
        function=r"^test_fp8_support$",
    ),
    Reason(
        "counts what every thread of a GPU prints",
        "A value that all threads of a program share is printed by each; here it is printed once for a program.",
        message=r"^assert False|AssertionError",
        trace=r'Expected line "pid \([^)]*\) (idx \(\)|no arg)[^"]*" \d+ time\(s\), but saw 1 time\(s\)',
        function=r"^test_print",
    ),
    Reason(
        "stores past the end of its tensor",
        "The test stores at element 1 or 3 of a tensor of one element. A GPU's allocator rounds up, so that nobody "
        "notices; here it is found.",
        message=r"\bKernelError: store out of bounds: touches element (1|3) of 'X', whose storage ends after element 0",
        function=r"^test_int_annotation$",
    ),
    Reason(
        "looks for an optimisation in TTIR",
        "The TTIR that runs here is made without passes that merge, move or repeat accesses, so that each has its line "
        "in the source: loops are not unrolled.",
        message=r"^assert \d+ <= 0",
        trace=r"check_loop_unroll_count",
        function=r"^test_unroll_attr$",
    ),
    Reason(
        "needs a Python package that is not installed",
        "The whole file was not run.",
        trace=r"ModuleNotFoundError: No module named '(?!triton)",
    ),
)

SKIPS = (
    Reason(
        "Triton marks it as one that fails",
        "It is expected to fail, on a GPU too.",
        message=r"^expected to fail",
    ),
    Reason(
        "for Triton's own interpreter",
        "The test is about `TRITON_INTERPRET=1`.",
        message=r"(?i)interpreter",
    ),
    Reason(
        "for the targets `cuda` and `hip` alone",
        "The test asks whether the target is one of these, or the device is called `cuda`. Ours is `cpu`.",
        message=r"(?i)cuda (or|and) hip|hip (or|and) cuda",
    ),
    Reason(
        "for clusters of programs",
        "The test launches programs in groups that share memory (`num_ctas` above 1), where the GPU has such groups.",
        message=r"\bCTAs?\b",
    ),
    Reason(
        "for AMD GPUs",
        "The case is one that only AMD's compiler accepts or has, as dots below 16 are.",
        message=r"\bHIP\b|(?i:\brocm\b)|CDNA|RDNA|\bAMD|\bgfx\d|\bMI\d00|(?i:mfma|wmma)|\bkpack\b",
    ),
    Reason(
        "for a certain NVIDIA GPU",
        "The test is about what Hopper or Blackwell have: warp specialisation, TMA hardware, tensor memory.",
        message=r"(?i)hopper|blackwell|rubin|\bsm_?\d|\bsm >=|compute capability|\bcc >=|tensor memory|\btma\b",
    ),
    Reason(
        "for NVIDIA GPUs",
        "The test asks whether the target is `cuda`, most often since it holds inline PTX or looks at the PTX made.",
        message=r"(?i)cuda|nvidia|\bNVGPU\b|\bptx\b|nvdisasm",
    ),
    Reason(
        "needs a disassembler",
        "It looks for line numbers in a cubin; the CPU target makes none.",
        message=r"disassembler is not available",
    ),
    Reason(
        "too large for the GPU",
        "The test asks how much shared memory there is.",
        message=r"(?i)shared memory|out of resource",
    ),
    Reason(
        "a combination that Triton leaves out",
        "The parameters make no sense together, or repeat another case, on a GPU too.",
        message=r"(?i)invalid last dim|duplicate|scratch buffer|not completely supported",
    ),
    Reason(
        "skipped without a word",
        "The test says no reason: combinations that it leaves out everywhere, and tests that want the device to be "
        "called `cuda`.",
        message=r"^(Skipped)?$",
    ),
)


def reason_of(case: Case) -> Reason | None:
    """Why a test failed or was skipped; None if no reason fits."""
    reasons = {"failed": FAILURES, "skipped": SKIPS}[case.outcome]
    return next((reason for reason in reasons if reason.fits(case)), None)
