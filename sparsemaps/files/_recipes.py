"""Recipes: the facts that determine results, as JSON."""

import hashlib
import json
from typing import Any

from sparsemaps.maps._sparse_map import SparseMap


def config_of(map: SparseMap) -> dict[str, Any]:
    """Return the configuration of a fitted map for JSON. If a parameter has no JSON form, describe
    the parameters by their text."""
    try:
        config: dict[str, Any] = map.to_config()
    except ValueError:  # a function, such as a density
        parameters = {name: repr(value) for name, value in map.get_params(deep=False).items()}
        del parameters["n_jobs"], parameters["random_state"]
        config = {"class": type(map).__name__, "parameters": parameters, "seed": map.seed_}
    return config


def read_receipt(text: bytes) -> dict[str, Any]:
    """Return a receipt; empty if it is damaged, for example by a power failure."""
    try:
        receipt = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return receipt if isinstance(receipt, dict) else {}


def digest(recipe: object) -> str:
    """Return a string that differs for different recipes."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
