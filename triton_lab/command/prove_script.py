"""`triton-lab prove`: runs a script, and proves the kernels of its launches for every size."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from triton_lab.command import console_report, exception_text
from triton_lab.command.run_script import Script, run
from triton_lab.command.terminal import is_coloured, show_lines, write
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.record import record
from triton_lab.localization import _
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED, UNKNOWN, AccessProof, Proof, PropertyProof
from triton_lab.polyhedral.proofs.prove import prove

# Exit codes: something is refuted; the script failed by itself.
WRONG, FAILED = 1, 2
_STYLES = {PROVED: "green", REFUTED: "bold red", UNKNOWN: "yellow"}


def prove_script(script: Script, assume: Sequence[str], seconds: float, as_json: bool) -> int:
    """Run ``script``, prove its kernels and print the table; returns the exit code. Raises UsageError."""
    from triton_lab.backend.targets.active_target import target

    apart = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()
    with apart, target("cpu"), record() as launches:
        ended = run(script)
    failed = ended.error is not None and not isinstance(ended.error, (SystemExit, KernelError))
    if ended.error is not None and not isinstance(ended.error, SystemExit):
        exception_text.tell(ended.error, is_coloured(sys.stderr))
    try:
        proofs = [_proof(same, assume, seconds) for same in _by_kernel(launches)]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        write(sys.stdout, json.dumps([data(one) for one in proofs], indent=1) + "\n")
    else:
        for one in proofs:
            show_lines(sys.stdout, _lines(one))
        if not proofs:
            show_lines(sys.stdout, [(_("the script launched no kernel"), "")])
    # A kernel may write a part of its output on purpose.
    outcomes = [part.outcome for one in proofs for part in one.accesses]
    outcomes += [part.outcome for one in proofs for part in one.property("races")]
    if REFUTED in outcomes:
        return WRONG
    return FAILED if failed or ended.code else 0


def _by_kernel(launches: Sequence[Launch]) -> Iterator[list[Launch]]:
    """The launches of each kernel with the same constants, in the order of the first."""
    found: dict[tuple[Any, ...], list[Launch]] = {}
    for launch in launches:
        constants = tuple((a.name, repr(a.value)) for a in launch.arguments if a.kind == "constexpr")
        found.setdefault((launch.file, launch.first_line, launch.kernel, constants), []).append(launch)
    yield from found.values()


def _proof(launches: Sequence[Launch], assume: Sequence[str], seconds: float) -> Proof:
    """The proof under those of the assumptions that name what the kernel has. Raises ValueError for a wrong text."""
    from triton_lab.launch.assumption import names_of, parsed

    first = launches[0]
    known = {a.name.split("[")[0] for a in first.arguments} | {"grid"}
    fitting = [text for text in assume if names_of(parsed(text.removeprefix("not "))) <= known]
    return prove(launches, assume=fitting, seconds=seconds)


def _lines(proof: Proof) -> Iterator[tuple[str, str]]:
    """The table of a proof: a line for each access and property, and the assumptions."""
    constants = ", ".join(f"{name}={value}" for name, value in proof.constants.items())
    yield f"{proof.kernel} {constants}".strip(), "bold"
    places = [_place(proof, one) for one in proof.accesses]
    width = max(map(len, places), default=0)
    for place, one in zip(places, proof.accesses, strict=True):
        reason = f": {one.reason}" if one.reason else ""
        told = f"{one.kind} {one.argument or '?'}: {one.verdict}{reason}"
        yield f"  {place:<{width}}  {told}", _STYLES[one.outcome]
    for other in proof.properties:
        yield f"  {other}", _STYLES[other.outcome]
    if proof.assumptions:
        yield _("  as long as {conditions}").format(conditions=", ".join(map(str, proof.assumptions))), ""
    yield "", ""


def _place(proof: Proof, one: AccessProof) -> str:
    column = "" if one.column is None else f":{one.column + 1}"
    return f"{console_report.path(one.file or proof.file)}:{one.line or '?'}{column}"


def data(proof: Proof) -> dict[str, Any]:
    """The proof as JSON: lines as the editor counts, columns from 1."""
    return {
        "kernel": proof.kernel,
        "file": proof.file,
        "line": proof.first_line,
        "outcome": proof.outcome,
        "grid": list(proof.grid),
        "parameters": list(proof.parameters),
        "constants": {name: repr(value) for name, value in proof.constants.items()},
        "seconds": round(proof.seconds, 4),
        "accesses": [_access(one) for one in proof.accesses],
        "properties": [_property(one) for one in proof.properties],
        "assumptions": [{"text": one.text, "origin": one.origin} for one in proof.assumptions],
    }


def _access(one: AccessProof) -> dict[str, Any]:
    return {
        "line": one.line,
        "column": None if one.column is None else one.column + 1,
        "file": one.file,
        "kind": one.kind,
        "argument": one.argument,
        "outcome": one.outcome,
        "reason": one.reason,
        "sizes": dict(one.sizes),
        "program": one.program,
        "lane": one.lane,
    }


def _property(one: PropertyProof) -> dict[str, Any]:
    return {
        "name": one.name,
        "outcome": one.outcome,
        "reason": one.reason,
        "argument": one.argument,
        "line": one.line,
    }
