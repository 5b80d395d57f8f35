"""The maps and kernels of the ``sparsemaps`` command, and the options of each.

A class's ``_about`` gives its name in the command and one line of description. The options are the
fields of the class that have a range. Their help is the first sentence about the parameter in the
docstring. All of this is parsed from the source of the maps, because importing the modules would
make help slow. The kernels are a table here.
"""

import ast
import contextlib
import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import sparsemaps
from sparsemaps._tools import _allowed


class Option(NamedTuple):
    """An option ``--name-with-hyphens`` for the parameter `name`."""

    name: str
    kind: Callable[[str], Any] | tuple[str, ...] | type[bool]
    default: Any
    help: str


class Kind(NamedTuple):
    """A map or a kernel: ``module:name`` of the class or function, one line of description, the
    options, and whether a map has codes. For products, `factors` has ``module:name`` of the maps,
    or of the kernels after the first."""

    make: str
    summary: str
    options: tuple[Option, ...]
    has_codes: bool = False
    factors: tuple[str, ...] = ()

    @property
    def classes(self) -> list[str]:
        """The names of the class and of its factors' classes."""
        return [path.partition(":")[2] for path in (self.make, *self.factors)]


def load(path: str) -> Callable[..., Any]:
    """Return the function or class named by ``module:name``."""
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def flag(name: str) -> str:
    """Return the option for a parameter name."""
    return "--" + name.replace("_", "-")


def integer(text: str) -> int:
    return int(text)


def number(text: str) -> float | int:
    with contextlib.suppress(ValueError):
        return int(text)
    return float(text)


def kernel_or_series(text: str) -> Any:
    """Return a word, or a tuple of comma-separated numbers."""
    if "," in text:
        return tuple(float(part) for part in text.split(","))
    with contextlib.suppress(ValueError):
        return (float(text),)
    return text


_GAMMA = Option("gamma", number, 1.0, "factor of the (squared) distance or of the inner product")
_GAMMA_OF_WIDTH = Option(
    "gamma",
    number,
    None,
    "factor of the squared distance or inner product; if not given, 1/columns",
)
_POWER = Option("power", number, 1.0, "power that absolute values are raised to first, above 0")
_NU = Option("nu", number, 1.5, "smoothness of the kernel matern, above 0 and at most 10000")
_DEGREE = Option("degree", integer, 3, "degree of the polynomial")
_COEF0 = Option("coef0", number, 1.0, "constant of the polynomial")


def _kernel(function: str, summary: str, *options: Option, factor: str | None = None) -> Kind:
    factors = () if factor is None else (f"sparsemaps.kernels:{factor}",)
    return Kind(f"sparsemaps.kernels:{function}", summary, options, factors=factors)


KERNELS = {
    "minmax": _kernel(
        "min_max_kernel", "sum of minima divided by sum of maxima; values >= 0", _POWER
    ),
    "generalized-minmax": _kernel(
        "generalized_min_max_kernel", "min-max kernel of values of both signs", _POWER
    ),
    "chi2": _kernel("chi2_similarity", "sum of 2uv/(u+v); values >= 0"),
    "acos": _kernel("acos_kernel", "1 - angle/pi between two rows"),
    "acos-chi2": _kernel("acos_chi2_kernel", "acos of the chi-square similarity; values >= 0"),
    "normalized-rbf": _kernel("normalized_rbf_kernel", "exp(-gamma (1 - cosine))", _GAMMA),
    "folded-rbf": _kernel(
        "folded_rbf_kernel", "exp(-gamma (1 - cosine))/2 + exp(-gamma (1 + cosine))/2", _GAMMA
    ),
    "rbf": _kernel("rbf_kernel", "exp(-gamma (squared distance))", _GAMMA_OF_WIDTH),
    "polynomial": _kernel(
        "polynomial_kernel", "(gamma (inner product) + coef0) to the power of the degree",
        _DEGREE, _GAMMA_OF_WIDTH, _COEF0,
    ),
    "laplacian": _kernel("laplacian_kernel", "exp(-gamma sum |u - v|)", _GAMMA),
    "cauchy": _kernel("cauchy_kernel", "product of 1/(1 + gamma^2 (u - v)^2)", _GAMMA),
    "matern": _kernel("matern_kernel", "Matern kernel", _GAMMA, _NU),
    "minmax-acos": _kernel("min_max_kernel", "min-max times acos kernel", factor="acos_kernel"),
    "minmax-acos-chi2": _kernel(
        "min_max_kernel", "min-max times acos-chi-square kernel", factor="acos_chi2_kernel"
    ),
}  # fmt: skip


class _Class(NamedTuple):
    """The tables of a map, read from its source."""

    about: _allowed.About
    allowed: dict[str, _allowed.Allowed]
    defaults: dict[str, Any]
    docstring: str
    is_sampled: bool
    has_codes: bool


def _maps() -> dict[str, Kind]:
    """Return the maps by their names in the command."""
    kinds = {}
    for name, cls in CLASSES.items():
        if cls.about.command:
            kinds[cls.about.command] = Kind(
                f"sparsemaps:{name}", cls.about.help, _options(cls), cls.has_codes
            )
    for name, cls in CLASSES.items():
        for command, summary, *factors in cls.about.products:
            parts = [CLASSES[factor] for factor in factors]
            first, second = map(_options, parts)
            known = {option.name for option in first} | {"n_components", "n_hashes"}
            options = first + tuple(option for option in second if option.name not in known)
            made = tuple(f"sparsemaps:{factor}" for factor in factors)
            has_codes = all(part.is_sampled for part in parts)
            kinds[command] = Kind(f"sparsemaps:{name}", summary, options, has_codes, made)
    return kinds


def _read(name: str) -> _Class:
    """Return the tables of a class, read from its source."""
    module = sparsemaps._MAPS[name].rpartition(".")[2]
    path = Path(sparsemaps.__file__).parent / "maps" / f"{module}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    cls = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    names, about, parameters = set(), _allowed.About(), {}
    for node in cls.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.add(target := node.targets[0].id)
            if target == "_about":
                about = _evaluated(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call):
            parameters[ast.unparse(node.target)] = _evaluated(node.value)
    allowed = {key: field.metadata["allowed"] for key, field in parameters.items()}
    is_sampled = any(ast.unparse(base).startswith("SampledMap") for base in cls.bases)
    return _Class(
        about,
        allowed,
        {key: field.default for key, field in parameters.items()},
        _allowed.with_ranges(ast.get_docstring(cls) or "", allowed),
        is_sampled,
        has_codes=is_sampled or "encode" in names,
    )


def _evaluated(expression: ast.expr) -> Any:
    """Return the value of an expression whose names are in ``_allowed``."""
    code = compile(ast.Expression(expression), "", "eval")
    return eval(code, dict(vars(_allowed)))


def _options(cls: _Class) -> tuple[Option, ...]:
    """Return the parameters of a class as options."""
    return tuple(
        Option(name, _kind(allowed), cls.defaults[name], _first_sentence(cls.docstring, name))
        for name, allowed in cls.allowed.items()
        if not isinstance(allowed, _allowed.Function)
        and not (isinstance(allowed, _allowed.Bool) and not allowed.is_option)
    )


def _kind(allowed: _allowed.Allowed) -> Any:
    """Return the function that parses an option, or the choices of the option."""
    if isinstance(allowed, _allowed.Bool):
        return bool
    if isinstance(allowed, _allowed.Int):
        return integer
    if isinstance(allowed, _allowed.ChoiceOrSeries):
        return kernel_or_series
    if isinstance(allowed, _allowed.Choice) and not isinstance(allowed, _allowed.NumberOr):
        return allowed.choices
    return number


def _first_sentence(docstring: str, parameter: str) -> str:
    """Return the first sentence about a parameter in a docstring, without markup."""
    text = inspect.cleandoc(docstring)
    match = re.search(rf"^{parameter} : .*\n((?:(?:    .*)?\n)+)", text, re.MULTILINE)
    words = " ".join(match[1].split()) if match else ""
    sentence = re.split(r"[.:;] ", words + " ", maxsplit=1)[0]
    sentence = re.sub(r"`| \[\d\]_", "", sentence).replace("%", "%%").strip()
    return sentence[:1].lower() + sentence[1:]


CLASSES = {name: _read(name) for name in sparsemaps._MAPS}
"""The tables of each map."""


MAPS = _maps()


OTHER_NAMES = {
    name.casefold(): cls.about.command for name, cls in CLASSES.items() if cls.about.command
} | {"icws": "minmax", "levels": "minmax"}
"""Commands' names of maps by other names: of classes, and of the methods of min-max."""


OTHER_COMMANDS = {
    "classify": "predict", "explain": "predict", "label": "predict", "score": "predict",
    "fit": "train", "learn": "train", "deduplicate": "dedup", "duplicates": "dedup",
    "select": "filter", "summary": "info", "encode": "map", "transform": "map",
    "completion": "--print-completion", "help": "--help", "version": "--version",
}  # fmt: skip
"""Commands, and options of the program, by other names for the same purpose."""


PAIR_MAPS = tuple(name for name, kind in MAPS.items() if kind.has_codes)
"""Maps whose codes ``sparsemaps pairs`` can compare."""


CONTAINMENT_MAP = "minhash"
"""The map whose codes estimate containment of sets."""


SAVED = "saved"
"""The word that replaces the name of a map read from a file."""
