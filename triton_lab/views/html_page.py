"""A view as one self-contained HTML page: script, style and data are inside."""

from __future__ import annotations

import html

from triton_lab.views.drawing import style
from triton_lab.views.scene_packing import packed
from triton_lab.views.script_bundle import PAGE, carried_texts, page_language, script, stylesheet
from triton_lab.views.view import View


def page(view: View, theme: style.Theme = style.LIGHT) -> str:
    """The whole page as text."""
    css = f"body{{background:{theme.ground};color:{theme.ink};margin:16px;font-family:{style.WEB_FONT}}}{stylesheet()}"
    head = f'<meta charset="utf-8"><title>{html.escape(view.title())}</title><style>{css}</style>'
    scene = f'<script type="application/gzip">{packed(view.standalone())}</script>'
    return (
        f'<!doctype html><html lang="{page_language()}"><head>{head}</head><body><main>{scene}</main>{carried_texts()}'
        f'<script type="module">{script(PAGE)}</script></body></html>'
    )
