"""What operations do to memory, held against what memory looks like afterwards."""

from __future__ import annotations

import itertools

import pytest
import torch
import triton.language as tl

from tests.interpreter.support import kernel_from
from tests.ir.test_parse import plan_of
from triton_lab.ir import Op, effects
from triton_lab.ir.effects import ACCESSES, Operands, Rmw, Role, Scope, Sem, by_descriptor, is_access, operands_of

# Each touches all of `x`, 16 by 16, and says in `out` what it got, if anything.
DEEDS = {
    "tt.load": "tl.store(OUT + k, tl.load(X + k))",
    "tt.store": "tl.store(X + k, 7)",
    "tt.atomic_rmw": "tl.store(OUT + k, tl.atomic_add(X + k, 3))",
    "tt.atomic_cas": "tl.store(OUT + k, tl.atomic_cas(X + k, k, k + 1))",
    "tt.atomic_load": "tl.store(OUT + k, tl.atomic_load(X + k))",
    "tt.atomic_store": "tl.atomic_store(X + k, 7)",
    "tt.atomic_poll": "tl.store(OUT, tl.atomic_poll(X, 0, timeout_ns=1000).to(tl.int32))",
    "tt.descriptor_load": "tl.store(OUT + k, tl.reshape(D.load([0, 0]), (256,)))",
    "tt.descriptor_store": "D.store([0, 0], tl.full((16, 16), 7, tl.int32))",
    "tt.descriptor_reduce": "D.atomic_add([0, 0], tl.full((16, 16), 7, tl.int32))",
    "tt.descriptor_gather": "tl.store(OUT + k, tl.reshape(R.gather(tl.arange(0, 16), 0), (256,)))",
    "tt.descriptor_scatter": "R.scatter(tl.full((16, 16), 7, tl.int32), tl.arange(0, 16), 0)",
}
NEW = {"tt.atomic_load", "tt.atomic_store", "tt.atomic_poll"}
HERE = [name for name in DEEDS if hasattr(tl, "atomic_poll") or name not in NEW]


def done(name: str, before: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What `x` holds after the operation, and what it told."""
    kernel = kernel_from(
        "@triton.jit\ndef kernel(X, OUT):\n"
        "    k = tl.arange(0, 256)\n"
        "    D = tl.make_tensor_descriptor(X, [16, 16], [16, 1], [16, 16])\n"
        "    R = tl.make_tensor_descriptor(X, [16, 16], [16, 1], [1, 16])\n"
        f"    {DEEDS[name]}\n"
    )
    x, out = before.clone(), torch.full((256,), -1, dtype=torch.int32)
    kernel[(1,)](x, out)
    return x, out


@pytest.mark.parametrize("name", HERE)
def test_what_reads_depends_on_memory_and_what_writes_changes_it(name):
    effect = ACCESSES[name]
    one, other = torch.arange(256, dtype=torch.int32), torch.arange(256, dtype=torch.int32) * 3 + 1
    (after, told), (other_after, other_told) = done(name, one), done(name, other)
    assert effect.writes == (not torch.equal(after, one))
    depends = not torch.equal(told, other_told) or (effect.writes and not torch.equal(after, other_after))
    assert effect.reads == depends
    assert (effect.result is not None) == bool((told != -1).any())
    if effect.result == "held":
        assert torch.equal(told, one)


OF_TRITON = {name for name in ACCESSES if name.startswith("tt.")}  # those of Gluon are in tests/gluon


def test_each_access_is_tried():
    assert set(DEEDS) == OF_TRITON


def op(name: str, count: int, **attributes: object) -> Op:
    return Op(name, tuple(range(count)), (), attributes, (), (), None, 0)


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (op("tt.load", 1), Operands(0)),
        (op("tt.load", 3), Operands(0, mask=1, other=2)),
        (op("tt.load", 2, operandSegmentSizes=[1, 1, 0]), Operands(0, mask=1)),
        (op("tt.load", 2, operandSegmentSizes=[1, 0, 1]), Operands(0, other=1)),
        (op("tt.store", 2), Operands(0, value=1)),
        (op("tt.store", 3), Operands(0, value=1, mask=2)),
        (op("tt.atomic_cas", 3), Operands(0, expected=1, value=2)),
        (op("tt.atomic_poll", 2), Operands(0, expected=1)),
        (op("tt.atomic_poll", 3), Operands(0, expected=1, timeout=2)),
        (op("tt.descriptor_load", 6), Operands(0, coordinates=(1, 2, 3, 4, 5))),
        (op("tt.descriptor_reduce", 4), Operands(0, value=1, coordinates=(2, 3))),
        (op("tt.descriptor_scatter", 4), Operands(0, value=3, coordinates=(1, 2))),
    ],
)
def test_each_operand_has_its_place(one, found):
    assert operands_of(one) == found
    assert by_descriptor(one) == bool(found.coordinates)


@pytest.mark.parametrize(
    "one",
    [
        op("tt.store", 1),
        op("tt.store", 4),
        op("tt.atomic_cas", 2),
        op("tt.descriptor_gather", 4),
        op("tt.load", 2, operandSegmentSizes=[1, 1, 1]),
        op("tt.load", 2, operandSegmentSizes=[1, 1]),
    ],
)
def test_operands_that_it_cannot_have_are_refused(one):
    with pytest.raises(ValueError, match=one.name):
        operands_of(one)


RMW = {
    "i32": {"and": "AND", "or": "OR", "xor": "XOR", "add": "ADD", "max": "MAX", "min": "MIN", "xchg": "XCHG"},
    "u32": {"max": "UMAX", "min": "UMIN"},
    "fp32": {"add": "FADD"},
}


def attributes(call: str, element: str = "i32") -> dict[str, object]:
    """The attributes that the front end gives to the atomic that it makes of ``call``."""
    kernel = kernel_from(f"@triton.jit\ndef kernel(x):\n    tl.{call}\n")
    return next(dict(op.attributes) for op in plan_of(kernel, {"x": f"*{element}"}, {}).walk() if is_access(op))


@pytest.mark.parametrize(
    ("element", "name", "what"), [(element, *each) for element, some in RMW.items() for each in some.items()]
)
def test_what_an_atomic_does_has_the_front_ends_number(element, name, what):
    assert attributes(f"atomic_{name}(x, 1)", element)["atomic_rmw_op"] == Rmw[what]


def test_orders_and_scopes_have_the_front_ends_numbers():
    assert {what for some in RMW.values() for what in some.values()} == set(Rmw.__members__)
    orders = {"relaxed": Sem.RELAXED, "acquire": Sem.ACQUIRE, "release": Sem.RELEASE, "acq_rel": Sem.ACQ_REL}
    for name, order in orders.items():
        assert attributes(f"atomic_add(x, 1, sem='{name}')")["sem"] == order
    for name, scope in {"gpu": Scope.GPU, "cta": Scope.CTA, "sys": Scope.SYSTEM}.items():
        assert attributes(f"atomic_add(x, 1, scope='{name}')")["scope"] == scope


PLAIN_STORES = {"tt.store", "tt.descriptor_store", "tt.descriptor_scatter"}
PLAIN_LOADS = {"tt.load", "tt.descriptor_load", "tt.descriptor_gather"}
UPDATES = {"tt.atomic_rmw", "tt.atomic_cas", "tt.descriptor_reduce"}
READS = PLAIN_LOADS | UPDATES | {"tt.atomic_load", "tt.atomic_poll"}
WRITES = PLAIN_STORES | UPDATES | {"tt.atomic_store"}
ORDERS = {"tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_load", "tt.atomic_store", "tt.atomic_poll"}
TRUE_OF = {
    effects.is_access: OF_TRITON,
    effects.reads: READS,
    effects.writes: WRITES,
    effects.updates: UPDATES,
    effects.may_leave: {"tt.atomic_cas"},
    effects.brings_in: READS - {"tt.atomic_poll", "tt.descriptor_reduce"},
    effects.by_descriptor: {name for name in OF_TRITON if "descriptor" in name},
    effects.waits: {"tt.atomic_poll"},
}


@pytest.mark.parametrize("question", TRUE_OF, ids=lambda question: question.__name__)
def test_each_question_has_its_answer_for_each_operation(question):
    """Those that order nothing else and hold against every program; and what is no access is none of it."""
    assert {name for name in OF_TRITON if question(op(name, 3, sem=Sem.RELAXED))} == TRUE_OF[question]
    for name in ("arith.addi", "tt.addptr", "scf.for"):
        assert not question(op(name, 3))


def test_only_what_orders_acquires_and_releases():
    for name in OF_TRITON:
        for sem in (*Sem, None):
            one = op(name, 3) if sem is None else op(name, 3, sem=sem)
            takes = name in ORDERS & READS and sem in (Sem.ACQUIRE, Sem.ACQ_REL, None)
            hands = name in ORDERS & WRITES and sem in (Sem.RELEASE, Sem.ACQ_REL, None)
            assert (effects.acquires(one), effects.releases(one)) == (takes, hands), (name, sem)


def test_each_access_has_its_role():
    """An atomic of one program is a store to the others, and a volatile load is an atomic load."""
    roles = {name: effects.role_of(op(name, 3)) for name in OF_TRITON}
    assert {name for name, role in roles.items() if role is Role.STORE} == PLAIN_STORES
    assert {name for name, role in roles.items() if role is Role.LOAD} == PLAIN_LOADS
    assert {name for name, role in roles.items() if role is Role.UPDATE} == WRITES - PLAIN_STORES
    for scope in Scope:
        one = op("tt.atomic_rmw", 3, scope=scope)
        assert effects.is_shared(one) == (scope != Scope.CTA)
        assert effects.role_of(one) is (Role.STORE if scope == Scope.CTA else Role.UPDATE)
        assert effects.role_of(op("tt.store", 2, scope=scope)) is Role.STORE
        assert effects.role_of(op("tt.atomic_load", 2, scope=scope)) is Role.ATOMIC_LOAD
    for volatile, role in ((True, Role.ATOMIC_LOAD), (False, Role.LOAD)):
        assert effects.role_of(op("tt.load", 1, isVolatile=volatile)) is role


def test_rivals_are_rivals_of_each_other():
    for one, other in itertools.product(Role, Role):
        assert (other in effects.RIVALS[one]) == (one in effects.RIVALS[other])
