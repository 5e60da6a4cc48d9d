"""`KindFilter`: the kinds of findings that count, as ``--select`` and ``--ignore`` name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from triton_lab.launch.checks.rule import rules
from triton_lab.localization import _


@dataclass(frozen=True)
class KindFilter:
    """``selected`` are the kinds that count, all if it is empty, without those that are ``ignored``."""

    selected: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    @classmethod
    def of(cls, select: Iterable[str], ignore: Iterable[str]) -> KindFilter:
        """The filter of two options; each text names kinds with commas between. Raises LookupError, with all kinds."""
        return cls(frozenset(_kinds(select)), frozenset(_kinds(ignore)))

    def takes(self, kind: str) -> bool:
        """Whether findings of this kind count."""
        return kind not in self.ignored and (not self.selected or kind in self.selected)


def _kinds(texts: Iterable[str]) -> Iterable[str]:
    for kind in (one.strip() for text in texts for one in text.split(",")):
        if kind:
            known_kind(kind)
            yield kind


def known_kind(kind: str) -> str:
    """``kind``, if there is such a kind of finding; else raises LookupError, which lists all."""
    if kind not in rules():
        raise LookupError(
            _("there is no finding {kind}; there are {kinds}").format(kind=repr(kind), kinds=", ".join(rules()))
        )
    return kind
