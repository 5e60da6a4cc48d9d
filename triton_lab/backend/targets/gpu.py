"""The GPU that is there, if any, by its own driver."""

from __future__ import annotations

import functools
from typing import Any

from triton_lab.backend.identity import NAME


def gpu_driver_class() -> Any:
    """The driver class of the GPU that is there, or None."""
    from triton.backends import backends

    for name, backend in backends.items():
        if name != NAME and backend.driver.is_active():
            return backend.driver
    return None


def gpu_driver() -> Any:
    """The GPU's own driver, or None where there is no GPU."""
    wanted = gpu_driver_class()
    return None if wanted is None else made(wanted)


def made(driver: Any) -> Any:
    """The instance of a driver class: Triton's own if it has one, else one for good, since Triton keeps what it
    compiled by it."""
    default = default_driver()
    return default if isinstance(default, driver) else _instance(driver)


@functools.cache
def _instance(driver: Any) -> Any:
    return driver()


def default_driver() -> Any:
    """The driver that Triton chooses by itself; None where its choice fails."""
    from triton.runtime import driver

    try:
        return driver.default
    except RuntimeError:  # TRITON_DEFAULT_BACKEND names a backend whose device is not there
        return None
