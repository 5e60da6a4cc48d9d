"""The costs of all steps: compiling, running, and how often a graph ran again."""

from __future__ import annotations

from dataclasses import dataclass, field


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
