"""Where an error points: file, line and carets, on every version of Triton."""

from __future__ import annotations

import importlib.util
import linecache
import re
import types

import pytest
import triton
import triton.language as tl

from tests.backend.failing import failure, underlined
from triton_lab.backend.source.kernel_source import KernelSource, is_tritons
from triton_lab.ir import Location

FAR = tl.constexpr(1 << 20)


# The layout is what is tested.
# fmt: off


@triton.jit
def one_line(x, y):
    tl.store(y, tl.load(x + FAR) + 1)  # underlined: tl.load(x + FAR)


@triton.jit
def nested_call(x, y):
    tl.store(y + FAR, tl.load(x))  # underlined: tl.store(y + FAR, tl.load(x))


@triton.jit
def chained(x, y):
    tl.store(y, tl.load(x + FAR).to(tl.int32).to(tl.float32))  # underlined: tl.load(x + FAR)


@triton.jit
def keywords_last(x, y):
    tl.store(value=tl.load(x), pointer=y + FAR)  # underlined: tl.store(value=tl.load(x), pointer=y + FAR)


@triton.jit
def load_over_lines(x, y):
    value = 1 + tl.load(  # the load's first line
        x
        + tl.arange(
            0, 8
        ),
        mask=tl.arange(0, 8) < 8,
        other=0.0,
    )
    tl.store(y + tl.arange(0, 8), value)


@triton.jit
def store_over_lines(x, y):
    tl.store(  # the store's first line
        y
        + FAR,
        tl.load(
            x,
        ) * 2,
        mask=tl.load(x)
        > -1,
    )


@triton.jit
def wide_characters(x, y):
    "größe 你好"; tl.store(y, tl.load(x + FAR))  # noqa: E702  # underlined: tl.load(x + FAR)


@triton.jit
def atomic(x, y):
    tl.store(y, tl.atomic_add(x + FAR, 1.0))  # underlined: tl.atomic_add(x + FAR, 1.0)


@triton.jit
def in_branches(x, y):
    for _ in range(2):
        if tl.load(x) < 100.0:
            tl.store(y - FAR, 1.0)  # underlined: tl.store(y - FAR, 1.0)


@triton.jit
def helper(pointer,
           distance):
    return tl.load(pointer +  # in the helper
                   distance)


@triton.jit
def through_a_helper(x, y):
    tl.store(y, helper(x, FAR))


@triton.jit
def middle(x):
    return helper(x, FAR) * 2  # the middle call


@triton.jit
def through_two_helpers(x, y):
    tl.store(y, middle(x))  # the outer call


@triton.jit(noinline=True)
def outlined(pointer):
    return tl.load(pointer + FAR)  # underlined: tl.load(pointer + FAR)


@triton.jit
def through_a_call(x, y):
    tl.store(y, outlined(x))


class Holder:
    @staticmethod
    @triton.jit
    def kernel(x, y):
        tl.store(y, tl.load(x + FAR))  # underlined: tl.load(x + FAR)


def make_closure(distance):
    offset = tl.constexpr(distance)
    if distance:

            @triton.jit
            def closure(x, y):
                tl.store(y, tl.load(x +  # in a closure
                                    offset))

    return closure


# fmt: on


def line_of(marker: str, file: str = __file__) -> int:
    return next(n for n, text in enumerate(linecache.getlines(file), 1) if text.rstrip().endswith(f"# {marker}"))


MARKED = [
    one_line,
    nested_call,
    chained,
    keywords_last,
    wide_characters,
    atomic,
    in_branches,
    through_a_call,
    Holder.kernel,
]


@pytest.mark.parametrize("kernel", MARKED, ids=lambda kernel: kernel.__name__)
def test_carets_stand_under_the_access_and_the_line_is_the_files(kernel):
    error = failure(kernel)
    (found,) = underlined(error)
    lines = linecache.getlines(__file__)
    (number,) = (int(n) for n in re.findall(re.escape(__file__) + r", line (\d+)", str(error)))
    assert lines[number - 1].rstrip().endswith(f"# underlined: {found}")


def test_an_access_over_several_lines_is_underlined_on_its_first():
    for kernel, word in ((load_over_lines, "load"), (store_over_lines, "store")):
        error = failure(kernel)
        (code,) = underlined(error)
        assert code.startswith(f"tl.{word}(  #")
        number = line_of(f"the {word}'s first line")
        assert f"line {number}," in str(error)


def test_an_error_in_a_helper_shows_the_helper_and_its_callers():
    error = failure(through_two_helpers)
    assert underlined(error) == ["tl.load(pointer +  # in the helper", "helper(x, FAR)", "middle(x)"]
    lines = [line_of(marker) for marker in ("in the helper", "the middle call", "the outer call")]
    assert [int(n) for n in re.findall(r", line (\d+)", str(error))] == lines
    assert "in kernel through_two_helpers" in str(error)
    assert underlined(failure(through_a_helper)) == ["tl.load(pointer +  # in the helper", "helper(x, FAR)"]


def test_an_indented_kernel_is_underlined_as_it_stands_in_the_file():
    error = failure(make_closure(1 << 20))
    assert underlined(error) == ["tl.load(x +  # in a closure"]
    assert f"line {line_of('in a closure')}," in str(error)


def module_of(path, name: str, text: str) -> types.ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TWIN = """
import triton
import triton.language as tl

@triton.jit
def twin_helper(x):
    return tl.load(x + 1048576)

@triton.jit
def twin(x, y):
    tl.store(y, twin_helper(x))
"""


def test_kernels_with_one_text_and_line_name_their_own_files(tmp_path):
    # Triton's cache on disk takes the second for the first.
    for name in ("first", "second"):
        file = tmp_path / f"{name}.py"
        text = str(failure(module_of(file, name, TWIN).twin))
        assert re.findall(r"(\S+), line (\d+)", text) == [(str(file), "7"), (str(file), "11")]


def test_a_helper_of_another_file_is_shown_from_there(tmp_path):
    helpers = module_of(tmp_path / "helpers.py", "helpers", TWIN)
    file = tmp_path / "user.py"
    user = module_of(
        file,
        "user",
        "import triton\nimport triton.language as tl\n\n\ndef make(helpers):\n    @triton.jit\n"
        "    def kernel(x, y):\n        tl.store(y, helpers.twin_helper(x))\n\n    return kernel\n",
    )
    error = failure(user.make(helpers))
    assert re.findall(r"(\S+), line (\d+)", str(error)) == [(str(tmp_path / "helpers.py"), "7"), (str(file), "8")]
    assert underlined(error) == ["tl.load(x + 1048576)", "helpers.twin_helper(x)"]


def test_lines_of_another_installation_of_triton_are_not_the_users():
    # Triton's cache is one for all environments of a user, and keeps the paths of the one that compiled.
    first, there = line_of("underlined: tl.load(x + FAR)"), "/elsewhere/lib/site-packages"
    user = Location(__file__, first, 17)
    inner = Location(f"{there}/triton/language/standard.py", 314, 12, caller=user)
    compiled = types.SimpleNamespace(kernel=types.SimpleNamespace(location=Location(__file__, first - 1, 1)))
    written = KernelSource(one_line, compiled)
    assert [(place.file, place.line) for place in written.places(inner)] == [(__file__, first)]
    assert is_tritons(triton.language.standard.__file__) and not is_tritons(f"{there}/tritonkernels/sum.py")


def test_a_kernel_without_source_gets_tritons_own_error():
    namespace: dict[str, object] = {"triton": triton, "tl": tl}
    with pytest.raises(ValueError, match="Python file"):
        exec("@triton.jit\ndef kernel(x):\n    tl.store(x, 1)\n", namespace)
