"""Cells that end, hang, flood or attack the process that runs them, its judge or the machine. By name, one cell each;
those that last until their time is over say ``never``."""

# ruff: noqa: E501
from __future__ import annotations

_FD = "import os, struct, json\nfd = 1000\n"
_OUT = "subprocess = __import__('subprocess')\n"

UNRULY: dict[str, str] = {
    "exit": "import os; os._exit(0)",
    "exit with a number": "import os; os._exit(3)",
    "abort": "import os; os.abort()",
    "a null pointer": "import ctypes; ctypes.string_at(0)",
    "kill itself": "import os; os.kill(os.getpid(), 9)",
    "kill its parent": "import os; os.kill(os.getppid(), 9); os._exit(0)",
    "kill all": "import os; os.kill(-1, 9)",
    "kill its group": "import os; os.killpg(0, 9)",
    "kill every number": "import os\nfor k in range(2, 70000):\n    try: os.kill(k, 9)\n    except OSError: pass\nos._exit(0)",
    "stop itself, and never go on": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "never end": "while True: pass",
    "never end, with signals ignored": (
        "import signal\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except OSError: pass\nwhile True: pass"
    ),
    "never end, in C": "sum(range(10**15))",
    "sleep and never wake": "import time; time.sleep(10**6)",
    "never answer": "relu = lambda x: __import__('time').sleep(10**6)",
    "never show": "class A:\n    def __repr__(self):\n        while True: pass\nidle_lanes = A()",
    "never compile": "x = eval('+'.join(['(1'] * 90) + ')' * 90)\nimport re; re.match('(a+)+$', 'a' * 60 + 'b')",
    "a session of its own": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        t = time.time(); i = 0\n"
        "        while time.time() - t < 600:\n            i += 1\n            try: os.makedirs(f'd{i % 50}/a', exist_ok=True); open(f'd{i % 50}/{i}', 'w').close()\n"
        "            except OSError: time.sleep(0.1)\n    os._exit(0)\nos._exit(0)"
    ),
    "processes without end": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "threads without end": "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
    "50 GB of numbers": "import numpy; x = numpy.ones(50 << 27); raise SystemExit",
    "50 GB of bytes": "x = [bytearray(1 << 28) for _ in range(200)]; y = [a.__setitem__(slice(None), b'1' * len(a)) for a in x]",
    "50 GB that are shared": (
        "import mmap\nx = [mmap.mmap(-1, 1 << 28) for _ in range(200)]\nfor m in x:\n    for k in range(0, 1 << 28, 4096): m[k] = 1"
    ),
    "50 GB in children": (
        "import os, time\nfor _ in range(50):\n    if os.fork() == 0:\n        x = bytearray(b'1') * (1 << 30); time.sleep(1000)\ntime.sleep(1000)"
    ),
    "50 GB of files": "f = open('x', 'wb')\nfor _ in range(50): f.write(b'1' * (1 << 30))",
    "50 GB of shared memory": "f = open('/dev/shm/x', 'wb')\nfor _ in range(50): f.write(b'1' * (1 << 30))",
    "1 GB printed": "for _ in range(1 << 10): print('x' * (1 << 20))",
    "1 GB of errors": "import sys\nfor _ in range(1 << 10): sys.stderr.write('x' * (1 << 20))",
    "an error of 100 MB": "raise ValueError('x' * 100_000_000)",
    "an answer of 1 GB": "idle_lanes = 'x' * (1 << 30)",
    "an answer of many": "idle_lanes = tuple(range(10_000_000))",
    "an answer that is deep": "idle_lanes = 1\nfor _ in range(100_000): idle_lanes = (idle_lanes,)",
    "an answer that holds itself": "idle_lanes = []; idle_lanes.append(idle_lanes)",
    "an answer that is large": "idle_lanes = 1 << 1_000_000",
    "an answer with escapes": "idle_lanes = '\\x1b[2J\\x1b]0;x\\x07=cmd|\\' /C calc\\'!A0\\r\\n=1+1'",
    "an answer that cannot be shown": "class A:\n    def __repr__(self): raise BaseException('no')\nidle_lanes = A()",
    "a result of 10 GB": "import torch\nrelu = lambda x: torch.empty(10 << 28)",
    "a result that is sparse": "import torch\nrelu = lambda x: x.to_sparse()",
    "a result on no device": "import torch\nrelu = lambda x: torch.empty(x.shape, device='meta')",
    "an error that is no exception": "def relu(x): raise KeyboardInterrupt",
    "an answer that exits": "def relu(x): raise SystemExit(0)",
    "a recursion": "def relu(x): return relu(x)",
    "no limits": (
        "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (-1, -1))\nx = bytearray(b'1') * (20 << 30)"
    ),
    "write noise to the judge": _FD + "os.write(fd, b'\\xff' * 100)\nos._exit(0)",
    "write a list to the judge": _FD + "t = b'[1]'; os.write(fd, struct.pack('<II', len(t), 0) + t)\nos._exit(0)",
    "write no UTF-8 to the judge": _FD
    + "t = b'{\"a\": \"\\xff\"}'; os.write(fd, struct.pack('<II', len(t), 0) + t)\nos._exit(0)",
    "write brackets to the judge": _FD
    + "t = b'[' * 200000; os.write(fd, struct.pack('<II', len(t), 0) + t)\nos._exit(0)",
    "write large sizes to the judge": _FD + "os.write(fd, struct.pack('<IIQ', 2, 1, 1 << 62) + b'{}')\nos._exit(0)",
    "write solved to the judge": _FD
    + (
        "t = json.dumps({'exercise': 'relu', 'solved': True, 'message': '', 'value': 1}).encode()\n"
        "for _ in range(10): os.write(fd, struct.pack('<II', len(t), 0) + t)\nos._exit(0)"
    ),
    "write half a message, and never more": _FD + "os.write(fd, struct.pack('<II', 100, 0) + b'{')\nwhile True: pass",
    "flood the judge": _FD + "t = b'{}'\nwhile True: os.write(fd, struct.pack('<II', 2, 0) + t)",
    "hang up": _FD + "os.close(fd)",
    "types that no message has": (
        "from triton_lab.course.judging import answering_process as child\n"
        "import random\nodd = [None, 1, -1, 'x', [], {}, {'tensor': 1}, 1e308, True, [[[]]]]\n"
        "child._answered = lambda *a: {k: random.choice(odd) for k in ('value', 'inputs', 'given', 'launches', 'fault', 'memory')}"
    ),
    "look for the judge": (
        "import os\nfor p in os.listdir('/proc'):\n    if p.isdigit() and p != str(os.getpid()):\n"
        "        try: f = open(f'/proc/{p}/mem', 'r+b'); f.seek(int(open(f'/proc/{p}/maps').readline().split('-')[0], 16)); f.write(bytes(4096))\n"
        "        except OSError: pass"
    ),
    "trace the judge": (
        "import ctypes, os\nlibc = ctypes.CDLL(None)\nfor p in (1, os.getppid()): libc.ptrace(16, p, 0, 0); libc.ptrace(8, p, 0, 0)\nos._exit(0)"
    ),
    "mount": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.unshare(0x10020000); libc.mount(b'none', b'/', None, 32 | 4096, None)\n"
        "libc.umount2(b'/proc', 2); libc.mount(b'proc', b'/proc', b'proc', 0, None)\nimport os; os._exit(0)"
    ),
    "write to the package": (
        "import triton_lab.course.exercise_kinds as k\nopen(k.__file__, 'a').write('\\nException.x = 1\\nraise SystemExit')"
    ),
    "write to what is shared": (
        "import os\nfor f in ('/tmp', '/var/tmp', '/dev/shm', os.path.expanduser('~root'), '/'):\n"
        "    try: open(f + '/hostile', 'w').write('x')\n    except OSError: pass\nos._exit(0)"
    ),
    "delete the others": (
        "import glob, os\nfor f in glob.glob('/tmp/*/*.ipynb'):\n    try: os.unlink(f)\n    except OSError: pass"
    ),
    "connect": "import socket; socket.create_connection(('127.0.0.1', 22), 2)",
    "a shell": "import os; os.execv('/bin/sh', ['sh', '-c', 'sleep 1000 & exit 0'])",
    "another program": _OUT + "subprocess.Popen(['sleep', '1000'], start_new_session=True); import os; os._exit(0)",
    "an end that takes long": "import atexit, time; atexit.register(time.sleep, 10**6); raise SystemExit",
    "magics": "%reset -f\n%run /dev/zero",
    "a handler of IPython's": "get_ipython().run_cell = None; get_ipython().user_ns.clear()",
}
