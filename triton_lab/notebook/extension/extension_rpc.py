"""Answers the requests of JupyterLab's extension to the session: `views.extension_queries` lists them.

Requests may come before anything has run: slow work, and imports that read the environment, wait until a request needs
them.
"""

from __future__ import annotations

import json
import sys
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from triton_lab.localization import _
from triton_lab.notebook.startup import lab_preference
from triton_lab.views.extension_queries import (
    DESK,
    CellProofs,
    SessionCard,
    SessionLaunches,
    SessionTargets,
    SessionText,
)
from triton_lab.views.frontend_presence import lines

if TYPE_CHECKING:
    from triton_lab.notebook.cell.session_launches import LaunchSession
    from triton_lab.views.view import View


class Desk:
    """The desk, which answers requests. ``of`` is the session; None for this process's own, once it has a record."""

    def __init__(self, of: LaunchSession | None = None) -> None:
        self._own = of
        self._views: weakref.WeakValueDictionary[str, View] = weakref.WeakValueDictionary()
        self._known = False
        self._answers: dict[str, Callable[..., object]] = {
            "launches": self._launches,
            "targets": self._targets,
            "card": self._card,
            "compare": self._compare,
            "page": self._page,
            "template": self._template,
            "pin": self._pin,
            "first": self._first,
            "proofs": self._proofs,
            "breakpoints": self._breakpoints,
        }

    def asked(self, comm: Any, question: Mapping[str, Any]) -> None:
        """Answer a `ViewQuestion` as a view would; from then on, send the list again once a cell has changed it."""
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        if shell is not None and self.cell_ended not in shell.events.callbacks["post_run_cell"]:
            shell.events.register("post_run_cell", self.cell_ended)
            self._list_records(shell, None)
        name = str(question.get("part"))
        try:
            scene = self.part(name)
        except Exception as error:
            from triton_lab.views.missing_picture import in_words, reason

            scene = in_words(reason(error))
        _tell(comm, name, scene)

    def part(self, name: str) -> object:
        """The part of that name. Raises LookupError, ValueError and CannotReplay, whose messages are for the user."""
        word, *rest = name.split()
        if word not in self._answers:
            raise LookupError(
                _("triton-lab in this kernel does not know {word}. Restart the kernel.").format(word=repr(word))
            )
        return self._answers[word](name, *rest)

    def cell_ended(self, ended: Any) -> None:
        """Send what a cell has changed, after it ran."""
        from IPython.core.getipython import get_ipython

        self._list_records(get_ipython(), getattr(ended, "execution_count", None))
        if self._session is not None and self._session.news:
            self._tell_all("launches", self._session.scene())
        if not self._known and _is_imported():
            self._tell_all("targets", self._targets("targets"))

    def _list_records(self, shell: Any, execution: int | None) -> None:
        """Add the launches of records that cells have made themselves."""
        if "triton_lab.launch.recording.launch_list" not in sys.modules:
            return
        from triton_lab.launch.recording.launch_list import Launches
        from triton_lab.notebook.cell.session_launches import of_cell

        for value in list(shell.user_ns.values()):
            # `isinstance` would run foreign code: lazy proxies answer it.
            if issubclass(type(value), Launches):
                self._launched.note(value, of_cell(shell)[0], execution)

    @property
    def _session(self) -> LaunchSession | None:
        """The session; None before the first launch."""
        return self._launched if self._own or "triton_lab.notebook.cell.session_launches" in sys.modules else None

    @property
    def _launched(self) -> LaunchSession:
        if self._own is None:
            from triton_lab.notebook.cell.session_launches import session

            self._own = session
        return self._own

    def _tell_all(self, name: str, scene: object) -> None:
        for comm in lines():
            _tell(comm, name, scene)

    def _launches(self, _: str) -> SessionLaunches:
        return {"launches": [], "dropped": 0} if self._session is None else self._session.scene()

    def _targets(self, _: str) -> SessionTargets:
        self._known = _is_imported()
        if self._known:
            from triton_lab.notebook.extension.target_choices import targets

            return targets()
        from triton_lab.notebook.extension.targets_without_triton import unknown

        return unknown()

    def _pin(self, _: str, number: str) -> SessionLaunches:
        self._launched.pin(int(number))
        scene = self._launched.scene()
        self._tell_all("launches", scene)
        return scene

    def _first(self, name: str, view: str = "") -> SessionText:
        lab_preference.first = view
        return {"name": name, "content": view}

    def _template(self, name: str, which: str) -> SessionText:
        from triton_lab.notebook.extension.cell_templates import template

        return {"name": name, "content": template(which).cell}

    def _proofs(self, name: str, *_words: str) -> CellProofs:
        """Raises ValueError for a question that is none."""
        from IPython.core.getipython import get_ipython

        given = json.loads(name.partition(" ")[2])
        source = given.get("source") if isinstance(given, dict) else None
        if not isinstance(source, str) or not _is_imported():
            return {"name": name, "marks": [], "refuted": False}
        from triton_lab.notebook.extension.cell_proofs import proofs

        shell = get_ipython()
        names = {} if shell is None else shell.user_ns
        newest = {} if self._session is None else self._session.newest()
        return proofs(name, source, names, newest, given.get("refute") is True)

    def _breakpoints(self, name: str, *_words: str) -> SessionText:
        """Raises ValueError for a text that is no JSON."""
        from triton_lab.notebook.cell.cell_breakpoints import set_breakpoints

        set_breakpoints(json.loads(name.partition(" ")[2]))
        return {"name": name, "content": ""}

    def _card(self, name: str, number: str) -> SessionCard:
        def made() -> View:
            from triton_lab.notebook.cell.magic_options import preferred
            from triton_lab.views.launch.card.launch_card import Card

            show = preferred()
            return Card(self._launched.launch(int(number)), () if show == ("none",) else show)

        return self._shown(name, made)

    def _compare(self, name: str, one: str, other: str) -> SessionCard:
        def made() -> View:
            from triton_lab.launch.comparison.compare import compare

            view: View = compare(self._launched.launch(int(one)), self._launched.launch(int(other))).plot()
            return view

        return self._shown(name, made)

    def _page(self, name: str, number: str) -> SessionText:
        from triton_lab.views.launch.card.launch_plot_accessor import page_of

        return {"name": name, "content": page_of(self._launched.launch(int(number)))}

    def _shown(self, name: str, make: Callable[[], View]) -> SessionCard:
        from triton_lab.views.notebook_output import saved

        view = self._views.get(name)
        if view is None:
            view = self._views[name] = make()
        return {"name": name, "title": view.title(), "output": saved(view), "text": view.text()}


def _tell(comm: Any, name: str, scene: object) -> None:
    comm.send({"view": DESK, "part": name, "scene": scene, "panel": None}, buffers=[])


def _is_imported() -> bool:
    """Whether the user has imported torch and Triton."""
    return {"torch", "triton"} <= sys.modules.keys()


desk = Desk()
