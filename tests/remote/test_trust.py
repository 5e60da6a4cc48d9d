"""Across borders of trust nothing is unpickled: what a job, a worker or a scheduler sends is data, or an error."""

from __future__ import annotations

import functools
import os
import pickle
import random
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.kernels import double
from tests.wordings import Wording

pytest.importorskip("distributed", reason="needs Dask: pip install 'triton-lab[dask]'")

from tests.hostile import answers
from tests.hostile.answers import Trap
from tests.remote.clusters import Shared
from tests.remote.test_lost import runs
from triton_lab.processes import isolation
from triton_lab.processes.descendants import descendants
from triton_lab.remote import job_folders
from triton_lab.remote.cluster_target import _drivers
from triton_lab.remote.job_server import Server
from triton_lab.remote.scheduler_address import check_address
from triton_lab.remote.wire_data import NotData, packed, unpacked


def spread(school: Shared, *calls: Any, **options: Any) -> list[Any]:
    return lab.spread(calls, scheduler=school.address, security=school.certificates.security, **options)


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:8786", "tcp://[::1]:1", "tcp://localhost:8786", "tls://any.org:1"]
)
def test_addresses_that_may_be_asked(address: str) -> None:
    check_address(address, False)


def test_an_address_that_only_looks_like_this_machine_is_refused(wording: Wording) -> None:
    for address, local in answers.addresses():
        if not local:
            with pytest.raises(ValueError, match=r"^scheduler="):
                check_address(address, False)
    check_address("tcp://10.0.0.1:8786", True)
    with wording.raises(ValueError, address="'inproc://10.0.0.1:8786'"):
        check_address("inproc://10.0.0.1:8786", True)


def test_values_come_back_as_they_were() -> None:
    whole = [None, True, -(2**100), 0.5, float("inf"), "x", b"y", (1, [2]), {"k": {3: ()}}]
    assert unpacked(packed(whole), 1 << 20) == whole
    for array in (np.arange(6).reshape(2, 3)[:, ::2], np.zeros((0, 2)), np.array(7, ">i2"), np.array([1j])):
        found = unpacked(packed(array), 1 << 20)
        assert np.array_equal(found, array) and found.dtype == array.dtype and found.shape == array.shape
    for tensor in (torch.arange(6.0).reshape(2, 3).T, torch.ones(3, dtype=torch.bfloat16), torch.empty(0, 2)):
        found = unpacked(packed(tensor), 1 << 20)
        assert torch.equal(found, tensor) and found.dtype == tensor.dtype
    with lab.record() as launches:
        double[(1,)](torch.ones(4), torch.zeros(4), 4, BLOCK=4)
    (again,) = unpacked(packed(launches[:1]), 1 << 24)
    assert (again.kernel, again.grid) == ("double", (1, 1, 1)) and lab.compare(
        launches[0], again
    ).verdict == "bit-equal"


@pytest.mark.parametrize("value", [object(), {1}, [{"a": (1, len)}], np.array(["text"]), np.array([None])])
def test_what_is_no_data_is_named_with_its_place(value: Any, wording: Wording) -> None:
    with pytest.raises(NotData) as caught:
        packed(value)
    if isinstance(value, list):
        wording(caught.value, place="value[0]['a'][1]", type="builtin_function_or_method")


def test_a_nest_that_is_too_deep_is_refused_before_it_is_sent() -> None:
    deep = functools.reduce(lambda inner, _: [inner], range(20), 1)
    assert unpacked(packed(deep), 1 << 20) == deep
    with pytest.raises(NotData, match="nested deeper"):
        packed([[[[[deep]]]]])


def test_hostile_answers_messages_and_results_are_refused(tmp_path: Path) -> None:
    marker = tmp_path / "read"
    trap = pickle.dumps(Trap(marker))
    for _, data in answers.answers(trap, random.Random(0)):
        assert answers._answer(data) == "refused"
    for _, frames in answers.messages(trap):
        assert answers._message(frames) in ("refused", "survived")
    for _, result in answers.results(trap):
        assert answers._result(result) == "refused"
    assert all(answers._place(text) == "refused" for text in answers.places())
    assert not marker.exists()
    pickle.loads(trap).close()
    assert marker.exists()


def forges(trap: bytes) -> None:
    answers._fills(trap)


def test_a_forged_answer_is_read_by_nobody(school: Shared, tmp_path: Path) -> None:
    marker = tmp_path / "read"
    forged, honest = spread(school, functools.partial(forges, pickle.dumps(Trap(marker))), functools.partial(int, "7"))
    assert isinstance(forged.error, lab.RemoteError)
    assert honest.value == 7 and not marker.exists()


def gives(marker: str) -> Any:
    return [Trap(Path(marker))]


def throws(marker: str) -> None:
    class Error(ValueError):
        def __reduce__(self) -> tuple[Any, ...]:
            return open, (marker, "w")

    raise Error("a text")


def test_what_a_call_returns_or_raises_is_not_unpickled_here(school: Shared, tmp_path: Path) -> None:
    marker = tmp_path / "read"
    calls = [functools.partial(one, str(marker)) for one in (gives, throws)]
    gave, threw, key = spread(school, *calls, functools.partial({}.__getitem__, "k"))
    assert type(gave.error) is TypeError and all(
        part in str(gave.error) for part in ("value[0]", "tests.hostile.answers.Trap")
    )
    assert type(threw.error) is lab.RemoteError and "Error: a text" in str(threw.error)
    assert type(key.error) is KeyError and not marker.exists()


def of_the_test_suite(file: Path) -> Any:
    return {"file": file.name, "arrays": (np.arange(3), torch.ones(2)), "codes": [pytest.ExitCode.OK]}


def test_data_of_many_kinds_comes_back(school: Shared) -> None:
    (found,) = spread(school, functools.partial(of_the_test_suite, Path("a.py")))
    assert found.error is None and found.value["file"] == "a.py" and found.value["codes"] == [0]
    assert found.value["arrays"][0].tolist() == [0, 1, 2] and torch.equal(found.value["arrays"][1], torch.ones(2))


def outlives(file: str) -> None:
    for _ in range(2):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                import time

                time.sleep(2)
                Path(file).touch()
            os._exit(0)
    while True:
        signal.pause()


def below(process: int) -> list[int]:
    """The ids of all processes that it has started, and theirs."""
    return sorted(one.number for one in descendants(process))


def test_no_process_outlives_its_job(school: Shared, tmp_path: Path) -> None:
    assert school.worker is not None
    late = tmp_path / "late"
    (found,) = spread(school, functools.partial(outlives, str(late)), max_seconds=1)
    assert isinstance(found.error, lab.RemoteError) and "1 s" in str(found.error)
    server = below(school.worker.pid)
    assert spread(school, functools.partial(int, "7"))[0].value == 7
    assert below(school.worker.pid) == server
    threading.Event().wait(2.5)
    assert not late.exists()


def ends(pids: list[int]) -> list[str]:
    """What becomes of an attempt to end other processes, and how many are seen."""
    found = []
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            found.append("ended")
        except OSError as error:
            found.append(type(error).__name__)
    return found


@pytest.mark.skipif(not isolation.namespaces_exist(), reason="this machine has no user namespaces")
def test_a_job_does_not_reach_other_processes(school: Shared) -> None:
    assert school.worker is not None
    others = [school.worker.pid, *below(school.worker.pid)]
    assert len(others) > 1
    found, next_one = spread(school, functools.partial(ends, others), functools.partial(int, "7"))
    assert next_one.value == 7 and school.worker.poll() is None
    assert found.value is None or set(found.value) == {"ProcessLookupError"}


def looks() -> tuple[list[str], str, int]:
    own = Path(os.environ["TMPDIR"])
    (own / "file").write_text("x")
    own.joinpath("locked").mkdir(mode=0)
    top = job_folders.all_of(own)
    return sorted(map(str, top.glob("*/*"))), str(own), top.stat().st_mode & 0o777


def test_a_job_sees_its_own_folder_alone_and_leaves_none(school: Shared) -> None:
    other = job_folders.ScratchFolder()
    try:
        neighbour = other.new()
        (found,) = spread(school, looks)
        seen, own, mode = found.value
        assert own in seen and mode == 0o700
        if isolation.namespaces_exist():
            assert seen == [own]
        assert not Path(own).exists() and neighbour.exists()
    finally:
        other.close()


def test_what_was_left_behind_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = job_folders.ScratchFolder()
    used = job_folders.ScratchFolder()
    deep = left.new() / "/".join(["d"] * 400)
    deep.mkdir(parents=True)
    os.close(left.lock)  # as if its processes had ended
    third = job_folders.ScratchFolder()
    assert not left.folder.exists() and used.folder.exists() and third.folder.exists()
    third.close()
    used.close()
    assert not list(job_folders._top().iterdir())


def test_a_name_that_another_has_taken_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"triton-lab-jobs-{os.geteuid()}").symlink_to(tmp_path / "elsewhere")
    with wording.raises(PermissionError, folder=tmp_path / f"triton-lab-jobs-{os.geteuid()}"):
        job_folders.ScratchFolder()


def sends_all(marker: str, dask_scheduler: Any = None) -> None:
    """What a scheduler may send to its clients, each with a pickle where Dask's client reads one."""
    from distributed.protocol.serialize import Serialized, ToPickle

    trap = pickle.dumps(Trap(Path(marker)))
    evil = Serialized({"serializer": "pickle", "writeable": ()}, [trap])
    for message in (
        {"op": "key-in-memory", "key": "k", "type": trap, "workers": ()},
        {"op": "task-erred", "key": "k", "exception": trap, "traceback": trap},
        {"op": "task-erred", "key": "k", "exception": evil, "traceback": evil},
        {"op": "event", "topic": "warn", "event": (0.0, {"message": trap, "category": trap})},
        {"op": "event", "topic": "print", "event": (0.0, {"args": (trap,)})},
        {"op": "error", "exception": trap},
        {"op": "x", "x": Serialized({"serializer": "dask", "type-serialized": trap}, [trap])},
        {"op": "x", "x": ToPickle(Trap(Path(marker)))},
    ):
        for comm in dask_scheduler.client_comms.values():
            comm.send(message)


def test_messages_of_a_scheduler_are_not_unpickled(school: Shared, tmp_path: Path) -> None:
    marker = tmp_path / "read"
    lab.target("cpu", scheduler=school.address, security=school.certificates.security)
    assert runs()
    client = next(one.cluster for one in reversed(_drivers) if one.cluster.address == school.address).client()
    client.sync(client._run_on_scheduler, sends_all, str(marker))
    threading.Event().wait(1.0)  # the last of them ends the connection, which Dask makes anew
    assert runs() and not marker.exists()


@pytest.mark.parametrize("apart", [True, False], ids=["in namespaces", "without"])
def test_a_server_of_jobs_is_ready_after_hostile_ones(apart: bool, tmp_path: Path) -> None:
    server = Server("cpu", apart)
    deeds = dict(answers.deeds(tmp_path / "read"))
    for name in (
        "it makes a session and daemons",
        "an answer of a terabyte",
        "links, pipes and folders where its files are",
    ):
        assert answers._job(server, deeds[name]) == "refused" and server.alive
    folder = server._scratch.folder
    server.close()
    assert not folder.exists() and not (tmp_path / "read").exists()


# Dask leaves the socket of a connection that failed to the garbage.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_who_answers_for_a_scheduler_runs_nothing_here(tmp_path: Path) -> None:
    marker = tmp_path / "read"
    sent = dict(answers.impostors(pickle.dumps(Trap(marker))))
    for name in ("a pickle at once", "a pickle after a greeting", "a message of an exabyte", "an error with a pickle"):
        assert answers._connect(sent[name]) == "refused"
    assert not marker.exists()
