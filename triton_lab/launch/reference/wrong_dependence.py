"""`WrongDependence` and `WrongFactor`: what is wrong in how a result depends on elements of the inputs."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab import messages
from triton_lab.localization import _


@dataclass(frozen=True)
class InputElement:
    """An element of an input of the reference; ``line`` is that of the kernel's first load of it, or of the input."""

    name: str
    index: tuple[int, ...]
    line: int | None

    def __str__(self) -> str:
        return messages.element_at(self.name, self.index)


@dataclass(frozen=True)
class WrongDependence:
    """The element ``index`` of ``argument`` should depend on ``missing`` and does not; it depends on ``extra`` and
    should not. One of the two may be None.
    """

    argument: str
    index: tuple[int, ...]
    missing: InputElement | None
    extra: InputElement | None

    @property
    def elements(self) -> tuple[InputElement, ...]:
        """The elements of inputs that are told."""
        return tuple(one for one in (self.extra, self.missing) if one is not None)

    def __str__(self) -> str:
        element, extra, missing = messages.element_at(self.argument, self.index), self.extra, self.missing
        if extra is not None and missing is not None and extra.name == missing.name:
            text = _("{element} depends on {extra}{loaded}, but must depend on {missing}")
            return text.format(element=element, extra=extra, loaded=_loaded(extra), missing=missing)
        told = []
        if extra is not None:
            text = _("{element} depends on {input}{loaded}, but must not")
            told.append(text.format(element=element, input=extra, loaded=_loaded(extra)))
        if missing is not None:
            text = _("{element} must depend on {input}{loaded}, but does not")
            told.append(text.format(element=element, input=missing, loaded=_loaded(missing)))
        return "; ".join(told)


def _loaded(one: InputElement) -> str:
    return "" if one.line is None else _(" (load in line {line})").format(line=one.line)


@dataclass(frozen=True)
class WrongFactor:
    """The element ``index`` of ``argument`` is a sum of products, and ``input`` stands in one of them.

    It is multiplied there by ``found``, and should be by ``wanted``: each is an element of another input, or a number.
    """

    argument: str
    index: tuple[int, ...]
    input: InputElement
    found: InputElement | float
    wanted: InputElement | float

    @property
    def elements(self) -> tuple[InputElement, ...]:
        """The elements of inputs that are told."""
        return (self.input, *(one for one in (self.found, self.wanted) if isinstance(one, InputElement)))

    def __str__(self) -> str:
        text = _("{element} has {input} times {found}, but must have it times {wanted}")
        return text.format(
            element=messages.element_at(self.argument, self.index),
            input=self.input,
            found=_factor(self.found),
            wanted=_factor(self.wanted),
        )


def _factor(one: InputElement | float) -> str:
    return messages.significant(one) if isinstance(one, float) else f"{one}{_loaded(one)}"


Dependence = WrongDependence | WrongFactor
