"""%%triton and %triton in an IPython shell, without a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from tests.wordings import Wording
from triton_lab.backend.plugin import recorders
from triton_lab.interpreter.kernel_errors import KernelError, StepLimit
from triton_lab.notebook.cell.magic_options import VIEWS, usage
from triton_lab.notebook.cell.status_text import environment
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.card.launch_table import LaunchTable

KERNEL = """\
import torch
import triton
import triton.language as tl
@triton.jit
def factor(x):
    return x * 2
@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, factor(tl.load(x_ptr + i, mask=i < n)), mask=i < n)
x = torch.ones(10)
"""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """``cell(text)`` runs a cell; ``cards`` collects what is shown; ``error()`` is the text of the last failure."""
    ipython = InteractiveShell.instance()
    monkeypatch.setattr(ipython, "_showtraceback", lambda kind, value, text: shown.errors.append("\n".join(text)))
    shown = SimpleNamespace(cards=[], how=[], errors=[], ipython=ipython, names=ipython.user_ns)

    def display(view: Any, **how: Any) -> None:
        shown.cards.append(view)
        shown.how.append(how)

    monkeypatch.setattr("IPython.display.display", display)
    shown.cell = lambda text: ipython.run_cell(text)
    shown.error = lambda: COLOURS.sub("", shown.errors[-1])
    assert shown.cell("%load_ext triton_lab").success
    yield shown
    ipython.run_line_magic("unload_ext", "triton_lab")
    InteractiveShell.clear_instance()


@pytest.fixture
def run(shell: SimpleNamespace) -> Callable[[str], Any]:
    assert shell.cell("%%triton cpu\n" + KERNEL + "scale[(2,)](x, 10, BLOCK=8)").success, shell.errors
    shell.cards.clear()
    return shell.cell  # type: ignore[no-any-return]


def test_a_cell_runs_and_shows_each_launch(shell: SimpleNamespace) -> None:
    result = shell.cell("%%triton cpu\n" + KERNEL + "scale[(2,)](x, 10, BLOCK=8)\nscale[(1,)](x, 8, BLOCK=8)\nx")
    assert result.success
    assert result.result is shell.names["x"]
    assert [type(card) for card in shell.cards] == [Card, Card]
    assert [card.launch.grid for card in shell.cards] == [(2, 1, 1), (1, 1, 1)]
    assert shell.how[0]["metadata"] == {"triton_lab": {"target": "cpu"}}
    assert shell.names["x"].tolist() == [4.0] * 8 + [2.0] * 2


def test_names_stay_and_no_others_appear(shell: SimpleNamespace) -> None:
    before = set(shell.names)
    shell.cell("%%triton cpu\n" + KERNEL + "scale[(2,)](x, 10, BLOCK=8)")
    added = {name for name in set(shell.names) - before if not name.startswith("_")}
    assert added == {"torch", "triton", "tl", "factor", "scale", "x"}


def test_the_lines_of_accesses_are_those_of_the_editor(shell: SimpleNamespace) -> None:
    shell.cell("%%triton cpu\n" + KERNEL + "scale[(2,)](x, 10, BLOCK=8)")
    # The magic's line is 1, so the kernel's tenth line is the eleventh.
    assert {access.line for access in shell.cards[0].launch.accesses} == {11}


def test_a_helper_defined_anew_takes_effect_at_the_next_launch(
    run: Callable[[str], Any], shell: SimpleNamespace
) -> None:
    run("@triton.jit\ndef factor(x):\n    return x * 10\n")
    run("%%triton cpu\ny = torch.ones(10)\nscale[(2,)](y, 10, BLOCK=8)")
    assert shell.names["y"].tolist() == [10.0] * 10


def test_a_global_that_changes_takes_effect_at_the_next_launch(shell: SimpleNamespace) -> None:
    shell.cell("%%triton cpu\n" + KERNEL)
    shell.cell(
        "%%triton cpu\nSTEP = tl.constexpr(3)\n@triton.jit\ndef plus(p):\n    tl.store(p, tl.load(p) + STEP)\n"
        "z = torch.zeros(1)\nplus[(1,)](z)"
    )
    shell.cell("STEP = tl.constexpr(40)")
    shell.cell("%%triton cpu\nplus[(1,)](z)")
    assert shell.names["z"].item() == 43


def test_an_exception_shows_the_users_own_lines(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    result = run("%%triton cpu\ndef f():\n    return 1 / 0\nf()")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "this cell, line 4" in shell.error()
    assert "this cell, line 3, in f" in shell.error()
    assert "magics.py" not in shell.error()
    assert "site-packages" not in shell.error()


@pytest.mark.parametrize("above", ["", "\n", "\n  \n\n"])
def test_lines_count_from_the_top_of_the_cell(shell: SimpleNamespace, above: str, wording: Wording) -> None:
    shell.ipython.run_cell(f"{above}%%triton cpu\ndef f():\n    return 1 / 0\nf()\n", store_history=True)
    top = above.count("\n")
    outer, inner = (line for line in shell.error().splitlines() if " line " in line)
    wording(outer, line=top + 4)
    wording(inner, line=top + 3, function="f")


def test_a_launch_out_of_bounds_shows_its_card_and_its_line(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    result = run("%%triton cpu\nscale[(2,)](x, 16, BLOCK=8)")
    assert isinstance(result.error_in_exec, KernelError)
    assert "touches element 10 of x_ptr" in shell.error()
    assert "this cell, line 2" in shell.error()
    (card,) = shell.cards
    assert [finding.kind for finding in card.launch.findings] == ["out-of-bounds"]
    assert run("%%triton cpu\nscale[(2,)](x, 10, BLOCK=8)").success


def test_an_error_of_the_front_end_has_the_cells_line_and_a_caret(
    run: Callable[[str], Any], shell: SimpleNamespace
) -> None:
    run("%%triton cpu\n@triton.jit\ndef bad(p):\n    v = tl.load(p)\n    tl.store(p, missing(v))\nbad[(1,)](x)")
    lines = shell.error().split("\n")
    place = next(k for k, line in enumerate(lines) if "`missing` is not defined" in line)
    shown = ["  this cell, line 5", "        tl.store(p, missing(v))", "                    ^^^^^^^"]
    assert lines[place + 1 : place + 4] == shown


def test_a_syntax_error_has_the_cells_line_and_a_caret(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    assert not run("%%triton cpu\nx = 1\ndef f(:\n    pass").success
    assert "this cell, line 3" in shell.error()
    assert re.search(r"--> +3 def f\(:\n +\^", shell.error())


@pytest.mark.parametrize("line", ["await later()", "value = await later()", "async with later():\n    pass"])
def test_a_cell_that_awaits_is_told_what_to_do_and_runs_nothing(
    line: str, run: Callable[[str], Any], shell: SimpleNamespace, wording: Wording
) -> None:
    assert not run(f"%%triton cpu\nran = True\n{line}\n").success
    wording(shell.error().splitlines()[-1])
    assert "this cell, line 3" in shell.error() and line.split("\n")[0] in shell.error()
    assert "ran" not in shell.names


def test_another_word_in_the_wrong_place_is_pythons_to_tell(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    assert not run("%%triton cpu\nreturn 3").success
    assert "'return' outside function" in shell.error()


@pytest.mark.parametrize("argument", ["[1.0, 2.0]", "torch.zeros(4).to_sparse()", "fake(4)"])
def test_what_is_no_tensor_is_named(
    argument: str, run: Callable[[str], Any], shell: SimpleNamespace, wording: Wording
) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    def fake(size: int) -> torch.Tensor:
        with FakeTensorMode():
            return torch.zeros(size)

    shell.names |= {"np": np, "fake": fake}
    for given in (argument, f"x_ptr={argument}"):
        assert not run(f"%%triton cpu\nscale[(1,)]({given}, n=4, BLOCK=8)").success
        wording(shell.error().splitlines()[-1].strip(), argument, name="'x_ptr'")


@pytest.mark.parametrize(
    ("launch", "facts"),
    [
        ("scale[(1,)](x, BLOCK=8)", {"missing": "n"}),
        ("scale[(1,)](x)", {"missing": "n, BLOCK"}),
        ("scale[(1,)](x, 4, BLOCKS=8)", {"unknown": "BLOCKS"}),
        ("scale[(1,)](x, 4, BLOCK=8, num_wraps=4)", {"unknown": "num_wraps", "meant": "num_warps"}),
        ("scale[(1,)](x, 4, 8, 9)", {"takes": "3 arguments", "given": 4}),
        ("scale[(1,)](x, 4, 8, BLOCK=8)", {"twice": "BLOCK"}),
        ("scale[(1,)](x, 4, BLOCK=8, num_warps=3)", {}),
        ("scale[(1,)](x, 'four', BLOCK=8)", {"name": "'n'", "type": "str"}),
        ("scale(x, 4, BLOCK=8)", {"kernel": "scale"}),
        ("scale((2,), x, 4, BLOCK=8)", {"meant": "scale[(2,)]"}),
        ("scal[(1,)](x, 4, BLOCK=8)", {"meant": "scale"}),
        ("undefined_anywhere[(1,)](x, 4, BLOCK=8)", {"name": "undefined_anywhere"}),
        ("scale[(triton.cdivv(4, 8),)](x, 4, BLOCK=8)", {"meant": "cdiv"}),
        ("np.zeros(4)", {"write": "import numpy as np"}),
        ("scale[4](x, 4, BLOCK=8)", {"grid": 4}),
    ],
)
def test_a_launch_written_wrongly_is_explained(
    launch: str, facts: dict[str, Any], run: Callable[[str], Any], shell: SimpleNamespace, wording: Wording
) -> None:
    assert not run(f"%%triton cpu\n{launch}").success
    wording(shell.error().splitlines()[-1].strip(), launch, **facts)


def test_an_error_in_the_function_of_a_grid_is_not_told_as_one_of_the_kernel(
    run: Callable[[str], Any], shell: SimpleNamespace
) -> None:
    assert not run("%%triton cpu\nscale[lambda meta: (None.size,)](x, 4, BLOCK=8)").success
    assert re.search("AttributeError: 'NoneType' .* 'size'", shell.error())
    assert "Triton says" not in shell.error() and "this cell, line 2" in shell.error()


def test_a_target_that_is_missing_is_told_without_a_traceback_of_ours(
    run: Callable[[str], Any], shell: SimpleNamespace, wording: Wording
) -> None:
    assert not run("%%triton gpu\nx = None").success
    wording(shell.error())
    assert isinstance(shell.names["x"], torch.Tensor)


def test_a_tensor_without_memory_is_named(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    assert not run("%%triton cpu\nscale[(1,)](torch.ones(4, device='meta'), 4, BLOCK=8)").success
    assert "'x_ptr'" in shell.error()
    assert "meta" in shell.error()


def test_a_mistake_in_the_line_runs_nothing(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    assert not run("%%triton tpu\nx = None").success
    assert "'tpu'" in shell.error() and "gpu" in shell.error()
    assert not run("%%triton --target=gpu\nx = None").success
    assert "'--target'" in shell.error() and "auto, cpu, gpu, both" in shell.error()
    assert isinstance(shell.names["x"], torch.Tensor)


def test_a_cell_without_a_launch_says_what_it_defined(
    shell: SimpleNamespace, capsys: pytest.CaptureFixture[str], wording: Wording
) -> None:
    shell.cell("%%triton cpu\n" + KERNEL)
    assert "scale(x_ptr, n, BLOCK)" in capsys.readouterr().out
    shell.cell("%%triton cpu\n1 + 1")
    wording(capsys.readouterr().out)


def test_a_cell_that_launches_a_kernel_by_its_old_name_says_so(
    shell: SimpleNamespace, capsys: pytest.CaptureFixture[str], wording: Wording
) -> None:
    launch = "\nscale[(1,)](x, 4, BLOCK=8)"
    shell.cell("%%triton cpu\n" + KERNEL + launch)
    assert capsys.readouterr().out == "", "the kernel is the cell's own"
    shell.cell("%%triton cpu\n" + KERNEL.replace("def scale", "def rescale") + launch)
    wording(capsys.readouterr().out, defined="rescale", launched="scale")
    shell.cell("%%triton cpu" + launch)
    assert capsys.readouterr().out == "", "a cell that defines no kernel"


def test_a_helper_of_a_launched_kernel_is_no_kernel_that_was_left_out(
    shell: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    helper = "%%triton cpu\n@triton.jit\ndef twice(v):\n    return v + v\n"
    kernel = "@triton.jit\ndef calls(p):\n    tl.store(p, twice(tl.load(p)))\n"
    launch = "calls[(1,)](x)"
    shell.cell(helper + kernel + launch)
    shell.cell(helper + launch)
    assert capsys.readouterr().out == ""


def test_a_message_of_pythons_names_the_kernel(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    assert not run("%%triton cpu\nscale[(1,)](x, BLOCK=8)").success
    assert "TypeError: scale() missing" in shell.error() and "dynamic_func" not in shell.error()


def test_launches_that_were_not_recorded_are_told_at_each_run_and_are_launches(
    shell: SimpleNamespace, capfd: pytest.CaptureFixture[str], wording: Wording
) -> None:
    """On a GPU a kernel runs whose inline PTX the CPU target does not know."""
    shell.names["launch_on_the_gpu"] = lambda: (
        [each.missed("asm", "no CPU runs it") for each in recorders.recorders.hearing()] and None
    )
    for _ in range(2):
        shell.cell("%%triton cpu\nlaunch_on_the_gpu()")
        out, err = capfd.readouterr()
        wording(out, kernel="asm", reason="no CPU runs it")
        assert not err


def test_a_cell_magic_below_other_lines_says_where_it_belongs(shell: SimpleNamespace, wording: Wording) -> None:
    assert not shell.cell("# first\n%%triton cpu\nx = None").success
    wording(shell.error())


def test_a_limit_stops_a_loop_that_does_not_end(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    result = run(
        "%%triton cpu --limit 1000\n"
        "@triton.jit\n"
        "def forever(p):\n"
        "    i = tl.program_id(0)\n"
        "    while i >= 0:\n"
        "        i = (i + 1) % 7\n"
        "    tl.store(p, i)\n"
        "forever[(1,)](x)"
    )
    assert isinstance(result.error_in_exec, StepLimit)


def test_both_without_a_gpu_runs_the_cpus_half(run: Callable[[str], Any], shell: SimpleNamespace, capsys: Any) -> None:
    assert run("%%triton both\nscale[(2,)](x, 10, BLOCK=8)").success
    assert "no GPU" in capsys.readouterr().out
    assert shell.how[-1]["metadata"] == {"triton_lab": {"target": "cpu"}}


def test_many_launches_are_one_view_with_a_card_for_each(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    run("%%triton cpu --show none\nfor k in range(50):\n    scale[(1 + k % 2,)](x, 8, BLOCK=8)")
    (view,) = shell.cards
    assert isinstance(view, LaunchTable)
    assert shell.how[0]["metadata"] == {"triton_lab": {"target": "cpu"}}
    assert view.title() == "50 launches of 1 kernel"
    assert view.part("launch/49")["scene"]["grid"] == [2, 1, 1]


# These are there for kernels with shared memory alone.
@pytest.mark.parametrize("name", [name for name in VIEWS if name not in ("none", "pipeline", "shared_memory")])
def test_each_view_opens_its_tab_and_stands_in_the_static_picture(
    name: str, run: Callable[[str], Any], shell: SimpleNamespace
) -> None:
    launched = "scale[(2,)](x, 10, BLOCK=8)"
    if name == "autotune":  # which has its tab where an autotuner made the launch
        launched = "triton.autotune([triton.Config({'BLOCK': b}) for b in (8, 16)], key=['n'])(scale)[(2,)](x, 10)"
    plain = run(f"%%triton cpu --show none\n{launched}")
    assert plain.success and run(f"%%triton cpu --show {name}\n{launched}").success
    bare, card = shell.cards
    data, _ = card._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    if name in ("source", "findings"):
        return
    assert card.scene()["opened"] == name
    assert card.figure().get_size_inches()[1] > bare.figure().get_size_inches()[1] + 0.5, "a picture was added"


def test_a_tab_that_is_asked_for_and_not_there_says_why(run: Callable[[str], Any], shell: SimpleNamespace) -> None:
    run("%%triton cpu --show autotune\nscale[(2,)](x, 10, BLOCK=8)")
    (card,) = shell.cards
    assert "@triton.autotune" in card.text()
    assert card.scene()["opened"] is None


def test_print_in_a_kernel_takes_f_strings(shell: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    shell.cell("%%triton cpu\n" + KERNEL)
    shell.cell(
        '%%triton cpu\n@triton.jit\ndef show(p):\n    v = tl.load(p + tl.program_id(0))\n    print(f"v = {v:.1f}")\n'
        "show[(3,)](torch.arange(3.0))"
    )
    printed = [line for line in capsys.readouterr().out.split("\n") if "v = " in line]
    assert printed == [f"pid ({k}, 0, 0) v = {k}.0" for k in range(3)]


def test_the_line_magic_tells_versions_and_targets(shell: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    shell.cell("%triton")
    printed = capsys.readouterr().out
    assert f"torch {torch.__version__}" in printed
    assert "active:  cpu" in printed


@pytest.mark.parametrize("cell", ["%triton --help", "%%triton --help", "%%triton cpu -h\n\n", "%%triton --help\n1 / 0"])
def test_help_is_help(cell: str, shell: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.cell(cell).success
    assert capsys.readouterr().out.strip() == usage().strip()


def test_the_line_magic_refuses_other_words_and_says_what_there_is(shell: SimpleNamespace, wording: Wording) -> None:
    assert not shell.cell("%triton cpu").success
    wording(shell.error().splitlines()[-1], line="%%triton cpu")
    assert "magics.py" not in shell.error()


def test_a_cell_magic_without_a_body_is_still_an_error(shell: SimpleNamespace) -> None:
    assert not shell.cell("%%triton cpu").success


def test_triton_interpret_is_told(shell: SimpleNamespace, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    shell.cell("%triton")
    assert "TRITON_INTERPRET=1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("TRITON_INTERPRET", {None: False, "": False, "0": False, "1": True}),
        ("TRITON_DEFAULT_BACKEND", {None: False, "": False, "triton_lab": False, "nvidia": True}),
    ],
)
def test_the_environment_is_told_where_it_is_not_ours(
    name: str, values: dict[str | None, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in ("TRITON_INTERPRET", "TRITON_DEFAULT_BACKEND"):
        monkeypatch.delenv(each, raising=False)
    for value, is_told in values.items():
        if value is not None:
            monkeypatch.setenv(name, value)
        assert [line.startswith(f"{name}={value}: ") for line in environment()] == [True] * is_told, value


def test_an_interrupted_cell_shows_its_line_and_draws_nothing(
    shell: SimpleNamespace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    monkeypatch.setattr("triton_lab.launch.checks.check_run.check", lambda launch: pytest.fail("checked"))
    monkeypatch.setattr("triton_lab.backend.plugin.launcher.progress", None)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    shell.names["interrupted_from_here"] = lambda: monkeypatch.setattr(
        "triton_lab.backend.plugin.launcher.progress", interrupt
    )
    launch = "scale[(2,)](x, 10, BLOCK=8)"
    shell.cell(f"%%triton cpu\n{KERNEL}{launch}\ninterrupted_from_here()\n{launch}")
    assert shell.cards == []
    assert f"-->   15 {launch}" in shell.error() and shell.error().splitlines()[-1].startswith("KeyboardInterrupt")
    told = capsys.readouterr().out
    wording(re.sub(r"after [\d.]+ \w+", "after TIME", told), launch="scale[2, 1, 1]", ended="1 launch")


def test_an_interrupt_while_drawing_is_told_without_our_own_code(
    shell: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    def interrupted(view: Any, **how: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("IPython.display.display", interrupted)
    shell.cell("%%triton cpu\n" + KERNEL + "scale[(2,)](x, 10, BLOCK=8)")
    wording(shell.error(), error="KeyboardInterrupt")
