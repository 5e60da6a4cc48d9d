"""A page for each kind of finding, from its rule and a planted bug: ``python docs/_ext/finding_pages.py`` writes them.

The pages are part of the repository, so that `triton-lab explain` and links have them without the site. When the site
is built, each gets the card of its example, live.
"""

from __future__ import annotations

import base64
import html
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from finding_examples import examples, finding_of, launched  # noqa: E402 - as a script, its folders are not known

from triton_lab.launch.checks.rule import Rule, rules  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = Path(__file__).parents[1] / "findings"
_PICTURE = re.compile(r"<!-- card of ([a-z-]+) -->")


def pages() -> dict[str, str]:
    """All pages by file name, and the page that leads to them."""
    return {"index.md": index(), **{f"{kind}.md": page(kind) for kind in rules()}}


def index() -> str:
    """The page that lists all kinds."""
    rows = "\n".join(f"| [{kind}]({kind}.md) | {rule.severity} | {rule.summary} |" for kind, rule in rules().items())
    tree = "\n".join(rules())
    return f"""# Findings

What `launch.findings`, `triton-lab check` and the pytest plugin may report. `triton-lab explain race` prints the page
of a kind. The gravest come first.

| kind | severity | |
|---|---|---|
{rows}

```{{toctree}}
:hidden:

{tree}
```
"""


def page(kind: str) -> str:
    """The page of one kind; without examples if no planted bug shows it, since no launch does."""
    rule = rules()[kind]
    return f"""# {kind}

{_filled(f"{rule.severity.capitalize()}: {rule.summary}")}

It is about {rule.concerned.value}.

## Why it matters on a GPU

{_filled(rule.why)}
{_example(kind)}
## What to do

{_filled(rule.remedy)}

## When it is right to ignore it

{_filled(rule.intended)}

{_filled(_ignored(rule))}

## What it does not see

{_filled(rule.blind)}
"""


def _example(kind: str) -> str:
    example = examples().get(kind)
    if example is None:
        return ""
    said = finding_of(launched(example.broken), kind)
    return f"""
## An example

{_filled(example.why)}

```python
{example.broken}```

```text
{said}
```

<!-- card of {kind} -->

## The mended twin

```python
{example.mended}```
"""


def _filled(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _ignored(rule: Rule) -> str:
    if rule.intended.startswith("Never"):
        return f'In a test that provokes it: `@pytest.mark.triton_findings("{rule.kind}")`.'
    return (
        f"Then write `# triton-lab: ignore[{rule.kind}]` beside the line, or run `triton-lab check --ignore "
        f'{rule.kind}`. In a test: `@pytest.mark.triton_findings(allow="{rule.kind}")`.'
    )


def put_picture(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the live card of its example into a page."""
    source[0] = _PICTURE.sub(lambda found: _card(found[1]), source[0])


def _card(kind: str) -> str:
    from triton_lab.views.drawing.png import png
    from triton_lab.views.html_output import picture
    from triton_lab.views.launch.card.launch_card import Card
    from triton_lab.views.scene_packing import packed

    card = Card(launched(examples()[kind].broken))
    image = base64.b64encode(png(card.figure())).decode("ascii")
    return f"```{{raw}} html\n{picture(packed(card.standalone()), image, html.unescape(card.title()))}\n```"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", lambda app: main())
    app.connect("source-read", put_picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def main() -> None:
    """Write the pages that have changed, and remove those of kinds that are gone."""
    made = pages()
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
