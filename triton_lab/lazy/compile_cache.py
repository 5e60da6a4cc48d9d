"""The compile cache: one executable per key, and an explanation for each miss."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from triton_lab.lazy.executable import StepExecutable
from triton_lab.lazy.hashing import Ingredients
from triton_lab.lazy.kernel_sharing import shared
from triton_lab.lazy.known_traces import KnownTraces

LARGEST = 256  # executables; the least recently used one is evicted


@dataclass
class Use:
    """One graph of the cache: its kernels, how often it ran, seconds of compiling and of running."""

    key: str
    kernels: tuple[str, ...]
    runs: int = 0
    compile_seconds: float = 0.0
    run_seconds: float = 0.0


@dataclass(frozen=True)
class Totals:
    """Counts since the cache was last cleared. Seconds of compiling include loading and lookups in Triton's cache."""

    hits: int
    misses: int
    compiled_kernels: int  # kernels
    reused_kernels: int  # kernels of new graphs that an older graph had compiled
    compile_seconds: float
    run_seconds: float
    uses: tuple[Use, ...]  # the graphs in the cache, the last used one last

    @property
    def steps(self) -> int:
        return self.hits + self.misses


@dataclass
class Ledger:
    """Records every step. `uses` is by key and holds the graphs in the cache."""

    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    uses: dict[str, Use] = field(default_factory=dict)

    def note(self, key: str, kernels: tuple[str, ...], compiling: float, running: float) -> None:
        """Record a run of a step."""
        use = self.uses.pop(key, None) or Use(key, kernels)
        use.runs += 1
        use.compile_seconds += compiling
        use.run_seconds += running
        self.uses[key] = use
        self.compile_seconds += compiling
        self.run_seconds += running


@dataclass(frozen=True)
class Nearest:
    """The cached graph that is most like a missed one: the ingredients that differ, (name, here, there)."""

    key: str
    differences: tuple[tuple[str, str, str], ...]


class CompileCache:
    """Executables by key, with counts. It has no lock: steps take `storage.lock`."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, StepExecutable] = OrderedDict()
        self.hits = 0
        self.misses = 0
        self.ledger = Ledger()
        self.traces = KnownTraces()

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: str) -> StepExecutable | None:
        """The executable under this key; counts a hit or a miss."""
        found = self._entries.get(key)
        if found is None:
            self.misses += 1
        else:
            self.hits += 1
            self._entries.move_to_end(key)
        return found

    def keep(self, key: str, executable: StepExecutable) -> None:
        """Add an executable."""
        self._entries[key] = executable
        while len(self._entries) > LARGEST:
            gone, _ = self._entries.popitem(last=False)
            self.ledger.uses.pop(gone, None)

    def nearest(self, wanted: Ingredients, include_donors: bool) -> Nearest | None:
        """The entry with the fewest differing ingredients, the last used among equals; None without entries.

        Only entries whose key was made in the same way, with or without donors, could have matched.
        """
        best: Nearest | None = None
        for key, executable in reversed(self._entries.items()):
            if executable.ingredients.key(include_donors) != key:
                continue
            names = wanted.differing(executable.ingredients)
            if best is None or len(names) < len(best.differences):
                pairs = ((name, getattr(wanted, name), getattr(executable.ingredients, name)) for name in names)
                best = Nearest(key, tuple(pairs))
        return best

    def clear(self) -> None:
        """Forget all executables and counts."""
        self._entries.clear()
        self.traces.clear()
        shared.clear()
        self.hits = self.misses = 0
        self.ledger = Ledger()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within the block, the cache is empty and counts anew; afterwards it has its old contents and counts."""
        kept = self._entries, self.hits, self.misses, self.ledger
        kernels = shared.compiled, shared.reused
        self._entries, self.hits, self.misses, self.ledger = OrderedDict(), 0, 0, Ledger()
        try:
            yield
        finally:
            self._entries, self.hits, self.misses, self.ledger = kept
            shared.compiled, shared.reused = kernels

    def totals(self) -> Totals:
        """A snapshot of all counts so far."""
        ledger = self.ledger
        uses = tuple(replace(use) for use in ledger.uses.values())
        return Totals(
            self.hits, self.misses, shared.compiled, shared.reused, ledger.compile_seconds, ledger.run_seconds, uses
        )


cache = CompileCache()
