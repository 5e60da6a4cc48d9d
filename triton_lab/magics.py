"""The magics ``%%triton`` and ``%triton``.

They exist in every IPython of an environment that has the lab, so nothing else is imported until one is used.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from triton_lab.localization import _

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from triton_lab.launch.launch import Launch
    from triton_lab.notebook.cell.magic_options import Options
    from triton_lab.notebook.cell.progress_line import Sign


class _Follow:
    """After each cell, follows the kernels that it defined, and has their errors shown with the user's lines."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def __call__(self, *_: Any) -> None:
        import sys

        from triton_lab.notebook.cell import excepthook

        if "triton" in sys.modules:
            from triton_lab.notebook.cell.kernel_freshness import follow_all

            follow_all(self.shell.user_ns)
        excepthook.tell(self.shell)


_hooks: dict[int, _Follow] = {}


def offer(shell: Any) -> None:
    """Register the magics in an IPython shell, and accept JupyterLab's extension; nothing else is imported yet."""
    from triton_lab.launch.recording import progress_callback
    from triton_lab.notebook.cell import compiled_kernel_text
    from triton_lab.notebook.extension import completion
    from triton_lab.notebook.startup.warmup import get_ready
    from triton_lab.views.extension_queries import DESK
    from triton_lab.views.frontend_presence import listen, standing

    listen(shell, lambda: get_ready(shell))
    standing[DESK] = _of_the_desk
    progress_callback.sign = lambda: _sign(shell)
    completion.offer(shell)
    compiled_kernel_text.offer(shell)
    shell.register_magic_function(triton_cell, "cell", "triton")
    shell.register_magic_function(triton_line, "line", "triton")
    shell.register_magic_function(_below_others, "line", "%triton")
    if _help_alone not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(_help_alone)


def _sign(shell: Any) -> contextlib.AbstractContextManager[object]:
    from triton_lab.notebook.cell.progress_line import where_none_is

    return where_none_is(shell)


def _of_the_desk(comm: Any, question: Mapping[str, Any]) -> None:
    from triton_lab.notebook.extension.extension_rpc import desk

    desk.asked(comm, question)


def _help_alone(lines: list[str]) -> list[str]:
    """Give a cell that only asks ``%%triton`` for help a body: IPython refuses a cell magic without one."""
    if not lines or not lines[0].startswith("%%triton ") or "".join(lines[1:]).strip():
        return lines
    from triton_lab.notebook.cell.magic_options import asks_for_help

    return ["%triton --help\n"] if asks_for_help(lines[0].removeprefix("%%triton ")) else lines


def register(shell: Any) -> None:
    """Add the magics to an IPython shell, whose kernels are followed from now on."""
    offer(shell)
    follow(shell)


def follow_once(shell: Any) -> None:
    """As `follow`, unless this shell's kernels are followed, or its magics were removed."""
    if id(shell) not in _hooks and "triton" in shell.magics_manager.magics["cell"]:
        follow(shell)


def follow(shell: Any) -> None:
    """Compile the notebook's kernels again when what they use has changed, and prepare the kernel for pictures."""
    from triton_lab.notebook.startup.warmup import get_ready

    hook = _hooks.setdefault(id(shell), _Follow(shell))
    if hook not in shell.events.callbacks["post_run_cell"]:
        shell.events.register("post_run_cell", hook)
    get_ready(shell)
    follow_all_quietly(shell)


def follow_all_quietly(shell: Any) -> None:
    """Follow the kernels that exist already."""
    _hooks[id(shell)]()


def unregister(shell: Any) -> None:
    """Remove the magics from a shell."""
    for kind in ("cell", "line"):
        shell.magics_manager.magics[kind].pop("triton", None)
    shell.magics_manager.magics["line"].pop("%triton", None)
    if _help_alone in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(_help_alone)
    from triton_lab.launch.recording import progress_callback
    from triton_lab.notebook.cell import compiled_kernel_text
    from triton_lab.notebook.extension import completion
    from triton_lab.notebook.startup.warmup import leave

    progress_callback.sign = contextlib.nullcontext
    completion.withdraw(shell)
    compiled_kernel_text.withdraw(shell)
    leave(shell)
    hook = _hooks.pop(id(shell), None)
    if hook is not None:
        shell.events.unregister("post_run_cell", hook)
        from triton_lab.notebook.cell import excepthook

        excepthook.forget(shell)


def triton_line(line: str) -> None:
    """Print versions, targets, and what is active, or choose the CPU target's engine; ``%triton --help`` says how."""
    __tracebackhide__ = True
    from triton_lab.notebook.cell import error_display, magic_options
    from triton_lab.notebook.cell.status_text import status

    if not line.strip():
        print(status())
    elif magic_options.asks_for_help(line):
        print(magic_options.usage())
    elif line.split()[0] == "engine" and len(line.split()) < 3:
        try:
            _engine(*line.split()[1:])
        except ValueError as error:
            raise error_display.plain(magic_options.UsageError(f"%triton {line.strip()}: {error}")) from None
    else:
        raise error_display.plain(
            magic_options.UsageError(
                _(
                    "%triton takes only --help and engine. To run a cell on a target, write %%triton {strip} "
                    "as its first line"
                ).format(strip=line.strip())
            )
        )


def _below_others(line: str) -> None:
    """What IPython takes ``%%triton`` for below other lines of a cell: a line magic by that name."""
    __tracebackhide__ = True
    from triton_lab.notebook.cell import error_display, magic_options

    raise error_display.plain(
        magic_options.UsageError(
            _("%%triton must be the first line of its cell. Move it to the top, above comments too.")
        )
    )


def _engine(name: str = "") -> None:
    """Choose an engine for later launches, or print the active one and what it ran. Raises ValueError."""
    from triton_lab.backend.targets.loop_and_memory_limits import limits
    from triton_lab.native.engine import checked
    from triton_lab.native.engine_report import engines
    from triton_lab.notebook.cell.status_text import engine

    if name:
        limits(engine=checked(name))
    print(_("engine:  {engine}").format(engine=engine()))
    if not name:
        print(engines())


def triton_cell(line: str, body: str) -> None:
    """Run a cell's kernels, launches and plain Python, and show its launches. ``%%triton --help``."""
    __tracebackhide__ = True
    from IPython.core.getipython import get_ipython

    from triton_lab.notebook.cell.progress_line import working

    shell = get_ipython()
    with working(shell) as sign:
        follow(shell)
        from triton_lab.notebook.cell import error_display, magic_options

        try:
            chosen = magic_options.parse(line)
        except magic_options.UsageError as error:
            raise error_display.plain(error) from None
        if chosen.help:
            print(magic_options.usage())
            return
        run_cell(shell, chosen, body, sign)


def run_cell(shell: Any, chosen: Options, body: str, sign: Sign) -> None:
    """Run ``body`` as the line says, show its launches, and raise the error that ended it."""
    from triton import knobs

    from triton_lab.backend.targets.active_target import TargetError
    from triton_lab.launch.recording.launch_list import Launches
    from triton_lab.launch.recording.record import record
    from triton_lab.launch.recording.unrecordable import NotRecorded
    from triton_lab.notebook.cell import error_display
    from triton_lab.notebook.cell import run_cell as cell
    from triton_lab.notebook.cell.cell_breakpoints import stopping
    from triton_lab.notebook.cell.compiler_output import hushed
    from triton_lab.notebook.cell.kernel_freshness import jit_function
    from triton_lab.notebook.cell.progress_line import listening
    from triton_lab.notebook.cell.session_launches import of_cell, session
    from triton_lab.notebook.cell.show_launches import (
        show_interrupted,
        show_launches,
        show_no_launch,
        show_other_launches,
    )
    from triton_lab.notebook.extension.error_marks import mark
    from triton_lab.notebook.startup.warmup import enough

    before = {name: value for name, value in shell.user_ns.items() if jit_function(value) is not None}
    try:
        with contextlib.ExitStack() as stack:
            notes = stack.enter_context(cell.switched(chosen))
            stack.enter_context(listening(sign))
            said = stack.enter_context(hushed())
            stack.enter_context(stopping())
            # Launches in Triton's interpreter cannot be recorded: the cell runs, and a note says so.
            launches = Launches() if knobs.runtime.interpret else stack.enter_context(record(time=True))
            launches.warns = False  # Python gives the same warning once, and the cell tells of each run
            result = cell.run(shell, body)
            session.note(launches, *of_cell(shell))
    except (TargetError, NotRecorded) as error:
        raise error_display.plain(error) from None
    for note in (*notes, *launches.unseen):
        print(note)
    failed = None if result.error is None else error_display.clear(result.error, result.filename)
    refused = compile_cell(launches, chosen, sign, result.filename) if chosen.gpus and failed is None else None
    if said.kept and not (result.error is not None and error_display.is_explained(result.error)):
        said.tell()
    if isinstance(failed, KeyboardInterrupt):
        show_interrupted(launches)
        error_display.interrupted(failed, result.filename)
    elif launches:
        try:
            shown = show_launches(launches, chosen, sign, error_display.text_of(failed))
            if failed is not None and shown is not None and shown.error is failed:
                error_display.shorten(failed, result.filename, shown)
            enough(shell)
        except KeyboardInterrupt as error:
            raise error_display.plain(error, _("interrupted while drawing; all launches had finished")) from None
    defined = {n: v for n, v in shell.user_ns.items() if jit_function(v) is not None and before.get(n) is not v}
    if failed is None and launches:
        show_other_launches(defined, before, [launch.kernel for launch in launches])
    elif failed is None and not launches.unseen:
        show_no_launch(defined)
    if failed is not None:
        mark(failed, result.filename)
        raise failed from failed.__cause__
    if refused is not None:
        raise refused from refused.__cause__


def compile_cell(launches: Sequence[Launch], chosen: Options, sign: Sign, filename: str) -> BaseException | None:
    """Compile the kernels of the launches for their cards; returns the error to raise after the cards are shown."""
    from triton_lab.notebook.cell import error_display
    from triton_lab.notebook.cell.compile_option import compile_launches

    try:
        error = compile_launches(launches, chosen, sign)
        return None if error is None else error_display.plain(error)
    except KeyboardInterrupt as error:
        raise error_display.plain(error, _("interrupted while compiling; all launches had finished")) from None
    except Exception as error:
        return error_display.clear(error, filename)
