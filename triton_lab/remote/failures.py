"""What went wrong elsewhere, told as if it had gone wrong here."""

from __future__ import annotations

from typing import Any

from triton_lab.interpreter.errors import KernelError, Stopped
from triton_lab.remote.job import Answer, Ended, Raised


class RemoteError(RuntimeError):
    """A launch on a shared machine did not take place, or not to its end; the message says why and what to do.

    Nothing was written to any tensor.
    """


_ASK = {"launch": "lab.target", "call": "lab.spread"}
_AFTER = {
    "launch": "Nothing was written to the tensors, and the next launch has a process of its own.",
    "call": "Other calls have processes of their own.",
}
# What Triton and GPUs' drivers raise, whoever launches; whatever else a worker may raise is no error of the notebook's.
_AS_HERE: dict[str, type[Exception]] = {
    one.__name__: one for one in (AssertionError, NotImplementedError, RuntimeError, TypeError, ValueError)
}
_CRASH = (
    "A GPU does not say which line did that: with lab.record(), or in a %%triton cell, the launch is tried on the CPU "
    "first, which names it"
)


def raised(answer: Answer, call: Any, kernel: str, deed: str = "launch") -> BaseException:
    """The error to raise for a failure. ``call`` is the launch where the interpreter was to run it, else None.

    ``deed`` says what it was, where that was no launch.
    """
    failure = answer.failure
    if isinstance(failure, Stopped) and call is not None:
        return _kernel_error(failure, call, answer.worker)
    if isinstance(failure, Ended):
        limit = "took more than" in failure.why
        advice = f"ask for more with {_ASK[deed]}(..., max_seconds=...), or {deed} less at once. " if limit else ""
        return RemoteError(
            f"the {deed} of {kernel} on {answer.worker} was ended: {failure.why}\n  {advice}{_AFTER[deed]}"
        )
    assert isinstance(failure, Raised)
    return _python_error(failure, f"in the {deed} of {kernel} on {answer.worker}", deed)


def _kernel_error(failure: Stopped, call: Any, worker: str) -> KernelError:
    """The interpreter's error, in the words that a launch here would have had."""
    from triton_lab.backend.report import described

    call.elsewhere = worker
    return described(failure.error(call.executable.plan), call)


def _python_error(failure: Raised, where: str, deed: str) -> BaseException:
    if failure.type == "OutOfResources":
        from triton.runtime.errors import OutOfResources

        refused: BaseException = OutOfResources(*failure.arguments)
        return refused
    if failure.type in ("MemoryError", "OutOfMemoryError"):
        return RemoteError(
            f"out of memory {where}: {failure.text}\n  Ask for more with {_ASK[deed]}(..., max_bytes=...), or {deed} "
            f"less at once. {_AFTER[deed]}"
        )
    text = f"{failure.text}\n  {where}. {_AFTER[deed]}" + (f" {_CRASH}." if "illegal" in failure.text else "")
    return _AS_HERE.get(failure.type, RemoteError)(text)
