"""Runs a compiled kernel when Triton launches it."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from triton_lab.backend.plugin import dispatch_cache, stepped_launches
from triton_lab.backend.plugin.device_mirror import Mirrors
from triton_lab.backend.plugin.grid_extents import checked_grid, refuse_more_axes
from triton_lab.backend.plugin.kernel_loading import Loaded
from triton_lab.backend.plugin.recorders import LaunchCall, Watch, recorders
from triton_lab.backend.plugin.terminal_progress import bar
from triton_lab.backend.targets import benchmark_events
from triton_lab.interpreter.asynchronous.async_events import Listener
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Limits, Machine
from triton_lab.interpreter.observers import together
from triton_lab.interpreter.printing import KernelPrinter
from triton_lab.native import engine

# Settings of the process, changed by the magics and by `lab.limits`.
limits = Limits(engine=engine.asked())
# Called with the numbers of programs that have run and of all programs. If None, a terminal shows a bar.
progress: Callable[[int, int], None] | None = None
# Called with each event of asynchronous work in a Gluon kernel, for films. If None, no events are made.
events: Listener | None = None


class Launcher:
    """Triton makes one for each compiled kernel and calls it for each launch."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self.source = source
        self.metadata = metadata

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: int,
        function: Loaded,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *objects: Any,
    ) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        self.launch(function, checked_grid(grid_x, grid_y, grid_z), objects)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def launch(self, function: Loaded, grid: tuple[int, int, int], objects: Sequence[Any]) -> None:
        """Run the kernel over ``grid``. Raises KernelError, ArgumentError."""
        executable = function.executable(self.source, self.metadata)
        if function.stops is None:
            function.stops = stepped_launches.has_stops(self.source)
        if function.stops or stepped_launches.around is not None:
            stepped_launches.launch(self.source, functools.partial(self._run, function, executable, grid, objects))
        else:
            self._run(function, executable, grid, objects)

    def _run(
        self, function: Loaded, executable: Executable, grid: tuple[int, int, int], objects: Sequence[Any]
    ) -> None:
        with turn(executable):
            self._launch(function, LaunchCall(self.source, self.metadata, executable, grid, objects, Mirrors()))

    def _launch(self, function: Loaded, call: LaunchCall) -> None:
        hearing = recorders.hearing()
        ready = None if hearing else dispatch_cache.lookup(call, limits)
        if ready is None:
            refuse_more_axes()
            call.prepare()
        watches = [recorder.before(call) for recorder in hearing]
        said = ""
        try:
            instead = watches[0].instead if len(watches) == 1 else None
            if instead is None or not instead(functools.partial(self.apart, call)):
                interpret(call, watches, ready=ready)
            call.mirrors.write_back()
        except BaseException as error:
            said = str(error)
            if hearing:  # without recorders it is not needed, and an error on the call keeps all of it alive
                call.error = error
            raise
        finally:
            if not hearing and not function.looked_at and not recorders.ours:
                from triton_lab.backend.source import operator_precedence

                function.looked_at = True
                operator_precedence.warn(call.written, said)
            for recorder in hearing:
                recorder.after(call)
            call.end()

    def apart(self, call: LaunchCall, work: Callable[[Any, Any], Any], whole: Any, parts: Sequence[Any]) -> list[Any]:
        """``work(whole, part)`` for each part of a launch. The parts are independent; here they run one
        after another.
        """
        done: list[Any] = []
        with bar(call.metadata.name, progress) as told:
            for part in parts:
                done.append(work(whole, part))
                if told is not None:
                    told(len(done), len(parts))
        return done


def prepared(
    source: Any,
    metadata: Any,
    function: Loaded,
    grid: tuple[int, int, int],
    objects: Sequence[Any],
    mirrors: Mirrors,
    private: bool = False,
) -> LaunchCall:
    """A launch, ready to be interpreted. With ``private``, the CPU's own memory is not written either.

    Raises ArgumentError, and Unsupported for a kernel that the CPU target cannot run.
    """
    call = LaunchCall(source, metadata, function.executable(source, metadata), grid, objects, mirrors, private)
    call.prepare()
    return call


def interpret(
    call: LaunchCall, watches: Sequence[Watch], quiet: bool = False, ready: dispatch_cache.Ready | None = None
) -> None:
    """Run a launch on the CPU: as its machine code, if that is ``ready``. ``quiet`` keeps what it prints to itself.

    Raises KernelError, worded for the kernel's author. An interrupt gets the kernel's line that ran.
    """
    try:
        with bar(call.metadata.name, progress) as told:
            made: list[Machine] = []

            def machine() -> Machine:
                made.append(_machine(call, watches, told, quiet))
                return made[-1]

            run = engine.chosen(machine(), call.trial) if ready is None else functools.partial(ready, told, machine)
            start = time.perf_counter()
            try:
                run()
            finally:
                call.seconds = call.interpreted = time.perf_counter() - start
                call.steps = made[-1].steps if made else 0
                benchmark_events.spend(call.seconds)
    except KernelError as error:
        # The cause is shown only for errors of our own code.
        cause = None if error.__cause__ is error else error.__cause__
        raise _described(error, call) from cause
    except KeyboardInterrupt as error:
        _tell_where(error, call)
        raise


def _machine(
    call: LaunchCall, watches: Sequence[Watch], told: Callable[[int, int], None] | None, quiet: bool = False
) -> Machine:
    """The machine that runs a prepared launch."""
    machine = Machine(
        call.executable,
        [value for leaf in call.leaves for value in leaf.values],
        call.grid,
        call.memory,
        observer=together([watch.operations for watch in watches]),
        access_observer=together([watch.accesses for watch in watches]),
        marks=next((watch.marks for watch in watches if watch.marks is not None), None),
        limits=limits,
        progress=told,
        printer=None if call.trial or quiet else KernelPrinter(call.grid, limits.lines),
        events=events,
    )
    machine.allow(call.executable.reach(call.owners))
    return machine


def _described(error: KernelError, call: LaunchCall) -> BaseException:
    from triton_lab.backend.plugin.error_report import described

    return described(error, call).with_traceback(None)


def _tell_where(error: KeyboardInterrupt, call: LaunchCall) -> None:
    from triton_lab.backend.plugin.error_report import told_where

    told_where(error, call)


_NOTHING = contextlib.nullcontext()
# Atomics of one launch are not atomic to those of another: NumPy and the machine code read, compute and write in steps,
# and another thread may run between them. On a GPU they are atomic, and launches of several threads wait for one
# another there, too, unless these chose their own streams.
# A launch may start inside another one, in a signal handler or a finalizer; then it has its turn already. No interrupt
# leaves this lock taken: it is written in C, and with `with` Python checks no signals between the lock and the block.
_turn = threading.RLock()


def turn(executable: Executable) -> AbstractContextManager[object]:
    """Inside, no other thread launches a kernel with atomics, if ``executable`` has atomics."""
    return _turn if executable.updates else _NOTHING


def _after_fork() -> None:
    """Make a new lock in a child process: it has no other threads, so a taken lock would never be released."""
    global _turn
    _turn = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
