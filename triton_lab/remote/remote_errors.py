"""Turns remote errors into the errors of a local launch."""

from __future__ import annotations

import builtins
from typing import Any

from triton_lab.interpreter.kernel_errors import KernelError, KernelErrorData
from triton_lab.localization import N_, _, translated
from triton_lab.remote.job import JobAnswer, JobEnded, Raised


class RemoteError(RuntimeError):
    """A launch on a shared machine did not run, or did not finish; the message says why and what to do.

    Nothing was written to any tensor.
    """


class DataError(ValueError):
    """What came from elsewhere is not what it should be; the message says what is wrong."""


def hold(condition: bool, what: str) -> None:
    """Raise DataError if the ``condition`` does not hold for ``what``, a part of what came from elsewhere."""
    if not condition:
        raise DataError(_("{what} is not valid").format(what=what))


_ASK = {"launch": "lab.target", "call": "lab.spread"}
_AFTER = {
    "launch": N_("Nothing was written to the tensors. The next launch gets a new process."),
    "call": N_("Other calls run in other processes."),
}
# Errors that Triton and GPUs' drivers raise for any launch. Other errors in a worker are not the notebook's.
_AS_HERE: dict[str, type[Exception]] = {
    one.__name__: one for one in (AssertionError, NotImplementedError, RuntimeError, TypeError, ValueError)
}
_CRASH = N_(
    "A GPU does not report the line of this error. With lab.record(), or in a %%triton cell, the launch runs "
    "on the CPU first, which names the line"
)


def raised(answer: JobAnswer, call: Any, kernel: str, deed: str = "launch") -> BaseException:
    """The error to raise for a failure. ``call`` is the launch if the interpreter ran it, else None.

    ``deed`` names the action, if it was not a launch.
    """
    failure = answer.failure
    if isinstance(failure, KernelErrorData) and call is not None:
        try:
            return _kernel_error(failure, call, answer.worker)
        except Exception as error:  # a worker may send anything about a kernel
            return RemoteError(
                _("the error of {kernel} on {worker} cannot be read ({type}). {after}").format(
                    kernel=kernel, worker=answer.worker, type=type(error).__name__, after=translated(_AFTER[deed])
                )
            )
    if isinstance(failure, JobEnded):
        limit = "took more than" in failure.why
        advice = (
            _("allow more with {ask}(..., max_seconds=...), or {deed} less at once. ").format(ask=_ASK[deed], deed=deed)
            if limit
            else ""
        )
        return RemoteError(
            _("the {deed} of {kernel} on {worker} was ended: {why}\n  {advice}{after}").format(
                deed=deed,
                kernel=kernel,
                worker=answer.worker,
                why=failure.why,
                advice=advice,
                after=translated(_AFTER[deed]),
            )
        )
    if not isinstance(failure, Raised):
        return RemoteError(
            _("the {deed} of {kernel} on {worker} failed with an unexpected report. {after}").format(
                deed=deed, kernel=kernel, worker=answer.worker, after=translated(_AFTER[deed])
            )
        )
    return _python_error(
        failure, _("in the {deed} of {kernel} on {worker}").format(deed=deed, kernel=kernel, worker=answer.worker), deed
    )


def _kernel_error(failure: KernelErrorData, call: Any, worker: str) -> KernelError:
    """The interpreter's error, with the message of a local launch."""
    from triton_lab.backend.plugin.error_report import described

    call.elsewhere = worker
    return described(failure.error(call.executable.plan), call)


def _python_error(failure: Raised, where: str, deed: str) -> BaseException:
    if failure.type == "OutOfResources" and [type(one) for one in failure.arguments] == [int, int, str]:
        from triton.runtime.errors import OutOfResources

        refused: BaseException = OutOfResources(*failure.arguments)
        return refused
    if failure.type in ("MemoryError", "OutOfMemoryError"):
        return RemoteError(
            _(
                "out of memory {where}: {text}\n  Allow more with {ask}(..., max_bytes=...), or {deed} less at once. "
                "{after}"
            ).format(where=where, text=failure.text, ask=_ASK[deed], deed=deed, after=translated(_AFTER[deed]))
        )
    text = f"{failure.text}\n  {where}. {translated(_AFTER[deed])}" + (
        f" {translated(_CRASH)}." if "illegal" in failure.text else ""
    )
    if deed == "launch":
        return _AS_HERE.get(failure.type, RemoteError)(text)
    kind = _kind(failure.type)
    return RemoteError(f"{failure.type}: {text}") if kind is None else kind(text)


def _kind(name: str) -> type[Exception] | None:
    """The error class of Python or of this package with this name, if it takes one text."""
    import triton_lab

    found = getattr(builtins, name, None)
    if found is None and name in triton_lab.__all__:
        found = getattr(triton_lab, name)
    if not isinstance(found, type) or not issubclass(found, Exception):
        return None
    try:
        found("a text")
    except Exception:
        return None
    return found
