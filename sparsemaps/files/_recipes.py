"""Recipes: the facts that decide results, as JSON."""

import hashlib
import json
from typing import Any

from sparsemaps.maps._sparse_map import SparseMap


def config_of(map: SparseMap) -> dict[str, Any]:
    """Return a fitted map for JSON; by the text of its parameters if one cannot be written as
    JSON."""
    try:
        config: dict[str, Any] = map.to_config()
    except ValueError:  # a function, such as a density
        parameters = {name: repr(value) for name, value in map.get_params(deep=False).items()}
        del parameters["n_jobs"], parameters["random_state"]
        config = {"class": type(map).__name__, "parameters": parameters, "seed": map.seed_}
    return config


def read_receipt(text: bytes) -> dict[str, Any]:
    """Return a receipt; empty if it is damaged, as a loss of power may leave it."""
    try:
        receipt = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return receipt if isinstance(receipt, dict) else {}


def digest(recipe: object) -> str:
    """Return a string that differs for different recipes."""
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
