"""Error messages with parameters, values and maps as users of the command type them."""

import argparse
import ast
import re

from sparsemaps._tools._option_fields import options_of
from sparsemaps._tools._parameters import Wording
from sparsemaps.cli._options import KERNELS, MAPS, flag
from sparsemaps.files._job_options import VALUES

_OPTION_OF = {"random_state": "seed", "seed": "seed", "source": "texts"} | {
    option.name: option.dest for cls in VALUES for option in options_of(cls) if option.flag
}
"""Options of parameters, where the names differ."""

_ARGUMENTS = {"map": "MAP", "model": "MODEL", "inputs": "INPUT", "input": "INPUT"}
"""Parameters that are positional arguments."""

_CLASSES = {kind.classes[0]: name for name, kind in MAPS.items() if not kind.factors}
_CLASSES |= dict.fromkeys(("KernelClassifier", "KernelRegressor"), "the model")
_CLASSES["KernelProduct"] = "a product"  # there are several products


class ShellWording(Wording):
    """Wording that names the options of a call and shows values as users type them."""

    absent = "left out"

    def __init__(self, options: argparse.Namespace) -> None:
        kind = MAPS.get(getattr(options, "map_name", "")) or KERNELS.get(
            getattr(options, "kernel_name", "")
        )
        of_kind = kind.options if kind else ()
        self._options = {*vars(options), *(option.name for option in of_kind)} - {*_ARGUMENTS}

    def name(self, parameter: str) -> str:
        option = self._option(parameter) or _OPTION_OF.get(parameter)  # of another command
        return _ARGUMENTS.get(parameter, parameter) if option is None else flag(option)

    def setting(self, parameter: str, value: object) -> str | None:
        option = self._option(parameter)
        if option is None:
            return None
        if isinstance(value, (list, tuple)):
            value = " ".join(map(_typed, value))
        return flag(option) if value is True else f"{flag(option)} {_typed(value)}"

    def value(self, text: str) -> str:
        made = re.fullmatch(r"(\w+)\((.*)\)", text, re.DOTALL)
        if made and made[1] in _CLASSES:
            given = re.findall(r"(\w+)=('[^']*'|[^,()]+)", made[2])
            options = ((self._option(name), value.strip("'")) for name, value in given)
            words = [f"{flag(option)} {_typed(value)}" for option, value in options if option]
            return " ".join([_CLASSES[made[1]], *words])
        if text[:1] == "{":
            pairs = ast.literal_eval(text).items()
            return " ".join(f"{_typed(label)}={_typed(weight)}" for label, weight in pairs)
        if text[:1] in ("(", "[") and not re.search("['\"{]", text):
            return ",".join(map(_typed, re.split(r", ?", text.strip("()[],"))))
        return text.lower() if text in ("True", "False") else _typed(text)

    def cls(self, name: str) -> str:
        return _CLASSES.get(name, name)

    def _option(self, parameter: str) -> str | None:
        """Return the option for a parameter; None if the command lacks it."""
        name = parameter if parameter in self._options else _OPTION_OF.get(parameter, parameter)
        return name if name in self._options else None


def _typed(value: object) -> str:
    """Return a value as text, with whole numbers without a decimal point, and booleans in lower
    case."""
    if isinstance(value, bool):
        return str(value).lower()
    return re.sub(r"^(-?\d+)\.0$", r"\1", str(value))
