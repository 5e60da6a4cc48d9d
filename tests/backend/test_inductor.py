"""torch.compile with `cpu_backend="triton"`: Inductor's kernels for the CPU are Triton's, and we run them."""

from __future__ import annotations

from tests.backend.process import run

# Each model forward and backward, compiled and not; a warning of Inductor's is an error.
MODELS = """
import os, warnings
warnings.filterwarnings("error", "Could not find an active CPU backend")
import torch, torch._inductor.config as config, triton.runtime, triton_lab
from torch import nn
from torch._inductor.runtime.benchmarking import Benchmarker

config.cpu_backend = "triton"

# Inductor tries several configurations of each kernel, for 120 ms each: once is enough, and any may win.
def once(self, called, *_, **__):
    called()
    return 1.0
Benchmarker.benchmark_cpu = once

torch.manual_seed(0)
linear, norm = nn.Linear(19, 33), nn.LayerNorm(33)
MODELS = {
    "perceptron": (nn.Sequential(linear, nn.GELU(), norm, nn.Linear(33, 7)), [torch.randn(5, 19)]),
    "attention": (nn.MultiheadAttention(16, 4, batch_first=True), [torch.randn(2, 9, 16)] * 3),
    "convolution": (
        nn.Sequential(nn.Conv1d(3, 5, 3), nn.BatchNorm1d(5), nn.ReLU(), nn.MaxPool1d(2)),
        [torch.randn(2, 3, 18)],
    ),
    "embedding": (
        nn.Sequential(nn.Embedding(50, 12), nn.RMSNorm(12), nn.Linear(12, 3), nn.Softmax(-1)),
        [torch.randint(0, 50, (4, 6))],
    ),
}

def results(model, called, arguments):
    model.zero_grad()
    out = called(*arguments)
    out = out[0] if isinstance(out, tuple) else out
    (out * torch.linspace(-1, 1, out.numel()).view(out.shape)).sum().backward()
    return [out.detach(), *(weight.grad.clone() for weight in model.parameters())]

for name in os.environ["MODELS"].split():
    model, arguments = MODELS[name]
    with triton_lab.record() as launches:
        ours = results(model, torch.compile(model), arguments)
    for a, b in zip(ours, results(model, model, arguments), strict=True):
        torch.testing.assert_close(a, b)
    wrong = [str(finding) for launch in launches for finding in launch.findings if finding.severity == "error"]
    print(name, bool(launches), {launch.target for launch in launches}, wrong)
"""


def test_small_models_agree_with_eager_and_nothing_is_warned_of(tmp_path):
    names = ["perceptron", "attention", "convolution", "embedding"]
    wanted = [f"{name} True {{'cpu'}} []" for name in names]
    # Processes that compile beside it would each import torch: all is compiled here.
    process = {
        "folder": tmp_path,
        "seconds": 280,
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }
    assert run(MODELS, **process, MODELS=" ".join(names)).split("\n") == wanted
    # What another process compiled is found again, and then Inductor asks for the backend first of all.
    assert run(MODELS, **process, MODELS=names[0]).split("\n") == wanted[:1]


def test_the_name_is_taken_only_when_inductor_was_told_to_use_triton(tmp_path):
    script = """
    import sys, torch, triton
    from triton.backends import backends
    from triton_lab.backend.driver import CPUDriver
    driver = CPUDriver()
    driver.get_current_target()
    print("cpu" in backends, "torch._inductor" in sys.modules)
    import torch._inductor.config as config
    driver.get_current_target()
    print("cpu" in backends)
    config.cpu_backend = "triton"
    driver.get_current_target()
    print(isinstance(backends["cpu"].driver(), CPUDriver), backends["cpu"].driver.is_active())
    from triton.compiler.compiler import make_backend
    print(type(make_backend(driver.get_current_target())).__name__, type(triton.runtime.driver.active).__name__)
    """
    assert run(script, folder=tmp_path).split("\n") == ["False False", "False", "True False", "CPUBackend CPUDriver"]


# A user's own kernel in a compiled function, where Inductor writes C++ for all else.
OWN_KERNEL = """
import warnings
warnings.filterwarnings("error", "Could not find an active CPU backend")
import torch, triton, triton.language as tl
from torch.library import triton_op, wrap_triton

@triton.jit
def sine(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.sin(tl.load(x_ptr + i, i < n)), i < n)

@triton_op("lab_tests::sine", mutates_args={})
def sine_of(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    wrap_triton(sine)[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), 64)
    return out

x = torch.randn(100)
torch.testing.assert_close(torch.compile(lambda x: sine_of(x) * 2, fullgraph=True)(x), x.sin() * 2)
print("right")
"""


def test_a_users_kernel_in_a_compiled_function_is_no_reason_for_a_warning(tmp_path):
    process = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    assert run(OWN_KERNEL, folder=tmp_path, seconds=280, **process) == "right"
