"""The oracle of these tests: requests and sectors lane by lane, with layouts asked element by element, and no NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triton_lab.compiled.layouts import Linear
from triton_lab.launch.access import Access


def counted(
    linear: Linear | None, access: Access, width: int, warps: int, lanes: int, once: bool, most: int | None = None
) -> tuple[int, int, int]:
    """Requests, sectors and wanted bytes of an access in its first ``most`` iterations, over all programs."""
    vector = width // access.itemsize
    requests = sectors = wanted = 0
    threads = [(warp, lane) for warp in range(warps) for lane in range(lanes)]
    held = {thread: vectors(linear, *thread, vector) for thread in threads}
    if once:
        held = {thread: mine if is_first(linear, *thread) else [None] * len(mine) for thread, mine in held.items()}
    for iteration in range(access.iterations if most is None else most):
        address, mask = access.address(iteration), access.mask(iteration)
        for program in range(access.programs):
            at, on = address[program].reshape(-1).tolist(), mask[program].reshape(-1).tolist()
            for warp in range(warps):
                for k in range(len(held[warp, 0])):
                    places = [held[warp, lane][k] for lane in range(lanes)]
                    asked = {at[place] for place in places if place is not None and on[place]}
                    requests += bool(asked)
                    sectors += len({byte // 32 for one in asked for byte in range(one, one + width)})
                    wanted += len({byte for one in asked for byte in range(one, one + width)})
    return requests, sectors, wanted


def vectors(linear: Linear | None, warp: int, lane: int, vector: int) -> list[int | None]:
    """The row-major positions at which the vectors of a thread begin, registers that hold copies left out."""
    if linear is None:
        return [0]
    seen: list[int] = []
    for register in range(linear.size("register")):
        position = linear.pack(linear.at(register=register, warp=warp, lane=lane))
        if position not in seen:
            seen.append(position)
    return list(seen[::vector])


def is_first(linear: Linear | None, warp: int, lane: int) -> bool:
    """Whether no thread before holds the same elements in the same registers."""
    if linear is None:
        return (warp, lane) == (0, 0)
    mine = linear.at(register=0, warp=warp, lane=lane)
    places = [place for place in linear.places(mine) if place["register"] == 0]
    return all((place["warp"], place["lane"]) >= (warp, lane) for place in places)


def conflicts(addresses: Sequence[int | None], width: int) -> tuple[int, int]:
    """Wavefronts of one warp, and how many there would be without conflicts; None for lanes that are off."""
    size = min(32, 128 // width) if width > 4 else 32
    asked = ideal = 0
    for start in range(0, 32, size):
        by_bank: Mapping[int, set[int]] = {bank: set() for bank in range(32)}
        for address in addresses[start : start + size]:
            for byte in range(address, address + width) if address is not None else ():
                by_bank[byte // 4 % 32].add(byte // 4)
        most = max(map(len, by_bank.values()))
        asked, ideal = asked + most, ideal + (most > 0)
    return asked, ideal
