"""The site, built and clicked through from a folder with the network off."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import warm
from tests.browser.axe import violations

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with warnings as errors: a link that leads nowhere is one. First ``browser``: without one, no site."""
    folder = tmp_path_factory.mktemp("site")
    command = warm.command(
        *("-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "docs", str(folder)), modules=warm.KERNEL
    )
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """A page with no network, whose console must be clean, and which asks nobody for anything."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(("file:", "blob:", "data:")) else complaints.append(asked.url),
    )
    yield page
    context.close()
    assert complaints == []


# Scrolls to each picture of a page, at once: the theme would scroll smoothly, and draw each frame on the way. Resolves
# to the numbers of those that are not drawn in time, or say that they are damaged.
MISSING = """async () => {
  const missing = [];
  for (const [number, picture] of [...document.querySelectorAll('.triton-lab-picture')].entries()) {
    const drawn = () => picture.querySelector('.tl-view[data-theme]');
    for (const end = Date.now() + 20_000; !drawn() && Date.now() < end; ) {
      picture.scrollIntoView({ behavior: 'instant' }); // again: one above it may be drawn meanwhile, and grow
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    if (!drawn() || picture.textContent.includes('This picture is damaged')) missing.push(number);
  }
  return missing;
}"""


def test_all_pictures_of_all_pages_are_drawn(site: Path, page: Page) -> None:
    pages = [path for path in site.rglob("*.html") if "triton-lab-picture" in path.read_text(encoding="utf-8")]
    # The pictures of chapters are drawn in a JupyterLab (tests/browser/test_course_lab.py), and a translation has the
    # outputs of what it translates (tests/course/test_translation.py): here one page of each stands for all.
    pages = [path for path in pages if not path.parent.name.startswith("course") or path.stem == "00_first_kernel"]
    assert {path.name for path in pages} >= {"gallery.html", "00_first_kernel.html"}
    missing = {}
    for path in sorted(pages):
        page.goto(path.as_uri())
        missing[path.name] = page.evaluate(MISSING)
    assert {name: numbers for name, numbers in missing.items() if numbers} == {}


def test_a_picture_answers_a_click_and_follows_the_theme(site: Path, page: Page, screenshots: Path) -> None:
    page.goto((site / "gallery.html").as_uri())
    tiling = page.locator("#tiling .triton-lab-picture")
    tiling.scroll_into_view_if_needed()
    tiling.locator("canvas.tl-overlay").click(position={"x": 120, "y": 60})
    expect(tiling).to_contain_text("program (0, 0, 0)")
    page.emulate_media(color_scheme="dark")
    expect(tiling.locator(".tl-view")).to_have_attribute("data-theme", "dark")
    page.screenshot(path=screenshots / "site-gallery-dark.png")
    page.emulate_media(color_scheme="light")


def test_a_chapter_leads_to_itself_in_another_language_and_back(site: Path, page: Page, screenshots: Path) -> None:
    page.goto((site / "course/05_dtypes.html").as_uri())
    page.get_by_role("link", name="中文", exact=True).click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(page.get_by_role("heading", level=1)).to_contain_text("类型提升")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page, "article > nav, article h1") == []
    page.screenshot(path=screenshots / "site-chapter-zh.png")
    page.get_by_role("link", name="English", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("promotion")


def test_solutions_are_folded_and_files_are_there(site: Path, page: Page) -> None:
    page.goto((site / "course/07_reductions.html").as_uri())
    expect(page.get_by_role("heading", level=1)).to_contain_text("07")
    solution = page.locator("details", has_text="BEGIN SOLUTION").first
    expect(solution.locator("pre")).to_be_hidden()
    solution.locator("summary").click()
    expect(solution.locator("pre")).to_be_visible()
    files = [link.get_attribute("href") or "" for link in page.locator(".chapter-files a").all()]
    solved = ["BEGIN SOLUTION" in (site / "course" / file).read_text(encoding="utf-8") for file in files]
    assert solved == [False, True]


def test_the_address_of_a_section_leads_to_it_while_pictures_grow(site: Path, page: Page) -> None:
    page.goto((site / "course/07_reductions.html").as_uri() + "#exercise-6-when-adding-one-changes-nothing")
    section = page.locator(":target")
    expect(section).to_have_count(1)
    above = page.locator(".triton-lab-picture:has(.tl-view[data-theme])")
    expect(above.first).to_be_attached()
    page.wait_for_timeout(500)  # the last picture that was near is drawn
    assert section.evaluate("section => Math.abs(section.getBoundingClientRect().top) < 100")


def test_chapters_are_listed_with_minutes_and_what_they_need(site: Path, page: Page) -> None:
    page.goto((site / "course.html").as_uri())
    listed = page.locator("article dd")
    assert listed.count() == len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert all("minutes" in text and "chapter" in text for text in listed.all_inner_texts())


@pytest.mark.parametrize("name", ["index", "course/00_first_kernel", "gallery", "reference/launches"])
def test_a_page_keeps_nobody_out(site: Path, page: Page, name: str) -> None:
    page.goto((site / f"{name}.html").as_uri())
    assert violations(page, "article") == []


# What a page can get wrong in its own text; colours are those of all pages, and pictures have tests of their own.
TEXT = (
    *("image-alt", "link-name", "heading-order", "page-has-heading-one", "scrollable-region-focusable", "list"),
    *("td-headers-attr", "duplicate-id-aria", "aria-valid-attr", "button-name", "label", "document-title"),
)


# What stands in an article without pictures, without what runs or styles it, and without the colours of code: half of
# all elements.
ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)
NO_TEXT = re.compile(r'<div class="triton-lab-picture">.*?</div>|<(script|style)\b.*?</\1>|</?span\b[^>]*>', re.DOTALL)
TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)


def text_of(page: str) -> str:
    """Of a page's HTML what `TEXT` is about."""
    title, article = TITLE.search(page), ARTICLE.search(page)
    return f'<html lang="en">{title and title[0]}<main>{article and NO_TEXT.sub("", article[0])}</main></html>'


def test_no_page_keeps_anybody_out_by_its_text(site: Path, browser: Browser) -> None:
    """All pages are written into one, in which axe is read once."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    found = {}
    for path in sorted(site.rglob("*.html")):
        page.set_content(text_of(path.read_text(encoding="utf-8")), wait_until="domcontentloaded")
        found[str(path.relative_to(site))] = violations(page, "article", TEXT)
    context.close()
    assert len(found) > 60 and {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(("words", "title"), [("donation", "Lazy graphs"), ("步长 转置", "张量就是存储")])
def test_pages_are_found_by_words(site: Path, page: Page, words: str, title: str) -> None:
    page.goto((site / "index.html").as_uri())
    page.get_by_placeholder("Search").fill(words)
    page.keyboard.press("Enter")
    expect(page.locator("#search-results li").filter(has_text=title).first).to_be_visible()
