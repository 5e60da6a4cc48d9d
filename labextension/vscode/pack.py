"""Packs VS Code's extension into the file that VS Code installs: ``python pack.py FOLDER FILE.vsix``.

A ``.vsix`` file is a zip archive of the extension with a manifest. ``FOLDER`` holds the renderer made by ``build.mjs``.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

HERE = Path(__file__).parent
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>
"""


def manifest(package: dict[str, Any]) -> str:
    """What VS Code reads before it unpacks the extension."""
    named = " ".join(f"{key}={quoteattr(package[field])}" for key, field in (("Id", "name"), ("Version", "version")))
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata><Identity Language="en-US" {named} Publisher={quoteattr(package["publisher"])}/>
<DisplayName>{escape(package["displayName"])}</DisplayName>
<Description xml:space="preserve">{escape(package["description"])}</Description>
<Categories>Notebooks</Categories><Properties><Property Id="Microsoft.VisualStudio.Code.Engine"
Value={quoteattr(package["engines"]["vscode"])}/></Properties></Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation><Dependencies/>
<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/></Assets>
</PackageManifest>
"""


def pack(built: Path, into: Path) -> None:
    """Write the archive ``into``, with the renderer from the folder ``built``."""
    text = (HERE / "package.json").read_text(encoding="utf-8")
    into.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("extension.vsixmanifest", manifest(json.loads(text)))
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("extension/package.json", text)
        archive.write(built / "renderer.js", "extension/out/renderer.js")


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]))
