"""The pages about kinds of findings: their text, and the links to them."""

from __future__ import annotations

import os
from pathlib import Path

from triton_lab.data_folders import data_folders

# The address of a built site, such as https://example.org/triton-lab/: links then lead there.
SITE = "TRITON_LAB_SITE"


def page(kind: str) -> Path | None:
    """The page of a kind as Markdown: in a clone that of the documentation, else where pip puts it; None without."""
    pages = (folder / f"{kind}.md" for folder in data_folders("docs/findings", "findings"))
    return next(filter(Path.exists, pages), None)


def site_link(kind: str) -> str:
    """The page's address on the site that the environment names; "" if it names none."""
    site = os.environ.get(SITE, "").rstrip("/")
    return f"{site}/findings/{kind}.html" if site.startswith(("https://", "http://", "file://")) else ""


def link(kind: str) -> str:
    """The page's address on the site, else that of the file on this machine; "" if there is neither."""
    path = page(kind)
    return site_link(kind) or ("" if path is None else path.as_uri())
