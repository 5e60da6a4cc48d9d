"""Kernels of public libraries, forward and backward, under the native engine: which engine ran each, and why NumPy's.

The libraries are those of `libraries`, installed beside this project or found on PYTHONPATH: nothing is fetched. Their
kernels are called through what they export, at small sizes; where a library asks for a GPU's tensors, the CPU's stand
in.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

import triton_lab as lab
from triton_lab.native import engine
from triton_lab.testing.cuda_on_cpu import in_place_of_a_gpu

Call = Callable[[], Any]
MODULES = {"liger-kernel": "liger_kernel", "late-interaction-kernels": "late_interaction_kernels"}


def engines_of(library: str) -> dict[str, Any]:
    """``kernels``: for each that was launched, what ran it, as text; ``failed``: calls that raised, and what.

    ``missing`` says why nothing was run.
    """
    if importlib.util.find_spec(MODULES[library]) is None:
        return {"missing": f"{library} is not installed: nothing of it was run"}
    torch.manual_seed(0)
    warnings.simplefilter("ignore")  # what a library says of sizes and versions is none of ours
    failed: dict[str, str] = {}
    told: dict[str, str] = {}
    with in_place_of_a_gpu(), torch.device("cuda"), lab.limits(engine="native"):
        try:
            calls = dict(CALLS[library]())
        except Exception as error:
            return {"missing": f"{library} cannot be imported: {type(error).__name__}: {error}"}
        for name, call in calls.items():
            engine.lately.clear()
            try:
                both_ways(call())
            except Exception as error:  # whatever it is, the others are still worth a look
                failed[name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            for kernel in dict.fromkeys(ran.kernel for ran in engine.lately):
                told.setdefault(f"{name}: {kernel}", _told([ran for ran in engine.lately if ran.kernel == kernel]))
    return {"kernels": told, "failed": failed}


def _told(launches: list[engine.EngineRun]) -> str:
    """``native``, or ``numpy`` and why."""
    reasons = Counter(
        f"native, {ran.handed} of {ran.programs} programs handed over"
        if ran.handed
        else f"{ran.engine}{': ' * bool(ran.why)}{ran.why}"
        for ran in launches
    )
    return "; ".join(reasons)


def both_ways(results: Any) -> None:
    """Run what belongs to the gradients of all results that have any."""
    found = results if isinstance(results, tuple) else (results,)
    with_gradient = [x for x in found if isinstance(x, torch.Tensor) and x.requires_grad]
    if with_gradient:
        torch.autograd.backward(with_gradient, [torch.ones_like(x) for x in with_gradient])


def _numbers(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


def _liger() -> Iterator[tuple[str, Call]]:
    ops = importlib.import_module("liger_kernel.ops")
    rows, columns = 64, 512
    target = torch.randint(0, columns, (rows,))

    def x() -> torch.Tensor:  # no leaf: some of the kernels write into what they are given
        return _numbers(rows, columns) * 1.0

    def logs() -> torch.Tensor:
        return torch.log_softmax(_numbers(rows, columns), -1)

    def shares() -> torch.Tensor:
        return torch.softmax(_numbers(rows, columns), -1)

    def weight(*shape: int) -> torch.Tensor:
        return _numbers(*(shape or (columns,)))

    angles = torch.randn(1, 16, 64)
    yield "softmax", lambda: ops.LigerSoftmaxFunction.apply(x())
    yield "sparsemax", lambda: ops.LigerSparsemaxFunction.apply(x(), -1)
    yield "rms_norm", lambda: ops.LigerRMSNormFunction.apply(x(), weight(), 1e-6)
    yield "fused_add_rms_norm", lambda: ops.LigerFusedAddRMSNormFunction.apply(x(), x(), weight(), 1e-6)
    yield "layer_norm", lambda: ops.LigerLayerNormFunction.apply(x(), weight(), weight(), 1e-6)
    yield "group_norm", lambda: ops.LigerGroupNormFunction.apply(_numbers(4, 8, 64), weight(8), weight(8), 8, 2, 1e-6)
    yield "poly_norm", lambda: ops.LigerPolyNormFunction.apply(x(), weight(3), _numbers(1)[0])
    yield "dyt", lambda: ops.LigerDyTFunction.apply(x(), weight(1), weight(), weight())
    yield "swiglu", lambda: ops.LigerSiLUMulFunction.apply(x(), x())
    yield "geglu", lambda: ops.LigerGELUMulFunction.apply(x(), x())
    yield "relu_squared", lambda: ops.LigerReLUSquaredFunction.apply(x())
    yield (
        "rope",
        lambda: ops.LigerRopeFunction.apply(
            _numbers(2, 4, 16, 64) * 1.0, _numbers(2, 2, 16, 64) * 1.0, angles.cos(), angles.sin()
        ),
    )
    yield "cross_entropy", lambda: ops.LigerCrossEntropyFunction.apply(x(), target, None)
    yield "kl_div", lambda: ops.LigerKLDivLossFunction.apply(logs(), shares())
    yield "jsd", lambda: ops.LigerJSDFunction.apply(logs(), logs())
    yield "tvd", lambda: ops.LigerTVDLossFunction.apply(shares(), shares())
    yield "embedding", lambda: ops.LigerEmbeddingFunction.apply(weight(columns, 64), target)
    yield (
        "fused_linear_cross_entropy",
        lambda: ops.LigerFusedLinearCrossEntropyFunction.apply(_numbers(rows, 128), weight(columns, 128), target),
    )
    yield (
        "multi_token_attention",
        lambda: ops.LigerMultiTokenAttentionFunction.apply(_numbers(1, 2, 16, 16), weight(2, 2, 3, 3)),
    )


def _late_interaction() -> Iterator[tuple[str, Call]]:
    package = importlib.import_module("late_interaction_kernels")
    pairs = importlib.import_module("late_interaction_kernels.score_pairs")
    queries, documents, width = 4, 8, 64
    ends = {
        "q": torch.arange(0, 17 * queries, 16, dtype=torch.int32)[: queries + 1],
        "d": torch.arange(0, 49 * documents, 48, dtype=torch.int32)[: documents + 1],
    }

    def q(*shape: int) -> torch.Tensor:
        return _numbers(*(shape or (queries, 16, width)))

    def d(*shape: int) -> torch.Tensor:
        return _numbers(*(shape or (documents, 48, width)))

    inside = torch.rand(documents, 48) < 0.8
    several = torch.arange(queries, dtype=torch.int32), torch.arange(queries, dtype=torch.int32)
    yield "maxsim", lambda: package.maxsim(q(), d(), d_mask=inside)
    yield "maxsim, normalized", lambda: package.maxsim(q(), d(), normalize=True)
    yield "maxsim, little memory", lambda: package.maxsim(q(), d(), backward="lowmem")
    yield "maxsim, candidates", lambda: package.maxsim(q(), d(queries, 3, 48, width))
    yield "maxsim_pairs", lambda: package.maxsim_pairs(q(), d(queries, 48, width))
    yield (
        "maxsim_varlen",
        lambda: package.maxsim_varlen(q(16 * queries, width), d(48 * documents, width), ends["q"], ends["d"], 16, 48),
    )
    yield (
        "score_pairs_packed",
        lambda: pairs.score_pairs_packed(
            q(16 * queries, width),
            d(48 * documents, width),
            ends["q"],
            ends["d"],
            *several,
            max_seqlen_q=16,
            max_seqlen_d=48,
        ),
    )


CALLS: Mapping[str, Callable[[], Iterator[tuple[str, Call]]]] = {
    "liger-kernel": _liger,
    "late-interaction-kernels": _late_interaction,
}
