"""The text of a kernel with all that it uses: helpers, constants and imports, for a script of its own."""

from __future__ import annotations

import dataclasses
import textwrap
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from triton_lab.backend.source.kernel_dependencies import as_callable, used
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _


@dataclass
class ScriptKernel:
    """The ``imports``, ``constants`` and ``functions`` of a script, in order, and the ``names`` that these take."""

    imports: dict[str, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, kernel: Any) -> ScriptKernel:
        """The text of a kernel. Raises CannotReplay if it uses what no text stands for."""
        text = cls({"torch": "import torch", "triton": "import triton", "tl": "import triton.language as tl"})
        text.add(kernel.fn.__name__, kernel)
        return text

    @property
    def names(self) -> set[str]:
        """All names of the script's first part."""
        return {*self.imports, *self.constants, *self.functions}

    def add(self, name: str, function: Any) -> None:
        """A function under this name, after those that it calls."""
        own = function.fn.__name__
        if own in self.functions:
            return
        self.functions[own] = ""  # it may call itself
        for other, value in used(function):
            if "." not in other and value is not function:
                self._value(other, value)
        made = self.functions.pop(own)
        if _is_gluon(function):
            self.imports["gluon"] = "from triton.experimental import gluon"
        self.functions[own] = made or _decorator(function) + "\n" + textwrap.dedent(function.src).rstrip() + "\n"
        if name != own:
            self.constants.pop(name, None)
            self.functions[name] = f"{name} = {own}\n"

    def _value(self, name: str, value: Any) -> None:
        function = as_callable(value)
        if isinstance(value, ModuleType):
            plain = value.__name__ == name
            self.imports[name] = " ".join(["import", value.__name__, *([] if plain else ["as", name])])
        elif function is not None and not _is_tritons(value):
            if value.fn is None:
                raise CannotReplay(_("the text of {name} is not known").format(name=name))
            self.add(name, value)
        elif function is not None or (_is_tritons(value) and hasattr(value, "__name__")):
            own = value.__name__ if function is None else value.fn.__name__
            self.imports[name] = " ".join(
                ["from", _home(value, own), "import", own, *(["as", name] if own != name else [])]
            )
        else:
            self.constants[name] = f"{name} = {value_text(value, self)}"

    def lines(self) -> list[str]:
        """The text as lines."""
        parts = ["\n".join(self.imports.values())]
        parts += ["\n".join(self.constants.values())] if self.constants else []
        return [*"\n\n".join(parts).split("\n"), "", "", *"\n\n".join(self.functions.values()).rstrip().split("\n")]


def value_text(value: Any, text: ScriptKernel) -> str:
    """A value as Python writes it. Raises CannotReplay for values that have no such text."""
    import triton.language
    from triton.language import constexpr, dtype

    if isinstance(value, constexpr):
        return f"tl.constexpr({value_text(value.value, text)})"
    if isinstance(value, dtype):
        return next(
            f"tl.{name}" for name, one in vars(triton.language).items() if isinstance(one, dtype) and one == value
        )
    if isinstance(value, tuple):
        inner = ", ".join(value_text(one, text) for one in value)
        return f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and value - value != 0:
        return f'float("{value}")'
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)
    if dataclasses.is_dataclass(value) and type(value).__module__.startswith("triton.experimental.gluon"):
        text.imports["gl"] = "import triton.experimental.gluon.language as gl"
        parts = {one.name: getattr(value, one.name) for one in dataclasses.fields(value) if one.init}
        return (
            f"gl.{type(value).__name__}({', '.join(f'{name}={value_text(one, text)}' for name, one in parts.items())})"
        )
    if isinstance(value, list):
        return f"[{', '.join(value_text(one, text) for one in value)}]"
    function = as_callable(value)
    if function is not None and function.fn is not None and not _is_tritons(function):
        text.add(function.fn.__name__, function)
        return str(function.fn.__name__)
    raise CannotReplay(_("the launch takes a {type}, which has no text for a script").format(type=type(value).__name__))


def _decorator(function: Any) -> str:
    marks = ["noinline=True"] if getattr(function, "noinline", False) else []
    kept = [one for one in getattr(function, "do_not_specialize", None) or () if isinstance(one, (str, int))]
    marks += [f"do_not_specialize={kept!r}"] if kept else []
    return ("@gluon.jit" if _is_gluon(function) else "@triton.jit") + (f"({', '.join(marks)})" if marks else "")


def _is_gluon(function: Any) -> bool:
    return type(function).__name__ == "GluonJITFunction"


def _is_tritons(value: Any) -> bool:
    function = getattr(value, "fn", value)
    return str(getattr(function, "__module__", "")).split(".")[0] == "triton"


def _home(value: Any, own: str) -> str:
    """The module of Triton's that users import ``own`` from."""
    import triton
    import triton.language

    for module, name in ((triton.language, "triton.language"), (triton, "triton")):
        if getattr(module, own, None) is value:
            return name
    return str(getattr(getattr(value, "fn", value), "__module__", "triton.language"))
