"""Checks a scheduler's address, and whether it is this machine's own."""

from __future__ import annotations

import ipaddress
import re

from triton_lab.localization import _

# A host is a name, an IPv4 address, or an IPv6 address in brackets, as Dask reads it. It has no part that two parsers
# could split differently (a user's name, a path, a second port).
_HOST = r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}))|\[(?P<six>[0-9A-Fa-f:.]{2,45})(?:%[A-Za-z0-9._-]{1,32})?\]"
_ADDRESS = re.compile(rf"(?P<scheme>[a-z]{{2,8}})://(?:{_HOST}):(?P<port>[0-9]{{1,5}})", re.ASCII)
_SCHEMES = ("tls", "tcp")


def check_address(address: str, insecure: bool) -> None:
    """Raise ValueError for an address without encryption and authentication."""
    found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if found is None or not 0 < int(found["port"]) < 1 << 16:
        raise ValueError(
            _("scheduler={address} is not an address. Give one like 'tls://gpu.example.org:8786'").format(
                address=repr(address)
            )
        )
    scheme = found["scheme"]
    local = is_this_machine(found["name"] or found["six"])
    if scheme != "tls" and not insecure and not local:
        raise ValueError(
            _(
                "scheduler={address}: {scheme}:// is not encrypted. Others can read and change kernels "
                "and data on the way, and run programs on the workers. Use tls:// with certificates or, "
                "in a network where this is acceptable, insecure=True"
            ).format(address=repr(address), scheme=scheme)
        )
    if scheme not in _SCHEMES:
        raise ValueError(
            _("scheduler={address}: a scheduler is reached over tls:// or tcp://").format(address=repr(address))
        )


def is_this_machine(host: str) -> bool:
    """Whether a host names this machine: ``localhost``, or a loopback address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
