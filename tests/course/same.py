"""Changes that make another right answer: told apart from wrong ones by hand, each with its reason."""

from __future__ import annotations

from tests.course.mutants import Mutant

STORES_NOTHING = "a lane without an element stores nothing"
LOWEST_BIT = "the machine code takes the lowest bit of a phase"
TIMES_ZERO = "what it is multiplied by is zero there: a product by tl.dot needs one of the two"

# Exercise -> (kind, part of what the node has become, why it means the same).
SAME: dict[str, tuple[tuple[str, str, str], ...]] = {
    "sum_of_three": (
        ("no other", "tl.load(x_ptr + offsets, mask", STORES_NOTHING),
        ("wrong other", "tl.load(x_ptr + offsets, mask", STORES_NOTHING),
    ),
    "take": (
        ("no other", "tl.load(index_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(index_ptr", STORES_NOTHING),
        ("wrong sign", "1", STORES_NOTHING),
    ),
    "moments": (("wrong dtype", "tl.float16", "a block's count is at most 64: exact in float16"),),
    "running_sums": (
        ("no other", "tl.load(x_ptr", "only the last block has lanes without an element, and nothing comes after it"),
        (
            "wrong other",
            "tl.load(x_ptr",
            "only the last block has lanes without an element, and nothing comes after it",
        ),
    ),
    "recurrence": (
        ("no other", "tl.load", "lanes without an element are the last, and a scan looks back"),
        ("wrong other", "tl.load", "lanes without an element are the last, and a scan looks back"),
    ),
    "dot_of_bytes": (
        ("wrong dtype", "tl.int8", "the other factor is int32, and so is their product"),
        ("no other", "tl.load", TIMES_ZERO),
        ("wrong other", "tl.load", TIMES_ZERO),
    ),
    "count_positive": (("wrong dtype", "tl.int8", "tl.sum adds up narrow integers as int32"),),
    "darts": (
        ("wrong dtype", "tl.int8", "tl.sum adds up narrow integers as int32"),
        ("wrong comparison", "x * x + y * y <= 1", "no dart of the cases is exactly on the circle"),
    ),
    "counted": (
        ("no other", "tl.load(x_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(x_ptr", STORES_NOTHING),
    ),
    "copy_ahead": (("wrong number", "3", "a ring of three buffers, of which two are used"),),
    "ring_of_three": (
        ("wrong comparison", "<= steps", "one more load is started, of what is outside of the matrix"),
        ("wrong number", "4", "a ring of four buffers, of which three are used"),
        ("half a mask", "k // 3", "a barrier looks at the last bit of a phase alone, on an H100, too"),
    ),
    "product": (("wrong other", "tl.load", TIMES_ZERO),),
    "banded_product": (
        ("wrong other", "tl.load", TIMES_ZERO),
        ("wrong number", "5", "bands of any height make the same product"),
    ),
    "split_product": (
        ("no other", "tl.load(bias_ptr", STORES_NOTHING),
        ("wrong other", "tl.load", TIMES_ZERO),
    ),
    "scaled_product": (
        ("no other", "tl.load(w_ptr", TIMES_ZERO),
        ("no other", "tl.load(scale_ptr", STORES_NOTHING),
        ("wrong other", "tl.load", TIMES_ZERO),
    ),
    "scale_gradient": (
        ("no other", "tl.load(grad_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(grad_ptr", STORES_NOTHING),
    ),
    "ring": (
        ("no mask", "tl.load(x_ptr + (i + 1) % n)", "the remainder is an element, whatever the lane"),
        ("wrong comparison", "i <= n", "the remainder is an element, whatever the lane"),
    ),
    "histogram": (
        ("no other", "tl.load(x_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(x_ptr", STORES_NOTHING),
    ),
    "add_at": (
        ("no other", "tl.load", STORES_NOTHING),
        ("wrong other", "tl.load", STORES_NOTHING),
        ("no mask", "tl.atomic_add", "lanes without an element add zero, to a place that is there"),
    ),
    "best": (("left out", "pass", "one thread stores these numbers and gives the lock back, in this order"),),
    "matmul": (("wrong other", "tl.load", TIMES_ZERO),),
    "layer": (
        ("no other", "tl.load(bias_ptr", STORES_NOTHING),
        ("wrong other", "tl.load", TIMES_ZERO),
    ),
    **dict.fromkeys(
        ("attention", "causal_attention"),
        (
            ("no other", "tl.load(q_at", STORES_NOTHING),
            ("wrong other", "tl.load(q_at", STORES_NOTHING),
            ("no other", "tl.load(k_ptr", "the scores of keys that are not there become minus infinity"),
            ("wrong other", "tl.load(k_ptr", "the scores of keys that are not there become minus infinity"),
            ("wrong other", "tl.load(v_ptr", "the weights of keys that are not there are zero"),
        ),
    ),
    "gradient_of_v": (
        ("no other", "tl.load(k_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(k_ptr", STORES_NOTHING),
        ("no other", "tl.load(q_ptr", "the weights of queries that are not there are zero"),
        ("wrong other", "tl.load", "the weights of queries that are not there are zero"),
        ("no other", "tl.load(lse_ptr", "the weights of queries that are not there are zero"),
    ),
    "straighten": (("no factor", "i[:, None]", "rows of the turned matrix lie one element apart"),),
    "gradient_of_q": (
        ("no other", "tl.load(q_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(q_ptr", STORES_NOTHING),
        ("no other", "tl.load(dout_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(dout_ptr", STORES_NOTHING),
        ("no other", "tl.load(lse_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(lse_ptr", STORES_NOTHING),
        ("no other", "tl.load(delta_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(delta_ptr", STORES_NOTHING),
        ("wrong other", "tl.load(v_ptr", TIMES_ZERO),
    ),
    "delta_of": (
        ("no other", "tl.load(", STORES_NOTHING),
        ("wrong other", "tl.load(", STORES_NOTHING),
    ),
    "merge": (("wrong other", "tl.load(parts_ptr", "the weights of splits that are not there are zero"),),
    "band": (("transposed", "A[j, i]", "the three diagonals lie the same in both halves"),),
    "fronts": (
        ("the other way round", "interchange", "it exchanges the two, whichever is named first"),
        ("the loops run backwards", "reverse('i')", "no step waits for another one on its diagonal"),
    ),
    "one_pass": (("the other way round", "fuse", "both are in one loop, whichever is named first"),),
    "few_misses": (
        ("tiles of 64", "'i': 64", "strips of eight columns use each line up as well"),
        *((f"tiles of {size}", "'i': 8", "eight lines of A stay where they are, until their ends") for size in (1, 2)),
        ("tiles the other way round", "'j': 8, 'i': 8", "both tiles are of one size"),
    ),
    "tiles_in_time": (
        ("tiles of 64", "'t': 64", "strips of eight skewed columns are tiles, too"),
        *((f"tiles of {size}", "'t': 8", "eight sweeps go over an element while it is there") for size in (1, 2)),
        ("tiles the other way round", "'i': 8, 't': 8", "both tiles are of one size"),
    ),
    "sparse_product": (
        ("no other", "tl.load(columns_ptr", "x is not loaded for such lanes"),
        ("wrong other", "tl.load(columns_ptr", "x is not loaded for such lanes"),
        ("no mask", "tl.load(x_ptr", "column 0 is there, and its value is multiplied by zero"),
        ("wrong other", "tl.load", TIMES_ZERO),
        ("wrong comparison", "k <= end", "column 0 is there, and its value is multiplied by zero"),
    ),
    **dict.fromkeys(("ahead", "parted"), (("half a mask", "k // BUFFERS", LOWEST_BIT),)),
    "busy": (
        ("half a mask", "k // BUFFERS", LOWEST_BIT),
        ("wrong operator", "k + BUFFERS + 1", "the loader takes the buffers in turn: each is free one step later"),
    ),
    "batched": (("wrong other", "tl.load", TIMES_ZERO),),
    "quantised": (
        ("no other", "tl.load(scale_ptr", STORES_NOTHING),
        ("wrong other", "tl.load", TIMES_ZERO),
        ("no other", "tl.load(b_ptr", TIMES_ZERO),
    ),
    "mx_product": (
        *((kind, "tl.load(a_ptr", TIMES_ZERO) for kind in ("no other", "wrong other")),
        *((kind, "tl.load(b_ptr", TIMES_ZERO) for kind in ("no other", "wrong other")),
        *((kind, "tl.load(a_at", TIMES_ZERO) for kind in ("no other", "wrong other")),
        *((kind, "tl.load(b_at", TIMES_ZERO) for kind in ("no other", "wrong other")),
        ("wrong number", "128", TIMES_ZERO),
    ),
    "tile_table": (
        ("max for sum", "tl.max(tl.where(e == expert", "one of them is not 0, at most"),
        ("wrong dtype", "tl.int8", "there are fewer experts than 128 in all cases"),
    ),
}


def means_the_same(name: str, mutant: Mutant) -> bool:
    """Whether the change gives another right answer."""
    return any(mutant.kind == kind and part in mutant.became for kind, part, _ in SAME.get(name, ()))
