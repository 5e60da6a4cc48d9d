"""Shows a cell's launches."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from triton_lab.launch.launch import Launch
from triton_lab.notebook.freshness import jit_function
from triton_lab.notebook.options import Options
from triton_lab.words import count

if TYPE_CHECKING:
    from triton_lab.notebook.progress import Sign
    from triton_lab.views.scenes import Ran, Target
    from triton_lab.views.view import View

# More cards than this in one cell help nobody: then a table of the launches has them all behind it.
MOST_CARDS = 12


def show_launches(launches: Sequence[Launch], chosen: Options, sign: Sign, raised: str = "") -> Launch | None:
    """A card for each launch, or one view of many, the first in the place of the sign of work.

    The cell's badge learns the target from the outputs' metadata. ``raised`` is the text of the error that ended the
    cell. Gives the launch whose card tells of the last failure.
    """
    from IPython.display import display

    from triton_lab.views.launch.card import Card
    from triton_lab.views.launch.launches import Launches

    failed = launches[-1] if launches and launches[-1].error is not None else None

    def card(launch: Launch) -> Card:
        return Card(
            launch,
            show=() if chosen.show == ("none",) else chosen.show,
            both=chosen.target == "both",
            raised=raised if launch is failed else "",
        )

    views = [Launches(launches, card)] if len(launches) > MOST_CARDS else list(map(card, launches))
    shown = []
    for view, launch in zip(views, launches, strict=False):
        both = chosen.target == "both" and launch.outputs
        ran: Ran = {"target": cast("Target", "both" if both else launch.target)}
        how = {"triton_lab": ran}
        if sign.watched:
            shown.append(_Shown(view, how, sign))
        else:
            display(view, metadata=how)  # type: ignore[no-untyped-call]
    for one in shown:
        one.complete()
    return failed if len(launches) <= MOST_CARDS else None


class _Shown:
    """A view in a notebook that somebody looks at.

    A front end that draws scenes by itself gets it at once, and the PNG, which a file needs for readers without it,
    afterwards: an output that changes to the same scene is not drawn again.
    """

    def __init__(self, view: View, how: Mapping[str, Any], sign: Sign) -> None:
        from triton_lab.views.onlooker import announced
        from triton_lab.views.output import at_once, with_picture

        self._view, self._how = view, how
        self._data, self._metadata = at_once(view)
        self._complete = not announced()
        shown = with_picture(self._data, self._metadata, view) if self._complete else (self._data, self._metadata)
        name = sign.end()
        self._name = name or uuid.uuid4().hex
        self._publish(*shown, update=bool(name))

    def complete(self) -> None:
        """Add what was left out at first."""
        from triton_lab.views.output import with_picture

        if not self._complete:
            self._publish(*with_picture(self._data, self._metadata, self._view), update=True)

    def _publish(self, data: Mapping[str, Any], metadata: Mapping[str, Any], *, update: bool) -> None:
        from IPython.display import publish_display_data

        transient = {"display_id": self._name}
        publish_display_data(data, {**metadata, **self._how}, transient=transient, update=update)  # type: ignore[no-untyped-call]


def show_interrupted(launches: Sequence[Launch]) -> None:
    """Say how far the cell came. Who interrupts wants to wait no longer: nothing is drawn or checked."""
    from triton_lab.views.drawing.words import seconds_text

    if not launches:
        return
    done = sum(launch.error is None for launch in launches)
    ended = count(done, "launch", "launches") if done else "No launch"
    stopped = [launch for launch in launches if isinstance(launch.error, KeyboardInterrupt)]
    where = "".join(f"{launch.kernel}{launch.grid} after {seconds_text(launch.seconds)}" for launch in stopped[-1:])
    print(f"Interrupted in {where}." if where else "Interrupted.", f"{ended} had ended; no pictures were made.")


def show_no_launch(kernels: Mapping[str, Any]) -> None:
    """Say what the cell defined instead."""
    if not kernels:
        print("The cell launched no kernel and defined none.")
        return
    print("The cell launched no kernel. It defined:")
    for name, value in kernels.items():
        kernel = jit_function(value)
        print(f"  {name}({', '.join(kernel.arg_names)})")
    name = next(iter(kernels))
    print(f"Launch one with {name}[grid](...).")
