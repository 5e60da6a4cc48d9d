"""`shrink`: makes a launch that fails as small as possible."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton_lab.interpreter.kernel_errors import from_signal
from triton_lab.launch.comparison.launch_results import expected as expected_results
from triton_lab.launch.comparison.launch_results import written_by
from triton_lab.launch.recording.launch_list import Launches
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.shrinking.case_search import STEPS, CaseSearch, quietly, ran
from triton_lab.launch.shrinking.failure import Failure, reasons
from triton_lab.launch.shrinking.launch_case import LaunchCase
from triton_lab.launch.shrinking.reproducer import script_text
from triton_lab.launch.shrinking.shrunk_launch import ShrunkLaunch, SizeChange
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


def shrink(
    launch: Launch | Launches,
    expected: Callable[..., Any] | None = None,
    *,
    fails: Callable[[Launch], bool] | None = None,
    kind: str | None = None,
    seconds: float = 20.0,
    launches: int = 500,
) -> ShrunkLaunch:
    """The smallest launch that fails as ``launch`` does: grid, blocks, scalars, tensors and what they hold.

    A launch fails if it stops with an error or has a finding of severity error or warning; the gravest is the reason,
    or the first of this ``kind``. A smaller launch fails for the same reason if it has that kind of finding on the same
    line and argument, and no other error or warning that the first launch lacks. With ``expected``, a function of the
    arguments as for `compare`, a launch fails if an argument differs from it by more than rounding. With ``fails``, a
    function of a launch, it fails if that is true.

    Sizes that belong together shrink together: ``n`` with the extent of ``x``, strides with shapes, the grid with
    blocks. Smaller launches run on tensors of their own on the CPU target, ``launches`` and ``seconds`` at most. The
    launch's own tensors are not touched. A record with several launches stands for the last.

    Raises ValueError if the launch does not fail, and CannotReplay if it cannot be run again from its record, or if
    alone it does not fail for this reason.

    >>> with lab.record() as failing:
    ...     total = add(torch.empty(1000), y)
    >>> small = lab.shrink(failing)
    >>> small.kind, small.argument, small.launch.grid, small.launch.argument("x_ptr").shape
    ('uninitialized', 'x_ptr', (1, 1, 1), (1,))
    >>> small.script_fails
    True
    """
    started = time.monotonic()
    chosen = _one(launch)
    if expected is not None and not callable(expected):
        raise TypeError(
            _("pass a function for expected: a tensor would not fit smaller sizes; for example lambda x_ptr, **_: ...")
        )
    case = LaunchCase.of(chosen)
    steps = None if chosen.tape is None else chosen.tape.limits.steps
    first = ran(case, steps)
    failure = _failure(chosen, first, expected, fails, kind)
    if first is None or failure is None or not failure.holds(first):
        raise CannotReplay(_("alone, on tensors of its own, {kernel} does not fail").format(kernel=chosen.kernel))
    search = CaseSearch(
        case, first, failure.holds, failure.reason.argument, expected is not None, launches, started + seconds
    )
    search.run()
    return _result(chosen, case, search, failure, started)


def _failure(
    launch: Launch,
    again: Launch | None,
    expected: Callable[..., Any] | None,
    fails: Callable[[Launch], bool] | None,
    kind: str | None,
) -> Failure | None:
    """The failure of the launch that ran ``again``; None if that does not fail as the first did. Raises ValueError."""
    try:
        return None if again is None else Failure.of(again, expected, fails, kind)
    except ValueError:
        Failure.of(launch, expected, fails, kind)
        return None


def _one(launch: Any) -> Launch:
    found = launch[-1] if isinstance(launch, Launches) and launch else launch
    if not isinstance(found, Recorded):
        raise TypeError(
            _("the first argument of shrink must be a launch from record(), not {name}").format(
                name=type(found).__name__
            )
        )
    return found  # type: ignore[return-value]


def _result(launch: Launch, before: LaunchCase, search: CaseSearch, failure: Failure, started: float) -> ShrunkLaunch:
    small, best = search.launch, search.best
    told = failure.message_of(small)
    wanted: Mapping[str, Any] = {}
    if failure.differs is not None:
        wanted = expected_results(small, failure.differs, written_by(small)).arrays
        wanted = {name: array for name, array in wanted.items() if name == failure.reason.argument}
    text = script_text(best, failure, told, wanted)
    return ShrunkLaunch(
        launch=small,
        kind=failure.reason.kind,
        line=failure.reason.line,
        argument=failure.reason.argument,
        message=told,
        sizes=tuple(_changes(before, best)),
        script=text,
        script_fails=_script_fails(text, failure),
        tries=search.tries + 1,
        seconds=time.monotonic() - started,
        is_smallest=not search.is_over,
    )


def _script_fails(text: str, failure: Failure) -> bool:
    """Whether the script, run as it is, fails for the reason of ``failure``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bug.py"
        path.write_text(text, encoding="utf-8")
        try:
            launch = quietly(lambda: _run(path), STEPS)
        except AssertionError:  # the comparison at the end of the script
            return failure.differs is not None
        except Exception as error:  # whatever a script raises that stands alone
            if from_signal(error):
                raise
            return False
    if launch is None or failure.differs is not None:
        return False
    if failure.fails is not None:
        return bool(failure.fails(launch))
    return any(failure.reason.is_also(one) for one in reasons(launch, notes=failure.is_note))


def _run(path: Path) -> None:
    spec = importlib.util.spec_from_file_location("bug", path)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _changes(before: LaunchCase, after: LaunchCase) -> list[SizeChange]:
    pairs: list[tuple[str, object, object]] = [(_("grid"), before.grid, after.grid)]
    for name, one in before.tensors.items():
        now = after.tensors[name]
        pairs.append((name, f"{one.dtype} {one.shape}", f"{now.dtype} {now.shape}"))
    pairs += [(name, value, after.values[name]) for name, value in before.values.items()]
    pairs += [(name, value, after.options.get(name, _("the default"))) for name, value in before.options.items()]
    return [SizeChange(name, str(was), str(now)) for name, was, now in pairs]
