"""The plugin as Triton and torch see it: there when nothing else is, and out of the way otherwise."""

from __future__ import annotations

import pytest
import triton
from triton.backends import Backend, backends
from triton.backends.driver import DriverBase

from tests.backend.process import finished, run
from triton_lab.backend.driver import CPUDriver

KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

x, y = torch.arange(6.0), torch.zeros(6)
"""
LAUNCH = KERNEL + "add[(2,)](x, y, 6, BLOCK=4)\nprint(y.tolist())\n"
RESULT = "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]"
# From 3.7 Triton looks at TRITON_DEFAULT_BACKEND.
heeds_default = pytest.mark.skipif(
    tuple(map(int, triton.__version__.split(".")[:2])) < (3, 7), reason="this Triton ignores the variable"
)


def test_a_plain_script_runs_on_tensors_of_the_cpu(tmp_path):
    assert run(LAUNCH, folder=tmp_path) == RESULT


def test_without_the_plugin_it_does_not(tmp_path):
    assert "0 active drivers" in finished(LAUNCH, hidden=True, folder=tmp_path).stderr


def test_importing_triton_loads_little_of_us():
    script = """
    import sys
    import triton
    print(sorted(name for name in sys.modules if name.startswith("triton_lab")))
    print([name for name in ("numpy", "torch", "matplotlib", "IPython") if name in sys.modules])
    """
    ours, others = run(script, bare=True).split("\n")
    wanted = [f"triton_lab.backend.{name}" for name in ("compiler", "driver", "identity")]
    assert ours == str(["triton_lab", "triton_lab.backend", *wanted, "triton_lab.localization"])
    assert others == run(script, hidden=True, bare=True).split("\n")[1]


def test_the_variable_of_tritons_own_interpreter_is_respected(tmp_path):
    script = LAUNCH + "print(type(add).__name__)\nimport sys\nprint('triton_lab.interpreter' in sys.modules)\n"
    printed = run(script, folder=tmp_path, TRITON_INTERPRET="1").split("\n")
    assert printed == [RESULT, "InterpretedFunction", "False"]


def test_the_variable_of_the_default_backend_may_name_us(tmp_path):
    assert run(LAUNCH, folder=tmp_path, TRITON_DEFAULT_BACKEND="triton_lab") == RESULT


@heeds_default
def test_the_variable_of_the_default_backend_may_name_another(tmp_path):
    error = finished(LAUNCH, folder=tmp_path, TRITON_DEFAULT_BACKEND="nvidia").stderr.splitlines()[-1]
    assert error.startswith("RuntimeError: ") and "'nvidia'" in error


@heeds_default
def test_a_switch_to_the_cpu_works_where_the_default_backend_does_not(tmp_path):
    script = (
        KERNEL
        + "import triton_lab as lab\n"
        + "with lab.target('cpu'):\n    add[(2,)](x, y, 6, BLOCK=4)\nprint(y.tolist())\n"
        + "try:\n    add[(2,)](x, y, 6, BLOCK=4)\nexcept RuntimeError as error:\n    print(error)\n"
    )
    result, error = run(script, folder=tmp_path, TRITON_DEFAULT_BACKEND="nvidia").split("\n")
    assert result == RESULT and "'nvidia'" in error


class Other(DriverBase):
    """Another plugin, which looks whether anybody else is active before it is itself."""

    modest = True

    @classmethod
    def is_active(cls) -> bool:
        others = (b.driver for b in backends.values() if b.driver is not cls)
        return not (cls.modest and any(driver.is_active() for driver in others))

    def map_python_to_cpp_type(self, ty):
        return ty

    def get_current_target(self):
        raise NotImplementedError

    get_active_torch_device = get_benchmarker = get_current_target


@pytest.mark.parametrize("modest", [True, False])
def test_two_plugins_that_ask_each_other_come_to_an_end_and_one_is_active(monkeypatch, modest):
    monkeypatch.setitem(backends, "other", Backend(compiler=None, driver=Other))
    monkeypatch.setattr(Other, "modest", modest)
    for first, second in ((CPUDriver, Other), (Other, CPUDriver)):
        assert [first.is_active(), second.is_active()].count(True) == 1


@heeds_default
@pytest.mark.parametrize(("named", "active"), [("triton_lab", True), ("other", False)])
def test_the_variable_decides_where_there_is_another_device(monkeypatch, named, active):
    monkeypatch.setitem(backends, "other", Backend(compiler=None, driver=Other))
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", named)
    assert CPUDriver.is_active() is active


@pytest.mark.skipif(heeds_default.args[0] is False, reason="this Triton heeds the variable")
def test_a_triton_that_ignores_the_variable_is_not_given_two_drivers(monkeypatch):
    monkeypatch.setitem(backends, "other", Backend(compiler=None, driver=Other))
    monkeypatch.setattr(Other, "modest", False)
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "triton_lab")
    assert not CPUDriver.is_active()


def test_where_another_device_is_active_we_are_not(monkeypatch):
    monkeypatch.setitem(backends, "other", Backend(compiler=None, driver=Other))
    monkeypatch.setattr(Other, "modest", False)
    assert not CPUDriver.is_active()


def test_torch_sees_triton_and_compiles_for_the_cpu_as_without_us(tmp_path):
    script = """
    import torch
    from torch.utils._triton import has_triton
    from torch._inductor.utils import run_and_get_code

    print(has_triton())
    x = torch.arange(12.0)
    try:
        result, code = run_and_get_code(torch.compile(lambda x: x * 2 + 1), x)
        print(torch.equal(result, x * 2 + 1), "triton_lab" in code[0])
    except Exception as error:  # no C++ compiler
        print(type(error).__name__, str(error).split("\\n")[0])
    """
    # The code is written twice; what its text has been compiled to once is found by that text.
    # Neither what compiles beside it, nor what tries which vectors the processor has: both are processes with torch.
    process = {
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path),
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_VEC_ISA_OK": "1",
    }
    seen, hidden = (run(script, hidden=hidden, **process) for hidden in (False, True))
    assert seen == hidden
    assert seen.startswith("False\n")


def test_no_module_of_triton_is_changed(tmp_path):
    script = (
        KERNEL
        + """
import sys
def contents():
    return {
        (name, key): id(value)
        for name, module in list(sys.modules.items())
        if name.split(".")[0] == "triton" and module is not None
        for key, value in list(vars(module).items())
        if callable(value)
    }
add[(2,)](x, y, 6, BLOCK=4)
before, methods = contents(), {n: id(v) for n, v in vars(type(add)).items()}
import triton_lab as lab
with lab.record() as launches, lab.target("cpu"), lab.limits(max_steps=5):
    add[(2,)](x, y, 6, BLOCK=4)
launches[0].findings
after = contents()
print(all(after[key] == value for key, value in before.items()))
print(methods == {n: id(v) for n, v in vars(type(add)).items()})
print(sorted(name for name in globals() if name not in ("lab", "launches") and "lab" in name))
"""
    )
    assert run(script, folder=tmp_path).split("\n") == ["True", "True", "[]"]
