"""``%%triton`` without ``%load_ext``: what IPython runs when it starts in an environment that has the lab."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from triton_lab.notebook.cell import magic_options

ROOT = Path(__file__).parents[3]
FILE = ROOT / "triton_lab/notebook/startup/ipython_startup.py"
# Where the wheel puts it, seen from the environment (pyproject.toml; tests/test_packaging.py looks into the wheel).
PLACE = "etc/ipython/startup/50-triton-lab.py"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with this one's packages, and the file where a wheel would have put it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (packages / "ours.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    (folder / PLACE).parent.mkdir(parents=True)
    shutil.copy(FILE, folder / PLACE)
    return folder


def ipython(environment: Path, tmp_path: Path, code: str, lab: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a fresh IPython of ``environment``; ``lab`` is where triton_lab would be found."""
    return subprocess.run(
        [environment / "bin/python", "-m", "IPython", "--no-banner", "--colors=NoColor", "-c", code],
        env=os.environ | {"PYTHONPATH": str(lab), "IPYTHONDIR": str(tmp_path / "ipython")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_magics_are_there_and_nothing_else_is(environment: Path, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "heavy = {'numpy', 'torch', 'triton', 'matplotlib', 'ipywidgets', 'triton_lab.notebook.cell.magic_options'}\n"
        "print(sorted(heavy & set(sys.modules)), [n for n in get_ipython().user_ns if 'triton' in n])\n"
        "print(len(get_ipython().events.callbacks['post_run_cell']))\n"
        "_ = get_ipython().run_cell('%%triton --help')"
    )
    run = ipython(environment, tmp_path, code)
    assert run.stdout.strip() == f"[] []\n0\n{magic_options.usage().strip()}", run.stdout + run.stderr


def test_loading_the_extension_afterwards_says_nothing_and_can_be_undone(environment: Path, tmp_path: Path) -> None:
    code = (
        "shell = get_ipython()\n"
        "for line in ('%load_ext triton_lab', '%reload_ext triton_lab', '%unload_ext triton_lab'):\n"
        "    assert shell.run_cell(line).success\n"
        "print(shell.find_cell_magic('triton'))\n"
        "assert shell.run_cell('%load_ext triton_lab').success and shell.find_cell_magic('triton')"
    )
    run = ipython(environment, tmp_path, code)
    assert run.stdout.strip() == "None" and run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("content", [None, "raise RuntimeError('broken')", "import nowhere_to_be_found"])
def test_an_environment_that_lost_the_lab_starts_as_if_it_never_had_it(
    content: str | None, environment: Path, tmp_path: Path
) -> None:
    # What stands first on the path hides the package: an empty one, or one that cannot be imported.
    lost = tmp_path / "lost"
    (lost / "triton_lab").mkdir(parents=True)
    (lost / "triton_lab/__init__.py").write_text(content or "")
    run = ipython(environment, tmp_path, "print('started', get_ipython().find_cell_magic('triton'))", lost)
    assert run.stdout.strip() == "started None" and run.stderr.strip() == "", run.stdout + run.stderr


def test_ipython_looks_where_the_wheel_puts_it() -> None:
    from IPython.core.application import ENV_CONFIG_DIRS, SYSTEM_CONFIG_DIRS

    assert os.path.join(sys.prefix, "etc", "ipython") in [*ENV_CONFIG_DIRS, *SYSTEM_CONFIG_DIRS]
    assert f'"triton_lab/notebook/startup/ipython_startup.py" = "{PLACE}"' in (ROOT / "pyproject.toml").read_text()
