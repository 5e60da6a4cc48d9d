"""This machine's GPU, if there is one, and its own driver."""

from __future__ import annotations

import functools
from typing import Any

from triton_lab.backend.identity import NAME


def gpu_driver_class() -> Any:
    """The driver class of this machine's GPU, or None."""
    from triton.backends import backends

    for name, backend in backends.items():
        if name != NAME and backend.driver.is_active():
            return backend.driver
    return None


def gpu_driver() -> Any:
    """The GPU's own driver, or None if there is no GPU."""
    wanted = gpu_driver_class()
    return None if wanted is None else made(wanted)


def made(driver: Any) -> Any:
    """The instance of a driver class: Triton's own if it has one, else a single one of ours.

    There must be only one, since Triton stores compiled kernels by instance.
    """
    default = default_driver()
    return default if isinstance(default, driver) else _instance(driver)


@functools.cache
def _instance(driver: Any) -> Any:
    return driver()


def default_driver() -> Any:
    """The driver that Triton chooses itself; None if its choice fails."""
    from triton.runtime import driver

    try:
        return driver.default
    except RuntimeError:  # TRITON_DEFAULT_BACKEND names a backend whose device does not exist
        return None
