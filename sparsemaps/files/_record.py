"""Records of what outputs are made of, as JSON: another run resumes where they are equal."""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from sparsemaps._tools import _output_files
from sparsemaps._tools._sources import RECORD


def make_record(map: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """A record of a fitted map and of the options of a job, as it is read back."""
    config = None if map is None else config_of(map)
    record: dict[str, Any] = json.loads(json.dumps({"map": config, "options": dict(options)}))
    return record


def config_of(map: Any) -> dict[str, Any]:
    """A fitted map for JSON; by the text of its parameters where one is no JSON."""
    try:
        config: dict[str, Any] = map.to_config()
    except ValueError:  # a function, such as a density
        parameters = {name: repr(value) for name, value in map.get_params(deep=False).items()}
        del parameters["n_jobs"], parameters["random_state"]
        config = {"class": type(map).__name__, "parameters": parameters, "seed": map.seed_}
    return config


def read_record(text: bytes) -> dict[str, Any] | None:
    """A record; None if it is damaged, as a loss of power may leave it."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def record_beside(path: str) -> dict[str, Any] | None:
    """The record of a file or of a stage; None if there is none, or a damaged one."""
    try:
        with open(path + RECORD, "rb") as file:
            return read_record(file.read())
    except FileNotFoundError:
        return None


def write_beside(path: str, record: Mapping[str, Any], *, synced: bool) -> None:
    """Write the record of a file or of a stage, which is complete; `synced` is that of
    `atomic_output`."""
    with _output_files.atomic_output(path + RECORD, synced=synced) as file:
        file.write(json.dumps(record).encode() + b"\n")


def state_of(path: str | os.PathLike[str]) -> dict[str, int]:
    """The size and the time of a file, which change with its content."""
    status = os.stat(path)
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def digest(record: Mapping[str, Any]) -> str:
    """What tells records apart."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def difference(before: Any, now: Mapping[str, Any]) -> str | None:
    """Words for the first difference of an earlier record from the present one; None if equal."""
    if not isinstance(before, dict):
        return "other options"
    for name, value in now.items():
        if name not in before or before[name] == value:
            continue
        if isinstance(value, dict):
            return difference(before[name], value)
        if isinstance(value, list):
            return f"{name} are others, or have changed since"
        return f"{name} {before[name]}, now {value}"
    return None if before.keys() == now.keys() else "other options"
