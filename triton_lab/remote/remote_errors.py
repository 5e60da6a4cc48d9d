"""Turns remote errors into the errors of a local launch."""

from __future__ import annotations

import builtins
from typing import Any

from triton_lab.interpreter.kernel_errors import KernelError, KernelErrorData
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
        raise DataError(f"{what} cannot be right")


_ASK = {"launch": "lab.target", "call": "lab.spread"}
_AFTER = {
    "launch": "Nothing was written to the tensors, and the next launch has a process of its own.",
    "call": "Other calls have processes of their own.",
}
# Errors that Triton and GPUs' drivers raise for any launch. Other errors in a worker are not the notebook's.
_AS_HERE: dict[str, type[Exception]] = {
    one.__name__: one for one in (AssertionError, NotImplementedError, RuntimeError, TypeError, ValueError)
}
_CRASH = (
    "A GPU does not say which line did that: with lab.record(), or in a %%triton cell, the launch is tried on the CPU "
    "first, which names it"
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
                f"what stopped {kernel} on {answer.worker} cannot be read ({type(error).__name__}). {_AFTER[deed]}"
            )
    if isinstance(failure, JobEnded):
        limit = "took more than" in failure.why
        advice = f"ask for more with {_ASK[deed]}(..., max_seconds=...), or {deed} less at once. " if limit else ""
        return RemoteError(
            f"the {deed} of {kernel} on {answer.worker} was ended: {failure.why}\n  {advice}{_AFTER[deed]}"
        )
    if not isinstance(failure, Raised):
        return RemoteError(f"the {deed} of {kernel} on {answer.worker} failed, and not as a {deed} can. {_AFTER[deed]}")
    return _python_error(failure, f"in the {deed} of {kernel} on {answer.worker}", deed)


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
            f"out of memory {where}: {failure.text}\n  Ask for more with {_ASK[deed]}(..., max_bytes=...), or {deed} "
            f"less at once. {_AFTER[deed]}"
        )
    text = f"{failure.text}\n  {where}. {_AFTER[deed]}" + (f" {_CRASH}." if "illegal" in failure.text else "")
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
