"""Copies of the tree in which a change is made and tests are run, one at a time in each."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Without our own plugin, which is found by its entry point also where what is changed has none.
PYTEST = ("-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:triton-lab", "--no-header")


def _files() -> list[str]:
    """The files of the tree, relative to its root: what git knows, or all where there is no git."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    names = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
    return [str(name) for name in names if not {"node_modules", ".venv", ".git"} & set(name.parts)]


def write(file: Path, text: str) -> None:
    """Another version of a module."""
    file.write_text(text, encoding="utf-8")
    # Python tells versions of a file apart by second and size: a changed digit has the same.
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)


class Copy:
    """A copy of the tree in ``folder``, in which one file at a time is changed.

    ``memory``: GiB of address space that a run of tests may have.
    """

    def __init__(self, folder: Path, memory: float) -> None:
        self.folder, self.memory = folder, memory
        self.said = ""  # by the last run of tests
        for name in _files():
            if (ROOT / name).is_file() and not (ROOT / name).is_symlink():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)

    def write(self, path: str, text: str) -> None:
        write(self.folder / path, text)

    async def run(
        self, options: Sequence[str], tests: Sequence[str], seconds: float | None, more: Mapping[str, str] | None = None
    ) -> int:
        """pytest's exit status; raises TimeoutError. ``more``: of the environment."""
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self.folder), os.environ.get("PYTHONPATH")])),
            "OMP_NUM_THREADS": "1",  # several run at once, each on one core
            "TRITON_CACHE_DIR": str(self.folder / ".triton"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.folder / ".hypothesis"),
            **(more or {}),
        }
        bounded = ["sh", "-c", f'ulimit -v {int(self.memory * (1 << 20))}; exec "$@"', "sh"]
        # Names of tests may be thousands: more than a command line takes.
        listed = self.folder / ".arguments"
        listed.write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
        with tempfile.TemporaryFile() as output:
            process = await asyncio.create_subprocess_exec(
                *bounded, sys.executable, "-m", "pytest", *PYTEST, *options, f"@{listed}",
                cwd=self.folder, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                code = await asyncio.wait_for(process.wait(), seconds)
                output.seek(0)
                self.said = output.read().decode(errors="replace")
                return code
            finally:
                # Whatever the tests started goes with them.
                if process.returncode is None:
                    os.killpg(process.pid, 9)
                    await process.wait()
