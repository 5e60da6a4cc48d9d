"""A chapter of the course as a page: numbered, with links to its files, its solutions folded; and the list of chapters.

``TRITON_LAB_REPOSITORY`` in the environment, such as ``owner/name``, is a repository on GitHub with the notebooks: then
each page has a link that opens its chapter in Colab.
"""

from __future__ import annotations

import copy
import html
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from triton_lab.course.edition import Notebook, as_file, source_of, stripped, without_solutions

DOWNLOADS = "_downloads"  # of the site; below it a folder for each folder of chapters
SOLVED = "solutions"  # the end of the name of the folder with solutions
LIST = "chapters.txt"  # beside the chapters, for the page that lists them
COLAB = "https://colab.research.google.com/github"
_BEGIN = re.compile(r"^\s*#+ *BEGIN SOLUTION", re.MULTILINE)
_HEADING = re.compile(r"^# +(?P<title>.+)$", re.MULTILINE)
_NEEDS = re.compile(r"^\*(?P<needs>[^*\n]+)\*$", re.MULTILINE)
_WORDS = {
    "": ("Download", "exercises to solve", "with solutions", "Open in Colab", "Show the solution", "Hide the solution"),
    "zh": ("下载", "练习待完成", "含答案", "在 Colab 中打开", "显示答案", "隐藏答案"),
}


def words(folder: str) -> tuple[str, ...]:
    """The words of the pages in a folder: ``course`` or ``course-zh``."""
    return _WORDS.get(folder.partition("-")[2], _WORDS[""])


def chapter_page(notebook: Notebook, folder: str, name: str) -> Notebook:
    """The chapter for its page: number and links in its first cell, stubs before its solutions, which are folded."""
    notebook = copy.deepcopy(notebook)
    first = next(cell for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    number, links = name.partition("_")[0], _links(folder, name)
    first["source"] = _HEADING.sub(lambda found: f"# {number} · {found['title']}\n\n{links}", source_of(first), count=1)
    notebook["cells"] = [each for cell in notebook["cells"] for each in _folded(cell, words(folder))]
    return notebook


def _folded(cell: dict[str, Any], told: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """A cell; for one with a solution its stub, and then itself with its code behind a button."""
    text = source_of(cell)
    if cell["cell_type"] != "code" or not _BEGIN.search(text):
        yield cell
        return
    stub = {**copy.deepcopy(cell), "source": without_solutions(text), "outputs": [], "execution_count": None}
    if "id" in cell:
        stub["id"] = f"{cell['id']}-stub"
    yield stub
    cell["metadata"]["tags"] = [*cell["metadata"].get("tags", ()), "hide-input"]
    cell["metadata"]["mystnb"] = {"code_prompt_show": told[4], "code_prompt_hide": told[5]}
    yield cell


def _links(folder: str, name: str) -> str:
    """The links to a chapter's files, as HTML, on one line: a paragraph of its own."""
    download, unsolved, solved, colab = words(folder)[:4]
    there = f"../{DOWNLOADS}/{folder}"
    links = [
        f'{download}: <a href="{there}/{name}" download>{unsolved}</a>',
        f'<a href="{there}-{SOLVED}/{name}" download>{solved}</a>',
    ]
    if repository := os.environ.get("TRITON_LAB_REPOSITORY", ""):
        at = html.escape(f"{COLAB}/{repository}/blob/main/notebooks/{name}")
        links.append(f'<a href="{at}">{colab}</a>')
    return f'<p class="chapter-files">{" · ".join(links)}</p>'


def put_downloads(chapters: Mapping[str, Notebook], site: Path) -> None:
    """Write the files that the pages lead to, both editions, by ``folder/name`` of each chapter."""
    for path, notebook in chapters.items():
        folder, _unused, name = path.partition("/")
        for made, where in ((stripped(notebook, Path(name).stem), folder), (notebook, f"{folder}-{SOLVED}")):
            into = site / DOWNLOADS / where
            into.mkdir(parents=True, exist_ok=True)
            (into / name).write_bytes(as_file(made))


def listed(chapters: Mapping[str, Notebook], folder: str) -> str:
    """The chapters of a folder as Markdown: number, title, minutes and what each needs."""
    lines = []
    for path, notebook in sorted(chapters.items()):
        there, _unused, name = path.partition("/")
        if there == folder:
            text = next(source_of(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
            title, needs = _HEADING.search(text), _NEEDS.search(text)
            told = f"\n: {needs['needs']}" if needs else ""
            lines.append(f"{name.partition('_')[0]} · [{title['title'] if title else name}]({path}){told}\n")
    return "\n".join(lines)
