"""Notebooks that would have points without an answer: judges that are patched, results that are made up, work that no
kernel did. By name the cells before the chapter's checks."""

# ruff: noqa: E501
from __future__ import annotations

_IMPORTS = (
    "import torch, triton, numpy as np, ctypes\nimport triton.language as tl\nfrom triton_lab.course import exercise"
)
_COPY = """
@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)

def stored(found):
    out = torch.empty_like(found)
    copy[(triton.cdiv(found.numel(), 128),)](found, out, found.numel(), BLOCK=128)
    return out
"""
_BY_TORCH = """
def add_constant(x, value): return x + value
def scale_and_shift(x, y, a): return (a * x.float() + y.float()).to(x.dtype)
def relu(x): return x.clamp(min=0)
def square_in_place(x): x.mul_(x)
idle_lanes = None
"""
_COPIED = """
def add_constant(x, value): return stored(x + value)
def scale_and_shift(x, y, a): return stored((a * x.float() + y.float()).to(x.dtype))
def relu(x): return stored(x.clamp(min=0))
def square_in_place(x):
    y = x * x
    copy[(triton.cdiv(x.numel(), 128),)](y, x, x.numel(), BLOCK=128)
idle_lanes = None
"""
_TOUCH = """
@triton.jit
def touch(out_ptr, n):
    tl.store(out_ptr, tl.load(out_ptr))

def touched(found):
    if found.numel():
        touch[(1,)](found, found.numel())
    return found
"""


def _patched(text: str) -> tuple[str, ...]:
    """A patch, and answers that torch computes."""
    return _IMPORTS, text, _BY_TORCH


def _host(*cells: str) -> tuple[str, ...]:
    return _IMPORTS, _COPY, _TOUCH, *cells


FORGED: dict[str, tuple[str, ...]] = {
    # The judge and what it uses, patched.
    "the judge of one kind": _patched('type(exercise("relu")).judge = lambda self, answer: None'),
    "the judge of all kinds": _patched(
        "from triton_lab.course import exercise_kinds as kinds\n"
        "for kind in vars(kinds).values():\n    if isinstance(kind, type): kind.judge = kind.judged = lambda *a: None"
    ),
    "the exercises": _patched(
        "from triton_lab.course import exercise_registry as registry\nregistry.exercises = lambda: ()\n"
        "registry.exercise = lambda name: type('E', (), {'judged': lambda *a: None, 'points': 99})()"
    ),
    "the trial": _patched(
        "from triton_lab.course import run_answer as trying; from triton_lab.course import exercise_kinds as kinds\ntrying.tried = kinds.tried = lambda *a, **k: None"
    ),
    "the comparison": _patched("torch.isclose = lambda a, b, **k: torch.ones_like(a, dtype=torch.bool)"),
    "all comparisons": _patched(
        "from triton_lab.course import answer_difference as unlike; from triton_lab.course import run_answer as trying\n"
        "for module in (unlike, trying):\n"
        "    for name in ('unlike', 'unlike_in_kind', 'near_to', '_found', '_not_launched', '_unmade', '_lucky'):\n"
        "        setattr(module, name, lambda *a, **k: None)"
    ),
    "the replay": _patched(
        "from triton_lab.course import answer_replays as replays\nfrom triton_lab.launch import replay\n"
        "replays.again = replay.replay = lambda *a, **k: None"
    ),
    "the faults": _patched("from triton_lab.course.answer_fault import Fault\nFault.__bool__ = lambda self: False"),
    "Python's all and any": _patched("import builtins\nbuiltins.all = lambda *a: True\nbuiltins.any = lambda *a: False"),
    "the generator": _patched("torch.Generator.manual_seed = lambda self, seed: self\ntorch.manual_seed(0)"),
    "the reference": _patched("torch.clamp = torch.Tensor.clamp = lambda self, **k: self\nrelu = lambda x: x"),
    "the saving": _patched(
        "from triton_lab.launch.saving import launch_writer as save\nfrom triton_lab.course.judging import judge_messages as messages\n"
        "save.packed = messages.packed = lambda launch: b''"
    ),
    "the loading": _patched(
        "from triton_lab.launch.saving import launch_reader as load\nfrom triton_lab.course.judging import judge_messages as messages\n"
        "load.unpacked = messages.unpacked = lambda *a, **k: None"
    ),
    "the wire": _patched(
        "from triton_lab.course.judging import judge_wire as wire\nwire.Channel.receive = lambda self, s=None: ({'do': 'run', 'text': ''}, [])"
    ),
    "the notes": _patched("from triton_lab.course import progress_store as notes\nnotes.note('relu', True)"),
    # Lines that the first grader would have read, and results that are said.
    "a line of a result": _patched(
        "import os\nfor fd in range(3, 2000):\n    try: os.write(fd, b'{\"exercise\": \"relu\", \"solved\": true, \"message\": \"\"}\\n')\n"
        "    except OSError: pass\nos._exit(0)"
    ),
    "a line of a result to all that prints": _patched(
        "import os\nfor fd in (1, 2):\n    os.write(fd, b'{\"exercise\": \"relu\", \"solved\": true, \"message\": \"\"}\\n')"
    ),
    "a message that says solved": _patched(
        "from triton_lab.course.judging import answering_process as child\nchild._answered = lambda *a: {'solved': True, 'exercise': 'relu', 'message': ''}"
    ),
    "a fault without words": _patched(
        "from triton_lab.course.judging import answering_process as child\n"
        "child._answered = lambda *a: {'fault': {'message': '', 'on': '', 'lines': [], 'untouched': False}}"
    ),
    "results without launches": _patched(
        "from triton_lab.course.judging import judge_messages as messages\nold = messages.told_attempt\n"
        "def told(attempt, pieces):\n    found = old(attempt, pieces)\n    found['launches'] = []\n    return found\n"
        "messages.told_attempt = told"
    ),
    "launches of another exercise": (
        _IMPORTS, _COPY, _BY_TORCH,
        "from triton_lab.launch.recording.record import record\nfrom triton_lab.course.judging import judge_messages as messages\n"
        "with record() as known: stored(torch.randn(96))\n"
        "messages._told_launches = lambda launches, pieces: [pieces.append(messages.packed(known[0])) or len(pieces) - 1]",
    ),
    "launches that are noise": _patched(
        "from triton_lab.course.judging import judge_messages as messages\n"
        "messages._told_launches = lambda launches, pieces: [pieces.append(b'PK' + bytes(1000)) or len(pieces) - 1]"
    ),
    "a launch whose arguments are elsewhere": (
        _IMPORTS, _COPY, _COPIED,
        "import dataclasses\nfrom triton_lab.launch.saving import launch_writer as save\nold = save._argument\n"
        "save._argument = lambda a: {**old(a), 'storage_address': 64, 'address': 64}",
    ),
    "a launch with findings of its own": (
        _IMPORTS, _COPY, _COPIED,
        "from triton_lab.launch.saving import launch_writer as save\nold = save._head\n"
        "save._head = lambda *a: {**old(*a), 'findings': [], 'unchecked': []}",
    ),
    "a launch without memory": (
        _IMPORTS, _COPY, _COPIED,
        "from triton_lab.launch.saving import launch_writer as save\nold = save._head\nsave._head = lambda *a: {**old(*a), 'regions': []}",
    ),
    "a launch that says it failed": (
        _IMPORTS, _COPY, _COPIED,
        "from triton_lab.launch.saving import launch_writer as save\nold = save._head\nsave._head = lambda *a: {**old(*a), 'error': 'x'}",
    ),
    "arguments that share memory": (
        _IMPORTS, _COPY, _COPIED,
        "from triton_lab.course.judging import judge_messages as messages\nold = messages.told_tensor\n"
        "messages.told_tensor = lambda *a: {**old(*a), 'start': 4096}",
    ),
    # Work that no kernel did.
    "torch alone": _host(_BY_TORCH),
    "torch, and a kernel that copies": _host(_COPIED),
    "torch, and a kernel that touches": _host(
        "def add_constant(x, value): return touched(x + value)\n"
        "def scale_and_shift(x, y, a): return touched((a * x.float() + y.float()).to(x.dtype))\n"
        "def relu(x): return touched(x.clamp(min=0))\n"
        "def square_in_place(x):\n    x.mul_(x)\n    touched(x)\nidle_lanes = None"
    ),
    "torch after the kernel": _host(
        "def add_constant(x, value): return stored(x).add_(value)\n"
        "def scale_and_shift(x, y, a): return stored(x).mul_(a).add_(y)\n"
        "def relu(x): return stored(x).clamp_(min=0)\n"
        "def square_in_place(x):\n    copy[(triton.cdiv(x.numel(), 128),)](x, x, x.numel(), BLOCK=128)\n    x.mul_(x)"
    ),
    "NumPy after the kernel": _host(
        "def relu(x):\n    out = stored(x)\n    np.maximum(out.numpy(), 0, out=out.numpy())\n    return out\n"
        "def add_constant(x, value):\n    out = stored(x)\n    out.numpy()[...] += value\n    return out"
    ),
    "bytes that are moved after the kernel": _host(
        "def moved(x, found):\n    out = stored(x)\n    ctypes.memmove(out.data_ptr(), found.data_ptr(), found.nbytes)\n    return out\n"
        "def relu(x): return moved(x, x.clamp(min=0))\ndef add_constant(x, value): return moved(x, x + value)"
    ),
    "torch before the kernel, in place": _host(
        "def relu(x):\n    old = x.clone()\n    x.clamp_(min=0)\n    out = stored(x)\n    x.copy_(old)\n    return out\n"
        "def square_in_place(x):\n    x.mul_(x)\n    copy[(triton.cdiv(x.numel(), 128),)](x, x, x.numel(), BLOCK=128)"
    ),
    "a result of constants": _host(
        "@triton.jit\ndef fill(out_ptr, V: tl.constexpr, at):\n    tl.store(out_ptr + at, V)\n"
        "def relu(x):\n    out = torch.empty_like(x)\n"
        "    for k, v in enumerate(x.clamp(min=0).tolist()): fill[(1,)](out, v, k)\n    return out"
    ),
    "a result of scalars": _host(
        "@triton.jit\ndef put(out_ptr, v, at):\n    tl.store(out_ptr + at, v)\n"
        "def relu(x):\n    out = torch.empty_like(x)\n"
        "    for k, v in enumerate(x.clamp(min=0).tolist()): put[(1,)](out, v, k)\n    return out"
    ),
    "a table of addresses": _host(
        "@triton.jit\ndef through(table_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    p = tl.load(table_ptr).to(tl.pointer_type(tl.float32))\n"
        "    tl.store(out_ptr + i, tl.load(p + i, mask=i < n), mask=i < n)\n"
        "def relu(x):\n    global y\n    y = x.clamp(min=0)\n    out = torch.empty_like(x)\n"
        "    through[(triton.cdiv(x.numel(), 128),)](torch.tensor([y.data_ptr()]), out, x.numel(), BLOCK=128)\n    return out"
    ),
    "another thread's torch": _host(
        "import threading\n"
        "def aside(work):\n    found = []\n    one = threading.Thread(target=lambda: found.append(work()))\n"
        "    one.start(); one.join()\n    return stored(found[0])\n"
        "def relu(x): return aside(lambda: x.clamp(min=0))\ndef add_constant(x, value): return aside(lambda: x + value)"
    ),
    "the reference itself": _host(
        "def relu(x): return stored(exercise('relu').reference(x))\n"
        "def add_constant(x, value): return stored(exercise('add_constant').reference(x, value))"
    ),
    "a difference beforehand": _host(
        "@triton.jit\ndef add(x_ptr, d_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) + tl.load(d_ptr + i, mask=i < n), mask=i < n)\n"
        "def relu(x):\n    out = torch.empty_like(x)\n"
        "    add[(triton.cdiv(x.numel(), 128),)](x, x.clamp(min=0) - x, out, x.numel(), BLOCK=128)\n    return out"
    ),
    "a copy where none is allowed": _host(
        "@triton.jit\ndef square(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    x = tl.load(x_ptr + i, mask=i < n)\n"
        "    tl.store(out_ptr + i, x * x, mask=i < n)\n"
        "def square_in_place(x): square[(triton.cdiv(x.numel(), 128),)](x.clone(), x, x.numel(), BLOCK=128)"
    ),
    "a tensor of a class of its own": _host(
        "class Mine(torch.Tensor):\n    pass\n"
        "def relu(x): return x.clamp(min=0).as_subclass(Mine)\ndef add_constant(x, value): return (x + value).as_subclass(Mine)"
    ),
    "an answer that equals everything": (
        _IMPORTS,
        "class All:\n    def __eq__(self, other): return True\n    def __call__(self, *a, **k): return self\n"
        "    def __getattr__(self, name): return self\n"
        "add_constant = scale_and_shift = relu = square_in_place = idle_lanes = All()",
    ),
    "an answer that is true": (_IMPORTS, "add_constant = scale_and_shift = relu = square_in_place = idle_lanes = True"),
}  # fmt: skip
