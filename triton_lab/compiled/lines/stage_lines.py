"""`StageLines`: which lines of a stage belong to which lines of the source, in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from triton_lab.compiled.lines import assembly_lines, llvm_lines, mlir_lines, sass_lines
from triton_lab.compiled.lines.source_trail import SourceLine, Trail
from triton_lab.compiled.stage_names import MLIR
from triton_lab.compiled.user_sources import Source
from triton_lab.localization import _

_READERS = {
    **dict.fromkeys(MLIR, mlir_lines.trails),
    "llir": llvm_lines.trails,
    "ptx": assembly_lines.trails,
    "amdgcn": assembly_lines.trails,
}


class StageLines:
    """The lines of each stage of a compilation, and the source lines that they were made from.

    Lines count from 1; source lines count as in their file. ``stages`` are the texts by name; ``sources`` is what the
    user wrote, the kernel first.

    >>> lines = launch.compile("sm_90").lines
    >>> made = lines.of("ttir", 21)
    >>> lines.source("ttir", made[0]).places[0].line
    21
    >>> lines.source("ttir", made[-1]).name
    'x'
    """

    def __init__(self, stages: Mapping[str, str | bytes], sources: Sequence[Source]) -> None:
        self._texts = stages
        self.sources = tuple(sources)
        self._read: dict[str, list[Trail | None]] = {}

    @property
    def stages(self) -> list[str]:
        """The stages that are text, in order.

        >>> launch.compile("gfx942").lines.stages
        ['ttir', 'ttgir', 'llir', 'amdgcn']
        """
        return [name for name, text in self._texts.items() if isinstance(text, str)]

    def trails(self, stage: str) -> list[Trail | None]:
        """Where each line of a stage comes from, None where the compiler does not say. Raises LookupError.

        >>> trails = launch.compile("sm_90").lines.trails("ptx")
        >>> max(trail.places[0].line for trail in trails if trail is not None)
        23
        """
        if stage not in self.stages:
            raise LookupError(
                _("there is no stage {stage} as text; there is {stages}").format(
                    stage=repr(stage), stages=", ".join(self.stages)
                )
            )
        if stage not in self._read:
            text = str(self._texts[stage])
            if stage == "sass":
                cubin, ptx = self._texts.get("cubin", b""), str(self._texts.get("ptx", ""))
                self._read[stage] = sass_lines.trails(text, cubin if isinstance(cubin, bytes) else b"", ptx)
            else:
                self._read[stage] = _READERS[stage](text)
        return self._read[stage]

    def source(self, stage: str, number: int) -> Trail | None:
        """Where line ``number`` of a stage comes from: places from the innermost out, through inlined calls.

        Raises LookupError for an unknown stage or line.

        >>> launch.compile("sm_90").lines.source("ttir", 1) is None
        True
        """
        trails = self.trails(stage)
        if not 1 <= number <= len(trails):
            raise LookupError(
                _("{stage} has no line {number}: it has {trails}").format(
                    stage=stage, number=number, trails=f"{len(trails):,}"
                )
            )
        return trails[number - 1]

    def of(self, stage: str, line: int, file: str | None = None) -> list[int]:
        """The lines of a stage that come from ``line`` of ``file`` (default: the kernel's), also through calls.

        Raises LookupError for an unknown stage.

        >>> compiled = launch.compile("sm_90")
        >>> [compiled.stages["ptx"].splitlines()[k - 1].split()[0] for k in compiled.lines.of("ptx", 20)][-1]
        'setp.lt.s32'
        """
        wanted = self.sources[0].file if file is None and self.sources else file
        return [
            number
            for number, trail in enumerate(self.trails(stage), start=1)
            if trail is not None and any(place.file == wanted and place.line == line for place in trail.places)
        ]

    def written(self, trail: Trail | None) -> list[SourceLine]:
        """The places of a trail that lie in the sources, the innermost first.

        >>> lines = launch.compile("sm_90").lines
        >>> lines.written(lines.source("ttir", lines.of("ttir", 21)[0]))
        [SourceLine(function=0, line=21)]
        """
        found = (
            SourceLine(number, place.line)
            for place in (trail.places if trail is not None else ())
            for number, source in enumerate(self.sources)
            if source.has(place.file, place.line)
        )
        return list(dict.fromkeys(found))

    def reason(self, line: int, file: str | None = None) -> str:
        """Why no instruction of the last stage comes from a source line; "" where one does or none is needed.

        >>> lines = launch.compile("sm_90").lines
        >>> lines.reason(21), lines.reason(18)
        ('', '')
        """
        wanted = self.sources[0].file if file is None and self.sources else file
        for number, source in enumerate(self.sources):
            if source.has(str(wanted), line):
                return self._reasons.get(SourceLine(number, line), "")
        return ""

    @cached_property
    def _reasons(self) -> dict[SourceLine, str]:
        from triton_lab.compiled.lines.missing_instructions import reasons

        return reasons(self, {name: str(self._texts[name]) for name in self.stages})

    def table(self, stage: str) -> Iterator[tuple[int, list[SourceLine]]]:
        """Each line of a stage that comes from the sources, with their lines.

        >>> first, (line,) = next(launch.compile("sm_90").lines.table("llir"))
        >>> line.line
        18
        """
        for number, trail in enumerate(self.trails(stage), start=1):
            written = self.written(trail)
            if written:
                yield number, written
