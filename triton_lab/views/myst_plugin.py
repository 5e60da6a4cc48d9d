"""Live pictures in a site that MyST builds: ``python -m triton_lab.views.myst_plugin FOLDER`` puts a plugin there.

``FOLDER`` is that of ``myst.yml``, which names the plugin: ``plugins: [triton-lab.mjs]`` below ``project``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from triton_lab.views.script_bundle import PICTURE, script, stylesheet

PLUGIN = "triton-lab.mjs"


def put_plugin(folder: Path) -> list[Path]:
    """Write the plugin, and the script and the style sheet that it names, into ``folder``; returns the files."""
    plugin = Path(__file__).with_suffix(".mjs").read_text(encoding="utf-8")
    texts = {PLUGIN: plugin, "triton-lab-picture.mjs": script(PICTURE), "triton-lab.css": stylesheet()}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


if __name__ == "__main__":
    print(*put_plugin(Path(*sys.argv[1:2])), sep="\n")
