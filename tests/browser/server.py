"""A JupyterLab server that knows nothing of the user's home and asks nothing of the network."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.preloading import offer_kernel

START_SECONDS = 120
EXTENSION = Path(__file__).parents[2] / "triton_lab" / "labextension"


@dataclass(frozen=True)
class JupyterServer:
    url: str
    """Where it listens, without a slash at the end."""
    token: str
    root: Path
    """The folder that it serves."""
    settings: Path
    """Where it keeps what users set, such as the theme."""

    def forget_settings(self) -> None:
        """Set all as it is for a new user, but for the question about news, which would cover the page."""
        shutil.rmtree(self.settings, ignore_errors=True)
        notification = self.settings / _OF_NO_MATTER[0]
        notification.parent.mkdir(parents=True)
        notification.write_text(json.dumps({"fetchNews": "false"}))

    @contextlib.contextmanager
    def extension_disabled(self) -> Iterator[None]:
        """While it lasts, pages are loaded as after ``jupyter labextension disable triton-lab``."""
        config = self.root.parent / "config" / "labconfig" / "page_config.json"
        config.parent.mkdir(exist_ok=True)
        config.write_text(json.dumps({"disabledExtensions": {"triton-lab": True}}))
        try:
            yield
        finally:
            config.unlink()

    def is_set(self) -> bool:
        """Whether anything but the theme is set as a new user does not have it."""
        found = {str(file.relative_to(self.settings)) for file in self.settings.rglob("*") if file.is_file()}
        return not found <= set(_OF_NO_MATTER)


# The question about news, and the theme.
_OF_NO_MATTER = tuple(
    f"@jupyterlab/apputils-extension/{name}.jupyterlab-settings" for name in ("notification", "themes")
)


@contextlib.contextmanager
def serve(home: Path) -> Iterator[JupyterServer]:
    """Run JupyterLab on a free port, with all its folders below ``home``."""
    root = home / "root"
    root.mkdir()
    # What was built in this tree comes before what some installation has copied.
    extensions = home / "share" / "labextensions"
    extensions.mkdir(parents=True)
    if EXTENSION.is_dir():
        (extensions / "triton-lab").symlink_to(EXTENSION)
    # And so it is with what the server loads of ours.
    enabled = home / "config" / "jupyter_server_config.d"
    enabled.mkdir(parents=True)
    shutil.copy(EXTENSION.parents[1] / "labextension" / "server.json", enabled / "triton-lab.json")
    offer_kernel(home / "share")  # there are a hundred kernels
    server = JupyterServer(f"http://127.0.0.1:{_free_port()}", secrets.token_hex(16), root, home / "settings")
    server.forget_settings()
    log_path = home / "jupyter.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(_command(server), env=_environment(home), cwd=root, stdout=log, stderr=log)
        try:
            _await_start(server, process, log_path)
            yield server
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        # Asked to stop while it shuts a kernel down, Jupyter now and then waits for ever. The kernel
        # itself ends as soon as its parent is gone.
        process.kill()
        process.wait()


def _command(server: JupyterServer) -> list[str]:
    return [
        *[sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"],
        f"--ServerApp.root_dir={server.root}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={server.url.rpartition(':')[2]}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={server.token}",
        f"--LabApp.user_settings_dir={server.settings}",
        # window.jupyterapp: tests await promises of the application in place of sleeping.
        "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True",
        # A kernel that a test is done with is killed: it would take two seconds to end by itself.
        "--KernelManager.shutdown_wait_time=0",
        "--LabApp.extension_manager=readonly",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]


def _environment(home: Path) -> dict[str, str]:
    """The caller's environment with every folder of Jupyter, IPython and the user replaced."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
    return kept | {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_PATH": str(home / "share"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_start(server: JupyterServer, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/api?token={server.token}", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            # A process that has not opened its port yet can only be asked again.
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-4000:]}")
