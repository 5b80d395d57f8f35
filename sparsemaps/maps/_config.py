"""Fitted maps from the dictionaries that ``to_config`` returns."""

from typing import Any

import sparsemaps
from sparsemaps._tools import _seeding
from sparsemaps._tools._checks import LARGEST_INT, check_int
from sparsemaps.maps._sparse_map import SparseMap

_KEYS = ("class", "parameters", "seed", "scheme", "n_features")

ENTRY_POINTS = "sparsemaps.maps"
"""Group of entry points under which another package names its maps."""


def from_config(config: dict[str, Any]) -> SparseMap:
    """Make a fitted map from the dictionary that ``to_config`` returned.

    Parameters
    ----------
    config : dict
        Dictionary that ``to_config`` of a fitted map returned. It may have been written to JSON and
        read again. Its class is a map of sparsemaps, or of a package that registers the map as an
        entry point of the group ``sparsemaps.maps``.

    Returns
    -------
    map : map of sparsemaps
        A fitted map with the same output for every row. Its `n_jobs` is None.

    Raises
    ------
    ValueError
        If `config` does not have that form, or was made with another scheme of random numbers,
        which would give different output.

    Examples
    --------
    >>> import json
    >>> import numpy as np
    >>> from sparsemaps import SignProjection, from_config
    >>> X = np.array([[3.0, 4.0, 0.0], [0.0, 4.0, -3.0]])
    >>> signs = SignProjection(n_hashes=64, random_state=0).fit(X)
    >>> text = json.dumps(signs.to_config())
    >>> again = from_config(json.loads(text))
    >>> bool((again.encode(X) == signs.encode(X)).all())
    True
    """
    missing = set(_KEYS) - set(config if isinstance(config, dict) else ())
    if missing:
        keys = ", ".join(map(repr, _KEYS))
        raise ValueError(f"config must have the keys {keys}; it has no {min(missing)!r}")
    if isinstance(config["scheme"], bool) or config["scheme"] != _seeding.SCHEME:
        raise ValueError(
            f"config is of scheme {config['scheme']!r} of random numbers; this version of "
            f"sparsemaps has scheme {_seeding.SCHEME}, whose output is different"
        )
    n_features = config["n_features"]
    if n_features is not None:
        n_features = check_int("n_features of config", n_features, 1, LARGEST_INT)
    try:
        made = _make(config)
    except RecursionError:
        raise ValueError("parameters of config are nested too deeply") from None
    made.random_state = check_int("seed of config", config["seed"], 0, 2**4096)
    made.check_parameters()
    if n_features is not None:
        made.n_features_in_ = n_features
    return made._finish_fit(n_features, None)


def _make(config: dict[str, Any]) -> SparseMap:
    """Return the map described by "class" and "parameters", without fitting it."""
    name, parameters = config["class"], config["parameters"]
    cls = _class_of(name)
    if not isinstance(parameters, dict):
        raise ValueError(f"parameters of config must have names, got {parameters!r}")
    for left_out in ("n_jobs", "random_state"):  # machine-dependent; the seed
        if left_out in parameters:
            raise ValueError(f"parameters of config must not have {left_out!r}")
    values = {key: _from_json(value) for key, value in parameters.items()}
    try:
        made: SparseMap = cls(**values)
    except TypeError as error:
        raise ValueError(f"parameters of config do not fit {name}: {error}") from None
    return made


def _class_of(name: object) -> type[SparseMap]:
    """Return a class of maps by name, from this package or another one."""
    cls: Any = None
    if isinstance(name, str):
        if name in sparsemaps.__all__:
            cls = getattr(sparsemaps, name)
        else:
            cls = _class_of_another_package(name)
    if not (isinstance(cls, type) and issubclass(cls, SparseMap)):
        raise ValueError(
            "class of config must be the name of a map of sparsemaps, or of an installed package "
            f"that names it by an entry point of the group {ENTRY_POINTS!r}, got {name!r}"
        )
    return cls


def _class_of_another_package(name: str) -> Any:
    """Load the entry point with this name; return None if there is none."""
    from importlib.metadata import entry_points  # here, because it imports e-mail modules

    # A package that is on the path twice has the same entry point twice.
    found = sorted({(one.value, one) for one in entry_points(group=ENTRY_POINTS, name=name)})
    places = [value for value, _ in found]
    if len(set(places)) > 1:
        raise ValueError(f"several packages have a map named {name!r}: {', '.join(places)}")
    if not found:
        return None
    try:
        return found[0][1].load()
    except (ImportError, AttributeError) as error:
        raise ValueError(f"the map {name!r} of {places[0]} cannot be imported: {error}") from error


def _from_json(value: object) -> Any:
    if isinstance(value, dict) and {"class", "parameters"} <= set(value):
        return _make(value)
    if isinstance(value, list):
        items = [_from_json(item) for item in value]
        # A pair of a name and a map becomes a tuple, as in scikit-learn's compositions.
        named = len(items) == 2 and isinstance(items[1], SparseMap) and isinstance(items[0], str)
        return tuple(items) if named else items
    return value
