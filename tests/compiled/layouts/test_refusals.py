"""What no compiler takes is refused with the reason; much of it ends the process inside Triton."""

from __future__ import annotations

from typing import Any

import pytest

import triton_lab as lab
from tests.wordings import Wording

BLOCKED = {"size_per_thread": [1, 4], "threads_per_warp": [8, 4], "warps_per_cta": [4, 1], "order": [1, 0]}
MMA = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"
WGMMA = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>"
NVMMA: dict[str, Any] = {"swizzlingByteWidth": 128, "transposed": False, "elementBitWidth": 16}


@pytest.mark.parametrize(
    ("spelled", "shape", "parameters", "reason"),
    [
        ("blocked", (32, 24), BLOCKED, r"size 24 in dimension 1, but sizes of blocks are powers of two"),
        ("blocked", (32,), BLOCKED, r"the shape \(32,\) has 1 dimensions, but this blocked layout is for 2"),
        ("blocked", (), BLOCKED, r"needs the tensor's shape"),
        ("blocked", (32, 0), BLOCKED, "size 0 in dimension 1"),
        ("blocked", (8, 8), {**BLOCKED, "order": [1, 1]}, "must name each of the 2 dimensions once"),
        ("blocked", (8, 8), {**BLOCKED, "threads_per_warp": [3, 4]}, "holds 3; each must be a power of two"),
        ("blocked", (8, 8), {**BLOCKED, "threads_per_warp": [32]}, "has 1 number, but the layout has 2 dimensions"),
        ("blocked", (8, 8), {**BLOCKED, "order": "10"}, "order is '10', but must be a list of numbers"),
        ("blocked", (8, 8), {**BLOCKED, "lanes": 3}, "a blocked layout has no parameter lanes; it has size_per_thread"),
        ("blocked", (8, 8), {"order": [1, 0]}, "needs size_per_thread, threads_per_warp, warps_per_cta too"),
        ("blocked", (8, 8), {**BLOCKED, "cga_layout": [[2, 0]]}, "leaves blocks of the cluster out along dimension 0"),
        ("blocked", (8, 8), {**BLOCKED, "cga_layout": [[1, 1]]}, "zero or one power of two along one dimension"),
        ("blocked", (8, 8), {**BLOCKED, "cga_layout": [[1]]}, "of 1 number, but the layout has 2 dimensions"),
        ("bloked", (8, 8), {}, "there is no layout 'bloked'; known are blocked, slice, dot_op"),
        ("#ttg.bloked<{}>", (8, 8), {}, "there is no layout #ttg.bloked; known are #ttg.blocked"),
        ("#blocked", (8, 8), {}, "#blocked is no layout known here"),
        ("#ttg.blocked<{order = [1, 0]", (8, 8), {}, "at its end there should be '}'"),
        ("#ttg.blocked<{order = maybe}>", (8, 8), {}, "at 'maybe}>' there should be a number"),
        (f"{MMA} and more", (16, 16), {}, "there should be the end of the text"),
        (MMA, (16, 16), {"order": [1, 0]}, "contains its parameters"),
        ("slice", (8,), {"dim": 2, "parent": MMA}, "dim = 2 is no dimension of its parent, which has 2"),
        ("slice", (8,), {"dim": 0, "parent": 5}, "a parent is a layout or its text, not 5"),
        ("dot_op", (16, 16), {"opIdx": 2, "parent": MMA, "kWidth": 2}, "opIdx is 2, but must be one of 0, 1"),
        ("dot_op", (16, 16), {"opIdx": 0, "parent": MMA}, "kWidth is 0, but must be a power of two"),
        ("dot_op", (16, 16), {"opIdx": 1, "parent": WGMMA, "kWidth": 2}, "its right operand from shared memory"),
        ("dot_op", (16,), {"opIdx": 0, "parent": f"#ttg.slice<{{dim = 0, parent = {MMA}}}>"}, "not a slice layout"),
        (WGMMA.replace("Major = 3", "Major = 5"), (64, 64), {}, "its accumulator is in tensor memory"),
        (WGMMA.replace("64, 16]", "24, 16]"), (64, 64), {}, "8 columns or more, a power of two"),
        (MMA.replace("[16, 8]", "[16, 8, 8]"), (64, 64), {}, "of version 2 must have 2 numbers"),
        ("amd_mfma", (32, 32), {"version": 3, "warpsPerCTA": [2, 2], "instrShape": [8, 8, 8], "isTransposed": True},
         "with M x N one of 32 x 32"),
        ("amd_wmma", (32, 32), {"version": 4, "isTranspose": True, "warpsPerCTA": [2, 2]}, "one of 1, 2, 3"),
        ("linear", (), {"register": [[1]], "lane": [[1]], "warp": []}, "two basis vectors are equal"),
        ("linear", (), {"register": [[1]], "lane": [[4]], "warp": []}, r"element \(2,\) has no place"),
        ("linear", (), {"register": [[1, 1]], "lane": [[0, 1]], "warp": []}, "moves more than one bit"),
        ("linear", (), {"register": [], "lane": [], "warp": []}, "needs basis vectors"),
        ("linear", (), {"register": [[1]], "lane": [[1, 0]], "warp": []}, "are not of one length"),
        ("swizzled_shared", (8, 8), {"vec": 3, "perPhase": 1, "maxPhase": 1, "order": [1, 0]}, "vec is 3"),
        ("nvmma_shared", (64, 32), NVMMA, "a line of 128 swizzled bytes holds 64 of 16 bits"),
        ("nvmma_shared", (4, 64), NVMMA, "swizzling needs 8 lines or more, but there are 4"),
        ("nvmma_shared", (64, 64), {**NVMMA, "swizzlingByteWidth": 48}, "must be one of 0, 32, 64, 128"),
        ("nvmma_shared", (64, 64), {**NVMMA, "transposed": 1}, "transposed is 1, but must be true or false"),
        ("#ttg.padded_shared<[60:+4] {order = [1, 0], shape = [64, 64]}>", (), {}, "an interval is 60"),
        ("#ttg.padded_shared<[64:+4] {order = [1, 0], shape = [64, 64]}>", (32, 64), {}, r"shape \(64, 64\), not"),
        ("#ttg.shared_linear<{offset = [[1], [1]]}>", (), {}, "its basis vectors must be independent"),
        ("tensor_memory_encoding", (64, 64), {"blockM": 128, "blockN": 64, "colStride": 1}, "fewer than blockM = 128"),
        ("tensor_memory_encoding", (128, 64), {"blockM": 128, "blockN": 64, "colStride": 2, "bits": 32},
         "a column has 32 bits, of which colStride = 2 leaves 16"),
        ("blocked", (8, 8), {**BLOCKED, "warps_per_cta": [128, 1]}, "are 128 warps, but a program has at most 64"),
        ("blocked", (8, 8), {**BLOCKED, "threads_per_warp": [8, 16]}, "128 threads, but a warp has 32, or 64"),
        ("blocked", (1 << 20, 2), BLOCKED, "2,097,152 elements, but a program's tensor has at most 1,048,576"),
        ("blocked", "8x8", BLOCKED, "shape is '8x8', but must be a tensor's"),
        (5, (8, 8), {}, "a layout of Gluon, or a kind such as 'blocked', not 5"),
        ("blocked", (8, 8), {**BLOCKED, "bits": 0}, "bits is 0, but must be the width of an element"),
        ("blocked", (8, 8), {"threads_per_wrap": [1]}, "did you mean threads_per_warp"),
        ("swizzled", (8, 8), {}, "did you mean swizzled_shared"),
        # As they were written, so they are called.
        ("swizzled_shared", (8, 8), {"vec": 1, "per_phase": 3, "max_phase": 1}, "^per_phase is 3"),
        ("swizzled_shared", (8, 8), {"vec": 1, "perPhase": 3, "maxPhase": 1}, "^perPhase is 3"),
        ("blocked", (8, 8), {"sizePerThread": [1, 1]}, "needs threadsPerWarp, warpsPerCTA too"),
        ("dot_op", (16, 16), {"opIdx": 0, "parent": MMA, "kWidth": 256}, "kWidth is 256, but a lane has at most 128"),
        (MMA.replace("Minor = 0", "Minor = -1"), (16, 16), {}, "versionMinor is -1"),
        ("amd_wmma", (32, 32), {"version": 3, "isTranspose": True, "warpsPerCTA": [2, 2]},
         "instructions of version 3 that are known here compute M x N x K = 16 x 16 x 4 or"),
        ("dot_op", (32, 32), {"opIdx": 0, "kWidth": 2, "parent": "#ttg.amd_wmma<{version = 1, isTranspose = true, "
         "warpsPerCTA = [2, 2]}>"}, "kWidth is 2, but operands of version 1 have 8, 16"),
        ("tensor_memory_encoding", (64, 64), {"blockM": 32, "blockN": 64, "colStride": 1}, "must be one of 64, 128"),
    ],
)  # fmt: skip
def test_a_layout_that_cannot_be_is_refused_with_its_reason(
    spelled: Any, shape: Any, parameters: dict[str, Any], reason: str
) -> None:
    with pytest.raises(lab.LayoutError, match=reason):
        lab.layout(spelled, shape, **parameters)


def test_questions_out_of_range_are_refused(wording: Wording) -> None:
    layout = lab.layout("blocked", (32, 16), **BLOCKED)
    with wording.raises(lab.LayoutError, dimension=0):
        layout.owner(32, 0)
    with pytest.raises(lab.LayoutError, match="has 2 coordinates"):
        layout.owner(1)
    with wording.raises(lab.LayoutError, lane=32):
        layout.elements(lane=32)
    with wording.raises(lab.LayoutError):
        layout.elements(bank=3)
