"""Shows the launches of a cell."""

from __future__ import annotations

import copy
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from triton_lab.backend.source.kernel_dependencies import used
from triton_lab.launch.diagnosis.verdict import Unchecked, Verdict
from triton_lab.launch.launch import Launch
from triton_lab.localization import N_, _, translated
from triton_lab.messages import count
from triton_lab.notebook.cell.kernel_freshness import jit_function
from triton_lab.notebook.cell.magic_options import Options, preferred
from triton_lab.views.launch.card.launch_tabs import COMPILED_SHOWN

if TYPE_CHECKING:
    from triton_lab.notebook.cell.progress_line import Sign
    from triton_lab.views.scenes import Ran, Target
    from triton_lab.views.view import View

STILL = N_("The checks of this launch are still running. Findings appear here.")
ENDED = N_("The checks of this launch were interrupted. Run the cell again to see its findings.")

# More cards in one cell would not help: a table of the launches then has them all behind it.
MOST_CARDS = 12
# Seconds for the checks of a launch; then its picture is shown without their findings.
PATIENCE = 0.2


def show_launches(launches: Sequence[Launch], chosen: Options, sign: Sign, raised: str = "") -> Launch | None:
    """Show a card for each launch, or one view of many, the first in place of the progress line.

    The cell's badge reads the target from the outputs' metadata. ``raised`` is the text of the error that ended the
    cell. Returns the launch whose card reports the last failure.
    """
    from IPython.display import display

    from triton_lab.views.launch.card.launch_card import Card
    from triton_lab.views.launch.card.launch_table import LaunchTable

    failed = launches[-1] if launches and launches[-1].error is not None else None
    many = len(launches) > MOST_CARDS

    def card(launch: Launch) -> Card:
        return Card(
            launch,
            show=_shown(chosen, launch),
            both=chosen.target == "both",
            raised=raised if failed is not None and launch.error is failed.error else "",
        )

    def view(some: Sequence[Launch]) -> View:
        return LaunchTable(some, card) if many else card(some[0])

    outputs = []
    for some in [launches] if many else [[launch] for launch in launches]:
        both = chosen.target == "both" and some[0].outputs
        ran: Ran = {"target": cast("Target", "both" if both else some[0].target)}
        how = {"triton_lab": ran}
        if sign.watched:
            outputs.append(_Output(some, view, how, sign))
        else:
            display(view(some), metadata=how)  # type: ignore[no-untyped-call]
    _show(outputs)
    return None if many else failed


def _shown(chosen: Options, launch: Launch) -> tuple[str, ...]:
    """The views to show of a launch; if it was not compiled, none of compilations."""
    if chosen.show == ("none",):
        return ()
    found = tuple(name for name in chosen.show if launch.compilations or name not in COMPILED_SHOWN)
    return found or preferred()


def _show(outputs: Sequence[_Output]) -> None:
    """Show all outputs, in order; if checks take long, show all remaining ones unchecked first."""
    from triton_lab.launch.recording.progress_callback import waiting
    from triton_lab.views.missing_picture import attempt

    def unchecked() -> None:
        for one in outputs:
            attempt(one.preview, lambda _: None)

    try:
        for one in outputs:
            with waiting(time.monotonic() + PATIENCE, unchecked):
                one.check()
            one.show()
    except KeyboardInterrupt:
        for one in outputs:
            one.interrupted()
        raise
    for one in outputs:
        one.grow()
    for one in outputs:
        one.complete()


class _Output:
    """An output that shows launches in a notebook with a front end: ``view`` makes the view of all of them.

    A front end that draws scenes by itself gets the view at once with the open tab, then the other tabs, and then the
    PNG, which a saved file needs for readers without such a front end. The front end does not redraw a picture that
    only gets more parts or a PNG. Before all that, the output may show what is known before the checks have ended.
    """

    def __init__(
        self, launches: Sequence[Launch], view: Callable[[Sequence[Launch]], View], how: Mapping[str, Any], sign: Sign
    ) -> None:
        self._launches, self._make, self._how, self._sign = launches, view, how, sign
        self._name = ""
        self._before: View | None = None
        self._view: View | None = None
        self._complete = True

    def check(self) -> None:
        """Run the checks of the launch whose card is shown."""
        self._launches[0].findings  # noqa: B018  (computed now)

    def preview(self) -> None:
        """Show the launch before its checks have ended, if nothing is shown yet."""
        if not self._name:
            self._show_unchecked(STILL)

    def interrupted(self) -> None:
        """Say that no findings will come, if the launch is still shown unchecked."""
        if self._before is not None and self._view is None:
            self._show_unchecked(ENDED)

    def _show_unchecked(self, why: str) -> None:
        from triton_lab.views.notebook_output import at_once

        first, *others = self._launches
        self._before = self._make([not_yet_checked(first, why), *others])
        self._publish(*at_once(self._before))

    def show(self) -> None:
        """Show the launch and the findings of its checks."""
        from triton_lab.views.comm_handlers import succeed
        from triton_lab.views.frontend_presence import announced
        from triton_lab.views.notebook_output import at_once, with_picture, with_rest

        view = self._make(self._launches)
        if self._before is not None:
            succeed(self._before, view)
        self._complete = not announced()
        self._data, self._metadata = at_once(view)
        data, metadata = self._data, self._metadata
        if self._complete:
            data, metadata = with_picture(with_rest(data, view), metadata, view)
        self._view = view
        self._publish(data, metadata)

    def grow(self) -> None:
        """Add the contents of other tabs, if they were left out at first."""
        from triton_lab.views.notebook_output import with_rest

        if not self._complete and self._view is not None and self._view.grows:
            self._data = with_rest(self._data, self._view)
            self._publish(self._data, self._metadata)

    def complete(self) -> None:
        """Add the PNG, if it was left out at first."""
        from triton_lab.views.notebook_output import with_picture

        if not self._complete and self._view is not None:
            self._publish(*with_picture(self._data, self._metadata, self._view))

    def _publish(self, data: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        """Replace this output's last state, or the progress line, or add a new output."""
        from IPython.display import publish_display_data

        place = self._name or self._sign.end()
        self._name = place or uuid.uuid4().hex
        transient = {"display_id": self._name}
        publish_display_data(data, {**metadata, **self._how}, transient=transient, update=bool(place))  # type: ignore[no-untyped-call]


def show_interrupted(launches: Sequence[Launch]) -> None:
    """Report how far the cell came. After an interrupt nothing is drawn or checked: the user will not wait longer."""
    from triton_lab.messages import launched, seconds_text

    if not launches:
        return
    done = sum(launch.error is None for launch in launches)
    ended = count(done, "launch", "launches") if done else "No launch"
    stopped = [launch for launch in launches if isinstance(launch.error, KeyboardInterrupt)]
    where = "".join(
        f"{launched(launch.kernel, launch.grid)} after {seconds_text(launch.seconds)}" for launch in stopped[-1:]
    )
    print(
        _("Interrupted in {where}.").format(where=where) if where else _("Interrupted."),
        _("{ended} had finished. No pictures were drawn.").format(ended=ended),
    )


def show_other_launches(kernels: Mapping[str, Any], before: Mapping[str, Any], launched: Sequence[str]) -> None:
    """Report that the cell defined ``kernels`` and launched only kernels of other cells, such as one with an old name.

    ``before`` are the notebook's kernels of before the cell. A kernel that another one calls is launched with it.
    """
    old = {value.__name__: value for value in map(jit_function, before.values())}
    names = [name for name in dict.fromkeys(launched) if name in old]
    called = {id(jit_function(value)) for name in names for _name, value in used(old[name])}
    left = {n: jit_function(value) for n, value in kernels.items() if id(jit_function(value)) not in called}
    here = {kernel.__name__: name for name, kernel in left.items()}
    if not here or len(names) < len(set(launched)) or not here.keys().isdisjoint(names):
        return
    print(
        _("This cell defines {defined}, but launched {launched}, which another cell defined.").format(
            defined=", ".join(here), launched=", ".join(names)
        ),
        _("To launch the kernel of this cell, write {name}[grid](...).").format(name=next(iter(here.values()))),
    )


def show_no_launch(kernels: Mapping[str, Any]) -> None:
    """Report what the cell defined instead."""
    if not kernels:
        print(_("The cell launched no kernel and defined none."))
        return
    print(_("The cell launched no kernel. It defined:"))
    for name, value in kernels.items():
        kernel = jit_function(value)
        print(f"  {name}({', '.join(kernel.arg_names)})")
    name = next(iter(kernels))
    print(_("To launch one, write {name}[grid](...).").format(name=name))


class PendingVerdict(Unchecked):
    """The verdict before the checks have ended: ``why`` is all it says."""

    def __str__(self) -> str:
        return self.why


def not_yet_checked(launch: Launch, why: str = STILL) -> Launch:
    """The same launch, with no findings but that."""
    launch.accesses  # noqa: B018  (both share these)
    known = copy.copy(launch)
    vars(known).pop("findings", None)
    vars(known)["verdict"] = Verdict([], [PendingVerdict("anything", translated(why))])
    return known
