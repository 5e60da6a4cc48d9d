"""Pages in another language: no text of a picture, a legend, a tooltip or a control stays English."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests import pseudo_language
from tests.views.pictures import PICTURES
from tests.views.test_language import PIECES, forget

# What a page shows: its text by pieces, and the attributes that are read. Code, formulas and an exception's own words
# are no texts of ours, nor are the names of changes that a comparison tries.
NOT_OURS = (
    ".tl-code, .tl-excerpt, .tl-failure, pre, math, .tl-kernels, .tl-parts-line, .tl-codelist, .tl-table td,"
    " .tl-table tbody th, option, script, style"
)
SHOWN = f"""() => {{
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {{
    const node = walker.currentNode;
    if (!node.parentElement.closest({NOT_OURS!r})) found.push(node.textContent.trim());
  }}
  for (const element of document.body.querySelectorAll('*')) {{
    for (const name of ['aria-label', 'aria-description', 'title', 'placeholder', 'alt']) {{
      if (element.hasAttribute(name) && !element.closest({NOT_OURS!r})) found.push(element.getAttribute(name));
    }}
  }}
  return [...new Set(found.filter(Boolean))];
}}"""


@pytest.fixture(scope="module", autouse=True)
def brackets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    forget()
    yield from pseudo_language.spoken(tmp_path_factory.mktemp("locale"))
    forget()


def english(page: Page) -> list[str]:
    return [text for text in page.evaluate(SHOWN) if pseudo_language.is_english(text) and not PIECES.search(text)]


def visit(page: Page) -> Iterator[list[str]]:
    """What is English in each tab and each choice of a page, and while the keyboard goes over its pictures."""
    yield english(page)
    for tab in page.locator("[role=tablist]:not([role=tabpanel] *) [role=tab]").all():
        tab.click()
        for overlay in page.locator(".tl-overlay:visible").all()[:3]:
            overlay.focus()
            overlay.press("ArrowRight")
            yield english(page)
            overlay.press("Enter")
        for radio in page.locator("input[type=radio]:visible").all()[:6]:
            radio.check()
        yield english(page)


@pytest.mark.parametrize("name", PICTURES)
def test_a_page_has_no_english_left(show: Callable[..., Page], name: str) -> None:
    page = show(PICTURES[name]())
    assert page.locator("html").get_attribute("lang") == pseudo_language.NAME
    assert [text for found in visit(page) for text in found] == []
    assert page.locator("body").inner_text().count("⟦") > 0
