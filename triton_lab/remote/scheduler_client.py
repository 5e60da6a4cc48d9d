"""A client of a Dask scheduler, or the reason why there is none."""

from __future__ import annotations

import ssl
import warnings
from typing import Any

from triton_lab.backend.targets.active_target import TargetError
from triton_lab.localization import _
from triton_lab.remote import scheduler_connection

CONNECT = 10.0  # seconds that a scheduler may take to answer


def connected(address: str, security: Any) -> Any:
    """A client of the scheduler. Raises TargetError with the reason if there is none."""
    try:
        with warnings.catch_warnings():
            # A different patch version on the other side needs no action by the user.
            warnings.simplefilter("ignore")
            return scheduler_connection.client(address, security, CONNECT)
    except Exception as error:  # Dask uses assertions for data from its peers
        raise TargetError(_refusal(address, error)) from None


def _refusal(address: str, error: BaseException) -> str:
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain:
        chain.append(one)
        one = one.__cause__ or one.__context__
    told = " ".join(map(str, chain))
    if any(isinstance(one, ssl.SSLError) for one in chain) or "SSL" in told or "certificate" in told:
        return _(
            "the scheduler {address} and this notebook do not trust each other's certificates "
            "({told}). Pass security=distributed.Security(tls_ca_file=..., tls_client_cert=..., "
            "tls_client_key=..., require_encryption=True) with files signed by the scheduler's "
            "authority"
        ).format(address=address, told=told[:200])
    if not isinstance(error, (OSError, RuntimeError)):
        return _("the scheduler {address} cannot be reached ({type}: {error})").format(
            address=address, type=type(error).__name__, error=f"{error!s:.200}"
        )
    return _(
        "the scheduler {address} did not answer within {connect} s. Check the address, that the "
        "scheduler runs, and that it speaks TLS as the address says"
    ).format(address=address, connect=f"{CONNECT:g}")


def installed() -> None:
    """Raise TargetError if Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise TargetError(
            _("a Dask scheduler can be used only if Dask is installed: pip install 'triton-lab[dask]'")
        ) from None
