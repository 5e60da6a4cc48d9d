"""The course in other languages: its pages beside the English ones, on each a way to the same in another, and a search
that knows the words of all."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

from triton_lab.course.edition import Notebook, source_of
from triton_lab.course.translation import LANGUAGES, catalogues, edition

ENGLISH = "en"
SPOKEN = {ENGLISH: ("en", "English"), "zh": ("zh-CN", "中文")}  # by language: its tag, and what it calls itself
_PAGE = re.compile(r"course(?:-(?P<language>\w+))?(?P<rest>/.*)?")


_HAN = r"[\u4e00-\u9fff]"  # Chinese characters


class Search(SearchEnglish):
    """English, and Chinese, which has no spaces between words: any two characters that are neighbours count for one."""

    js_splitter_code = rf"""
var splitQuery = (query) =>
  [...query.matchAll(/(?=({_HAN}{{2}})){_HAN}|((?:(?!{_HAN})[\p{{Letter}}\p{{Number}}_\p{{Emoji_Presentation}}])+)/gu)]
    .map(([, pair, word]) => pair || word);
"""

    def split(self, input: str) -> list[str]:
        return [pair or word for pair, word in re.findall(rf"(?=({_HAN}{{2}})){_HAN}|((?:(?!{_HAN})\w)+)", input)]


def editions(notebooks: Path, english: str) -> Iterator[tuple[str, Notebook]]:
    """The chapters that are translated: folder and name of the page, and the notebook. ``english`` is the folder with
    those that are not, where their links lead."""
    for language in LANGUAGES:
        chapters = catalogues(notebooks, language)
        elsewhere = "|".join(re.escape(path.name) for path in notebooks.glob("*.ipynb") if path not in chapters)
        for path in chapters:
            notebook = edition(path, language)
            assert notebook is not None
            for cell in notebook["cells"]:
                if elsewhere and cell["cell_type"] == "markdown":
                    cell["source"] = re.sub(rf"\]\(({elsewhere})", rf"](../{english}/\1", source_of(cell))
            yield f"{english}-{language}/{path.name}", notebook


def show_languages(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Say of a page of the course in which language it is, and lead to the others in which it is, too."""
    found = _PAGE.fullmatch(page)
    if not found or "body" not in context:
        return
    own, rest = found["language"] or ENGLISH, found["rest"] or ""
    context["language"] = SPOKEN[own][0]
    pages = {language: f"course{'' if language == ENGLISH else f'-{language}'}{rest}" for language in SPOKEN}
    links = [
        f'<a href="{html.escape(context["pathto"](there))}" lang="{tag}" hreflang="{tag}">{name}</a>'
        for language, (tag, name) in SPOKEN.items()
        if language != own and (there := pages[language]) in app.env.found_docs
    ]
    if links:
        context["body"] = f'<nav class="languages" aria-label="Language">{" ".join(links)}</nav>{context["body"]}'


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", show_languages)
    app.add_search_language(Search)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
