"""What `pip install` installs: one wheel with the package and the prebuilt JupyterLab extension."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DISTRIBUTION = "triton-lab"
DATA = "triton_lab-{version}.data/data/share/jupyter/labextensions/triton-lab/"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that this checkout makes, built in this environment so that nothing is fetched twice."""
    folder = tmp_path_factory.mktemp("wheel")
    # A stale bundle is built anew, with the jlpm and the Node beside this Python.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(
        [*[sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"], "-w", folder, ROOT],
        check=True,
        env=os.environ | {"PATH": path},
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_is_for_every_platform(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "triton_lab"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    present = [name for name in listed if (ROOT / name).exists()]
    sources = {name for name in present if name.endswith(".po")}  # of translations: their compiled form is there
    assert set(present) - set(names(wheel)) - sources == set()


def test_the_wheel_holds_the_bundle_once(wheel: Path) -> None:
    folder = DATA.format(version=metadata.version(DISTRIBUTION))
    bundle = [name.removeprefix(folder) for name in names(wheel) if name.startswith(folder)]
    assert {"install.json", "package.json"} <= set(bundle)
    assert any(name.startswith("static/remoteEntry.") for name in bundle)
    strays = [name for name in names(wheel) if name.startswith("triton_lab/labextension") or "node_modules" in name]
    assert strays == []


def test_the_wheel_brings_the_file_that_ipython_runs_at_its_start(wheel: Path) -> None:
    version = metadata.version(DISTRIBUTION)
    with zipfile.ZipFile(wheel) as archive:
        brought = archive.read(f"triton_lab-{version}.data/data/etc/ipython/startup/50-triton-lab.py").decode()
    assert brought == (ROOT / "triton_lab/notebook/startup/ipython_startup.py").read_text()


def test_the_wheel_brings_the_settings_and_what_the_server_loads(wheel: Path) -> None:
    version = metadata.version(DISTRIBUTION)
    assert DATA.format(version=version) + "schemas/triton-lab/lab.json" in names(wheel)
    assert f"triton_lab-{version}.data/data/etc/jupyter/jupyter_server_config.d/triton-lab.json" in names(wheel)


def test_the_wheel_holds_one_entry_for_jupyterlab_to_load(wheel: Path) -> None:
    # Two would mean that a bundle of an earlier build was swept in.
    assert len([name for name in names(wheel) if "static/remoteEntry." in name]) == 1


def test_the_wheel_brings_every_notebook_of_the_course(wheel: Path) -> None:
    folder = f"triton_lab-{metadata.version(DISTRIBUTION)}.data/data/share/triton-lab/notebooks/"
    listed = subprocess.run(
        ["git", "ls-files", "notebooks/*.ipynb"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    brought = {name.removeprefix(folder) for name in names(wheel) if name.startswith(folder)}
    assert {Path(name).name for name in listed} <= brought and listed


def test_the_wheel_brings_the_translations_of_the_course(wheel: Path) -> None:
    folder = f"triton_lab-{metadata.version(DISTRIBUTION)}.data/data/share/triton-lab/"
    catalogues = {str(path.relative_to(ROOT)) for path in (ROOT / "notebooks" / "locale").rglob("*.po")}
    assert catalogues and catalogues <= {name.removeprefix(folder) for name in names(wheel)}


def test_the_wheel_is_small_without_notebooks_and_pages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        entries = archive.infolist()
    # A thousand files of code: none has 9 kB but the bundle, the list of all files and the Chinese texts (200 kB).
    pages = ("/notebooks/", "/share/triton-lab/findings/")
    assert sum(one.compress_size for one in entries if not any(page in one.filename for page in pages)) < 3_400_000


def test_the_wheel_brings_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
        points = archive.read(name).decode()
    assert "triton-lab = triton_lab.command.main:main" in points


def test_triton_finds_the_backend_by_its_entry_point() -> None:
    (point,) = metadata.entry_points(group="triton.backends", name="triton_lab")
    assert point.value == "triton_lab.backend"


def test_python_and_javascript_have_one_version() -> None:
    package = json.loads((ROOT / "labextension/package.json").read_text())
    assert package["version"] == metadata.version(DISTRIBUTION)


def test_jupyterlab_has_the_installed_extension_enabled() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "jupyter", "labextension", "list"], check=True, capture_output=True, text=True
    )
    (line,) = [line for line in (run.stdout + run.stderr).splitlines() if "triton-lab" in line]
    assert "enabled" in line
    assert "OK" in line


def test_the_lock_file_names_no_registry() -> None:
    # Yarn writes one in as soon as somebody locks behind a mirror, and everybody else would be sent there.
    assert "http" not in (ROOT / "labextension/yarn.lock").read_text()


@pytest.mark.parametrize("heavy", ["IPython", "click", "ipywidgets", "matplotlib", "numpy", "rich", "torch", "triton"])
def test_importing_the_package_is_light(heavy: str) -> None:
    # Triton imports us while it is itself half imported, so this is more than a matter of speed.
    code = f"import sys, triton_lab; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
