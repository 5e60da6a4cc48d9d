"""isl stopped in the middle of a question: when its time is up, or when a signal comes.

isl's calls hold Python's lock, so no thread of Python's can stop one. isl looks at a mark of its own at each of its
operations (`isl_ctx_abort` sets it), and POSIX has two things that call a C function with one argument and no Python:
a timer, and a read that has come to its end. The timer measures the time that this thread computes, so that a busy
machine gets the same answers; the read waits for the byte that Python's own handler of signals writes
(`signal.set_wakeup_fd`).

Where one of the parts is missing (another C library, another islpy), `stoppable` is false and nothing is stopped.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from time import monotonic, sleep, thread_time
from typing import Any

import islpy as isl

from triton_lab.localization import _

_CLOCK_THREAD_CPUTIME_ID = 3
_TIMER_ABSTIME = 1
_SIGEV_THREAD = 2
_NEVER = float("inf")
_BYTES = 64
_WORDS = 256  # more than isl's context has
# Within this of its end a question may be over while the timer's thread still is to set the mark.
_SLACK = 0.002
# The same for a signal: by then its mark is set, or was and is over.
_LATEST = 0.1


class _Event(ctypes.Structure):
    """``struct sigevent``: call ``function(value)`` in a thread of the C library's."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("function", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("rest", ctypes.c_char * 32),
    )


class _Times(ctypes.Structure):
    """``struct itimerspec``."""

    _fields_ = tuple((name, ctypes.c_long) for name in ("every_s", "every_ns", "at_s", "at_ns"))


class _Read(ctypes.Structure):
    """``struct aiocb``: what both C libraries of Linux begin it with, and room for what is their own."""

    _fields_ = (
        ("file", ctypes.c_int),
        ("operation", ctypes.c_int),
        ("priority", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("event", _Event),
        ("rest", ctypes.c_char * 256),
    )


class _Abort:
    """What stops isl in this process."""

    def __init__(self, context: int, function: int, library: Any) -> None:
        self.event = _Event(context, 0, _SIGEV_THREAD, function, None)
        self.library = library
        self.thread = threading.local()  # its timer: the clock is the thread's, too
        self.timer()
        self.read: _Read | None = None
        self.usual: list[int] = []  # the file that took signals before; none: they do not stop isl now
        self.never = _Times()
        self.when = _Times()

    def timer(self) -> ctypes.c_void_p:
        found: ctypes.c_void_p | None = getattr(self.thread, "timer", None)
        if found is None:
            found = ctypes.c_void_p()
            if self.library.timer_create(_CLOCK_THREAD_CPUTIME_ID, ctypes.byref(self.event), ctypes.byref(found)) != 0:
                raise OSError(ctypes.get_errno(), _("no timer"))
            self.thread.timer = found
        return found

    def at(self, deadline: float) -> None:
        """Stop isl at ``deadline`` (of `time.thread_time`); infinity: never."""
        when = self.never
        if deadline != _NEVER:
            when = self.when
            when.at_s, when.at_ns = divmod(max(int(deadline * 1e9), 1), 1_000_000_000)
        self.library.timer_settime(self.timer(), _TIMER_ABSTIME, ctypes.byref(when), None)

    def end_thread(self) -> None:
        """This thread asks no more."""
        self.library.timer_delete(self.timer())
        del self.thread.timer

    def wait_for_signal(self) -> int:
        """Stop isl when a byte comes; gives the file that takes it."""
        if self.read is None:
            self.source, self.sink = os.pipe()
            os.set_blocking(self.sink, False)
            self.buffer = ctypes.create_string_buffer(_BYTES)
            self._read_again()
        return self.sink

    def watch(self) -> None:
        sink = self.wait_for_signal()
        # One call of C: no interrupt comes between the change and the note of what was there.
        self.usual.extend(map(partial(signal.set_wakeup_fd, warn_on_full_buffer=False), (sink,)))

    def watch_no_more(self, raised: bool) -> None:
        if not self.usual:
            return
        usual = self.usual[0]
        signal.set_wakeup_fd(usual, warn_on_full_buffer=False)
        self._await_mark(raised)
        come = self.bytes_come()
        if come and usual >= 0:  # an event loop waits for them
            with suppress(OSError):  # it is full, and then its reader wakes anyway
                os.write(usual, come)
        self.usual.clear()

    def bytes_come(self) -> bytes:
        """What came, with the read begun anew where it has ended."""
        if self._read_goes_on():
            return b""
        assert self.read is not None
        count = self.library.aio_return(ctypes.byref(self.read))
        found = self.buffer.raw[: max(count, 0)]
        while select.select([self.source], [], [], 0)[0]:
            found += os.read(self.source, _BYTES)
        self._read_again()
        return found

    def _await_mark(self, raised: bool) -> None:
        """Where a signal came, take back what stops isl: the thread that sets the mark may be late."""
        coming = monotonic() + _LATEST
        while self._read_goes_on():
            if monotonic() > coming or (not raised and not select.select([self.source], [], [], 0)[0]):
                return
            sleep(0.0005)
        while monotonic() < coming and not isl.DEFAULT_CONTEXT.aborted():
            sleep(0.0005)
        if isl.DEFAULT_CONTEXT.aborted():
            isl.DEFAULT_CONTEXT.resume()

    def _read_goes_on(self) -> bool:
        assert self.read is not None
        return bool(self.library.aio_error(ctypes.byref(self.read)) != 0)

    def _read_again(self) -> None:
        self.read = _Read(self.source, 0, 0, ctypes.addressof(self.buffer), _BYTES, self.event)
        if self.library.aio_read(ctypes.byref(self.read)) != 0:
            raise OSError(ctypes.get_errno(), _("no read"))


def stoppable() -> bool:
    """Whether a question can be stopped here."""
    return _abort(os.getpid()) is not None


def stop_at(deadline: float) -> None:
    """Have isl give up at ``deadline`` (of `time.thread_time`), at infinity never; whatever stopped it is over."""
    abort = _abort(os.getpid())
    if abort is not None:
        abort.at(deadline)
    if isl.DEFAULT_CONTEXT.aborted():
        isl.DEFAULT_CONTEXT.resume()


def end_thread() -> None:
    """To be called in a thread that has asked, at its end."""
    abort = _abort(os.getpid())
    if abort is not None:
        abort.end_thread()


def wait_out(deadline: float) -> None:
    """Return when a timer that was set for ``deadline`` sets no mark any more."""
    if -_SLACK < thread_time() - deadline < _SLACK:
        sleep(2 * _SLACK)


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Within, a signal with a handler of Python's makes isl give up. Python runs handlers in the main thread alone."""
    mine, raised = may_watch(), True
    try:
        if mine:
            watch()
        yield
        raised = False
    except ValueError:  # of ours: isl gave up, or the text is refused
        raised = False
        raise
    finally:
        if mine:
            try:
                watch_no_more(raised)
            except BaseException:  # an interrupt
                watch_no_more(True)
                raise


def may_watch() -> bool:
    """Whether signals are to stop isl from now on: not where they do already."""
    abort = _abort(os.getpid())
    return abort is not None and not abort.usual and threading.get_ident() == threading.main_thread().ident


def watch() -> None:
    """Have signals stop isl, until `watch_no_more`."""
    abort = _abort(os.getpid())
    if abort is not None:
        # A read that the C library does not begin, or another interpreter: nothing stops isl.
        with suppress(OSError, ValueError):
            abort.watch()


def watch_no_more(raised: bool) -> None:
    """May be called again where an interrupt ended it. ``raised``: a handler may have raised just now."""
    abort = _abort(os.getpid())
    if abort is not None:
        abort.watch_no_more(raised)


@cache
def _abort(process: int) -> _Abort | None:
    """Of this process: a fork has no timers of its parent's."""
    try:
        module = ctypes.CDLL(isl._isl.__file__)
        function = ctypes.cast(module.isl_ctx_abort, ctypes.c_void_p).value
        library = _c_library()
        context = _context_address()
        return _Abort(context, function, library) if context and function and library else None
    except (AttributeError, OSError, struct.error):
        return None


def _c_library() -> Any:
    for name in (None, "librt.so.1"):  # until 2.34 the GNU C library has timers in another file
        library = ctypes.CDLL(name, use_errno=True)
        if all(hasattr(library, call) for call in ("timer_create", "timer_settime", "aio_read", "aio_error")):
            library.aio_return.restype = ctypes.c_ssize_t
            library.timer_delete.argtypes = (ctypes.c_void_p,)
            library.timer_settime.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
            return library
    return None


def _context_address() -> int:
    """Where isl's context is; 0 where it is not found. islpy's object holds its address, or points at it.

    It is known by its limit of operations: a number that we set is found in it, and the next one, too.
    """
    context: Any = isl.DEFAULT_CONTEXT
    usual = context.get_max_operations()
    try:
        own = _words(id(context), context.__sizeof__())
        for address in (*own, *(word for pointer in own for word in _words(pointer, 8))):
            places = set(range(_WORDS))
            for mark in (0x5EED_0000_0001, 0x5EED_0000_0002):
                context.set_max_operations(mark)
                places &= {k for k, word in enumerate(_words(address, 8 * _WORDS)) if word == mark}
            if places:
                return address
    finally:
        context.set_max_operations(usual)
    return 0


def _words(address: int, size: int) -> tuple[int, ...]:
    """The machine words there; none where this process has no memory there."""
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            data = memory.read(size)
    except (OSError, ValueError, OverflowError):
        return ()
    return struct.unpack_from(f"{len(data) // 8}N", data)
