"""The output of a check and of a hint: with colour and shape in a notebook, in words elsewhere."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.course.answer_fault import AnswerFault
    from triton_lab.course.progress_store import Progress
    from triton_lab.launch.launch import Launch


WIDTH = 88  # characters of a line of an error: a notebook that shares the window has no room for more


class NotSolved(AssertionError):
    """An answer is not right yet. The message says what is wrong, ``fault`` has it as data, ``launch`` shows it.

    >>> try:
    ...     lab.course.exercise("add_constant").check(...)
    ... except lab.course.NotSolved as error:
    ...     print(error, error.fault.untouched)
    Add a constant · To do: replace the dots with a function, then run this cell again. True
    """

    def __init__(self, title: str, fault: AnswerFault, drawn: bool = False) -> None:
        super().__init__(f"{title} · {fault}")
        self.title, self.fault, self._drawn = title, fault, drawn

    @property
    def launch(self) -> Launch | None:
        """The launch that shows the fault; None if there is none."""
        return self.fault.launch

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython prints: the message, unless the cell shows it. The cell itself called the check."""
        told = _("Not solved yet: {title}").format(title=self.title if self._drawn else self)
        first, *lines = [piece for line in told.split("\n") for piece in _broken(line)]
        head = _("Not solved yet: {title}").partition("{")[0].rstrip()
        words = head.rstrip(":\uff1a")
        return [first.replace(words, f"\x1b[31m{words}\x1b[39m", 1), *lines]


def _broken(line: str) -> list[str]:
    """A sentence in lines that end between words: JupyterLab would break longer ones anywhere. Code stays as it is."""
    if line[:1].isspace():
        return [line]
    return textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False) or [""]


@dataclass(frozen=True)
class Solved:
    """The output for a right answer: it says so, and shows the learner's progress.

    ``remark`` says where its kernel goes wrong, though it is right in all cases: for other sizes, or on a GPU.
    """

    name: str
    title: str
    progress: Progress
    remark: AnswerFault | None = None

    def __str__(self) -> str:
        remark = [] if self.remark is None else [self.remark.message]
        return "\n".join([_("Solved: {title} · {progress}").format(title=self.title, progress=self.progress), *remark])

    __repr__ = __str__

    def _ipython_display_(self) -> None:
        """A display and not a result of the cell: nbgrader takes a result for the points of a check."""
        from IPython.display import display

        display({"text/plain": str(self), "text/html": self._repr_html_()}, raw=True)  # type: ignore[no-untyped-call]

    def _repr_html_(self) -> str:
        colour = "var(--jp-success-color1, #2e7d32)"
        remark = [] if self.remark is None else [self.remark.message]
        return _framed(colour, "✓", _("Solved:"), self.title, [*remark, str(self.progress)])


@dataclass(frozen=True)
class Hint:
    """One of an exercise's hints: the ``number``-th of ``total``."""

    text: str
    number: int
    total: int

    def __str__(self) -> str:
        return _("Hint {number} of {total}: {text}").format(number=self.number, total=self.total, text=self.text)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        more = [_("Call it again for the next hint.")] if self.number < self.total else []
        return _framed(
            "var(--jp-brand-color1, #1565c0)",
            "→",
            _("Hint {number} of {total}:").format(number=self.number, total=self.total),
            self.text,
            more,
        )


@dataclass(frozen=True)
class _Told:
    """The message of a fault, above its picture."""

    title: str
    fault: AnswerFault

    def __repr__(self) -> str:
        return f"{self.title} · {self.fault}"

    def _repr_html_(self) -> str:
        colour = "var(--jp-error-color1, #c62828)"
        first, *more = str(self.fault).split("\n")
        return _framed(colour, "✖", f"{html.escape(self.title)}:", first, more)


def show(title: str, fault: AnswerFault) -> bool:
    """Draw in a notebook the message and the picture of ``fault``; elsewhere nothing. Returns whether it was drawn."""
    from IPython.core.getipython import get_ipython

    if fault.picture is None or getattr(get_ipython(), "kernel", None) is None:
        return False
    from IPython.display import display

    display(_Told(title, fault), fault.picture)  # type: ignore[no-untyped-call]
    return True


def _framed(colour: str, icon: str, head: str, text: str, lines: list[str]) -> str:
    told = "".join(f'<div style="opacity: 0.75">{html.escape(line)}</div>' for line in lines)
    return (
        f'<div style="border-left: 3px solid {colour}; margin: 6px 0; padding: 2px 10px">'
        f'<div><span aria-hidden="true" style="color: {colour}">{icon}</span> <b>{head}</b> {html.escape(text)}</div>'
        f"{told}</div>"
    )
