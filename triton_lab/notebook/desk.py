"""Answers what JupyterLab's extension asks of the session: see `views.desk` for what there is."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, cast

from triton_lab.notebook import options
from triton_lab.notebook.places import targets
from triton_lab.notebook.session import Session, of_cell, session
from triton_lab.views.answering import tell
from triton_lab.views.desk import DESK, SessionCard, SessionText
from triton_lab.views.scenes import Picked, Scene
from triton_lab.views.view import View


class Desk:
    """Answers as a view does."""

    def __init__(self, of: Session) -> None:
        self.session = of
        self._views: weakref.WeakValueDictionary[str, View] = weakref.WeakValueDictionary()
        self._told = False
        self._known = True
        self._answers: dict[str, Callable[..., Any]] = {
            "launches": self._launches,
            "targets": self._targets,
            "card": self._card,
            "compare": self._compare,
            "page": self._page,
            "template": self._template,
            "pin": self._pin,
            "first": self._first,
        }

    def part(self, name: str) -> Scene:
        word, *rest = name.split()
        if word not in self._answers:
            raise LookupError(f"this version of triton-lab knows no {word!r}: restart the kernel to use the newer one")
        return cast(Scene, self._answers[word](name, *rest))

    def live(self) -> Scene:
        raise LookupError("a session has no picture")

    def follow(self, picked: Picked) -> Scene | None:
        return None

    def panel_id(self) -> str | None:
        return None

    def cell_ended(self, shell: Any, execution: int | None) -> None:
        """A cell has run: launches that it has recorded by itself are listed too, and all is told to who wants it."""
        from triton_lab.launch.launches import Launches

        for value in list(shell.user_ns.values()):
            # `isinstance` would run foreign code: lazy proxies answer it.
            if issubclass(type(value), Launches):
                self.session.note(value, of_cell(shell)[0], execution)
        if self.session.news:
            self.changed()

    def changed(self) -> None:
        """Tell the list anew to whoever has asked for it, and the targets once they are known."""
        if self._told:
            tell(DESK, "launches", cast(Scene, self.session.scene()))
        if not self._known:
            tell(DESK, "targets", cast(Scene, self._targets("targets")))

    def _launches(self, _: str) -> object:
        self._told = True
        return self.session.scene()

    def _targets(self, _: str) -> object:
        found = targets()
        self._known = found["known"]
        return found

    def _pin(self, _: str, number: str) -> object:
        self.session.pin(int(number))
        self.changed()
        return self.session.scene()

    def _first(self, _: str, view: str) -> object:
        options.prefer(view)
        return self._targets("targets")

    def _template(self, name: str, which: str) -> SessionText:
        from triton_lab.notebook.templates import template

        return {"name": name, "content": template(which).cell}

    def _card(self, name: str, number: str) -> SessionCard:
        return self._shown(name, lambda: self._of(int(number)))

    def _compare(self, name: str, one: str, other: str) -> SessionCard:
        def made() -> View:
            from triton_lab.launch.comparing.compare import compare

            view: View = compare(self.session.launch(int(one)), self.session.launch(int(other))).plot()
            return view

        return self._shown(name, made)

    def _page(self, name: str, number: str) -> SessionText:
        from triton_lab.views.launch.plot import SHOWN
        from triton_lab.views.page import page

        return {"name": name, "content": page(self.session.launch(int(number)).plot(*SHOWN))}

    def _of(self, number: int) -> View:
        from triton_lab.views.launch.card import Card

        show = options.preferred()
        return Card(self.session.launch(number), () if show == ("none",) else show)

    def _shown(self, name: str, make: Callable[[], View]) -> SessionCard:
        from triton_lab.views.output import saved

        view = self._views.get(name)
        if view is None:
            view = self._views[name] = make()
        return {"name": name, "title": view.title(), "output": saved(view), "text": view.text()}


desk = Desk(session)
