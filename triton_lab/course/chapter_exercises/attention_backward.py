"""Chapter 14: the gradients of attention from what its forward pass stored, and decoding with split keys."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, once
from triton_lab.localization import N_, _

if TYPE_CHECKING:
    import torch

_BLOCKS = 4096 // 128


def _scores(q: Any, k: Any) -> Any:
    return q.double() @ k.double().transpose(1, 2) / math.sqrt(q.shape[2])


def _delta(out: Any, dout: Any) -> Any:
    return (out.double() * dout.double()).sum(2).float()


def _gradient_of_v(q: Any, k: Any, lse: Any, dout: Any) -> Any:
    weights = (_scores(q, k) - lse.double()[:, :, None]).exp()
    return (weights.transpose(1, 2) @ dout.double()).to(q.dtype)


def _gradient_of_q(q: Any, k: Any, v: Any, lse: Any, delta: Any, dout: Any) -> Any:
    """The gradient computed by torch, which needs neither lse nor delta."""
    import torch

    asked = q.double().requires_grad_()
    weights = _scores(asked, k).softmax(2)
    return torch.autograd.grad(weights @ v.double(), asked, dout.double())[0].to(q.dtype)


def _merge(parts: Any, lse: Any) -> Any:
    return (lse.double().softmax(1)[:, :, None] * parts.double()).sum(1).float()


def _drawn(generator: torch.Generator, which: int, *shape: int) -> torch.Tensor:
    """Equal numbers for equal generators and ``which``: what the forward pass stored must be that of the inputs."""
    import torch

    seed = generator.initial_seed() * 16 + which
    return tensor(*shape)(torch.Generator().manual_seed(seed))


def _lse(generator: torch.Generator, *shape: int) -> torch.Tensor:
    q, k = (_drawn(generator, which, *shape) for which in (1, 2))
    found: torch.Tensor = _scores(q, k).logsumexp(2).float()
    return found


def _with_lse(*shape: int) -> Case:
    """A case of (heads, tokens, dim) with the values of lse that the forward pass stores."""
    return case(
        q=lambda generator: _drawn(generator, 1, *shape),
        k=lambda generator: _drawn(generator, 2, *shape),
        lse=lambda generator: _lse(generator, *shape),
        dout=tensor(*shape),
    )


def _with_delta(*shape: int) -> Case:
    """A case with lse, and with delta, the sum of result times gradient."""

    def delta(generator: torch.Generator) -> torch.Tensor:
        q, k, v, dout = (_drawn(generator, which, *shape) for which in (1, 2, 3, 4))
        found: torch.Tensor = _delta(_scores(q, k).softmax(2) @ v.double(), dout)
        return found

    return case(
        q=lambda generator: _drawn(generator, 1, *shape),
        k=lambda generator: _drawn(generator, 2, *shape),
        v=lambda generator: _drawn(generator, 3, *shape),
        lse=lambda generator: _lse(generator, *shape),
        delta=delta,
        dout=lambda generator: _drawn(generator, 4, *shape),
    )


def _with_idle_splits(heads: int, splits: int, dim: int) -> Case:
    """Parts of which all but the first have no keys in the even heads."""

    def lse(generator: torch.Generator) -> torch.Tensor:
        found = tensor(heads, splits)(generator)
        found[::2, 1:] = -math.inf
        return found

    def parts(generator: torch.Generator) -> torch.Tensor:
        found = tensor(heads, splits, dim)(generator)
        found[::2, 1:] = 0.0
        return found

    return case(parts=parts, lse=lse)


def _parts(heads: int, splits: int, dim: int, **lse: Any) -> Case:
    return case(parts=tensor(heads, splits, dim), lse=tensor(heads, splits, **lse))


EXERCISES = (
    Task(
        "delta_of",
        N_("Delta"),
        (
            N_("One number for each query: multiply out and dout element by element, and add up along the last axis."),
            N_(
                "Number the queries of all heads in one row: head = row // tokens, token = row % tokens. Each tensor "
                "has three strides of its own."
            ),
            N_("Convert both to tl.float32 before you multiply, then tl.sum(o * g, axis=1) and a store with mask."),
        ),
        cases=(
            case(out=tensor(1, 32, 16), dout=tensor(1, 32, 16)),
            case(out=tensor(3, 45, 32), dout=tensor(3, 45, 32)),
            case(out=tensor(2, 50, 16, layout="inside"), dout=tensor(2, 50, 16, layout="turned")),
            case(out=tensor(2, 33, 16, layout="turned"), dout=tensor(2, 33, 16, layout="steps")),
            case(out=tensor(2, 40, 32, dtype="float16"), dout=tensor(2, 40, 32, dtype="float16", scale=200.0)),
            case(out=tensor(1, 1, 16), dout=tensor(1, 1, 16)),
        ),
        reference=_delta,
        tolerance=(1e-5, 1e-5),
        ranges=("negative", "tiny"),
        work=(launched(), once("out"), once("dout")),
        copied=False,
    ),
    Task(
        "gradient_of_v",
        N_("The gradient of the values"),
        (
            N_("dv = weights.T @ dout. A program has 32 keys and loops over the queries."),
            N_(
                "The weights are not stored: they are exp(score - lse), with the lse of the query "
                "from the forward pass."
            ),
            N_(
                "weights = tl.where((query < tokens)[:, None], tl.exp(scores - lse[:, None]), 0.0); "
                "accumulator += tl.dot(tl.trans(weights), dout)"
            ),
        ),
        cases=(_with_lse(1, 32, 16), _with_lse(2, 50, 16), _with_lse(3, 97, 32), _with_lse(1, 1, 16)),
        reference=_gradient_of_v,
        tolerance=(1e-3, 1e-3),
        work=(launched(),),
        points=3,
    ),
    Task(
        "gradient_of_q",
        N_("The gradient of the queries"),
        (
            N_("A program has 32 queries and loops over the keys: dq is the sum over the blocks of keys."),
            N_("The gradient of a score is weight * (dout @ v.T - delta), with the delta of its query."),
            N_(
                "change = weights * (tl.dot(dout, tl.trans(v)) - delta[:, None]); dq += tl.dot(change, k); times scale."
            ),
        ),
        cases=(_with_delta(1, 32, 16), _with_delta(2, 50, 16), _with_delta(3, 97, 32), _with_delta(1, 1, 16)),
        reference=_gradient_of_q,
        tolerance=(1e-3, 1e-3),
        work=(launched(),),
        points=3,
    ),
    Question(
        "causal_products",
        N_("Count the products"),
        (
            N_("How many blocks of scores are there with 32 blocks of queries, if query block i needs keys 0 to i?"),
            N_("32 * 33 / 2 blocks: the diagonal counts. Two loops do 7 products for each, one loop with atomics 5."),
        ),
        right=lambda: (7 * _BLOCKS * (_BLOCKS + 1) // 2, 5 * _BLOCKS * (_BLOCKS + 1) // 2),
        tell=lambda answer, right: _(
            "Count the blocks of scores on and below the diagonal of 32 by 32 blocks. Multiply by the products that "
            "each way does for one block."
        ),
    ),
    Task(
        "merge",
        N_("Merge the parts"),
        (
            N_("The weights of the parts are the softmax of their lse, for each head."),
            N_("Subtract the greatest lse before you take exp. Lanes past the last split load minus infinity."),
            N_(
                "weights = tl.exp(lse - tl.max(lse, axis=0)); store tl.sum(weights[:, None] * parts, axis=0) / "
                "tl.sum(weights, axis=0)"
            ),
        ),
        cases=(
            _parts(1, 4, 16),
            _parts(3, 7, 32),
            _parts(2, 1, 16),
            _parts(2, 9, 16, low=200.0, high=210.0),
            _parts(2, 6, 32, low=-400.0, high=-390.0),
            _parts(2, 5, 16, low=-60.0, high=60.0),
            _with_idle_splits(4, 5, 16),
        ),
        reference=_merge,
        tolerance=(1e-5, 1e-5),
        ranges=("negative", "tiny"),
        work=(launched(), once("parts")),
        points=2,
    ),
)
