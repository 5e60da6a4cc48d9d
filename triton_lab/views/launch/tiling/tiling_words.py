"""The words of a tiling: how many elements one program touches, several, or none."""

from __future__ import annotations

from triton_lab import messages
from triton_lab.launch.maps.tiling import LAYERS, TilingAccesses
from triton_lab.localization import N_, _

TITLES = {
    "loads": N_("{subject}: which program loads each element"),
    "stores": N_("{subject}: which program stores each element"),
    "updates": N_("{subject}: which program updates each element, with atomics"),
    "both": N_("{subject}: which program accesses each element"),
}


def tiling_words(found: TilingAccesses, layer: str, name: str) -> list[str]:
    """How many elements of the argument ``name`` are touched by whom, and how many places outside of it."""
    active, masked = found.active(layer).counts, found.masked(layer).counts > 0
    several = found.several[:, list(LAYERS).index(layer)]
    many = found.elements()
    facts = [
        ((active > 0) & ~several, _("one program")),
        (several, _("several programs")),
        ((active == 0) & masked, _("masked lanes only")),
        ((active == 0) & ~masked, _("no program") if found.shown is None else _("none of those shown")),
    ]
    told = [
        _("{elements} by {who}").format(elements=messages.count(int(many[which].sum()), "element"), who=who)
        for which, who in facts
        if many[which].sum()
    ]
    if found.shown is not None:
        told.append(_("launch.plot.tiling({name}) examines all of them").format(name=repr(name)))
    lines = [f"{messages.count(found.programs, 'program')}; {', '.join(told) or _('no elements')}"]
    wrong = int(found.elements(inside=False)[active > 0].sum()) if found.drawn != found.shape else 0
    if wrong:
        lines.append(
            _("{elements} outside the argument {is_} touched").format(
                elements=messages.count(wrong, "element"), is_=messages.noun(wrong, "is", "are")
            )
        )
    return lines
