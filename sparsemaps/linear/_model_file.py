"""Model files: weights, and a description with the configurations of map and vectorizer (see
`_described_files`)."""

import contextlib
import hashlib
import json
import math
import os
import re
import warnings
import zlib
from collections.abc import Iterator
from typing import IO, Any, Literal

import numpy as np
import scipy.sparse as sp

import sparsemaps
from sparsemaps._io import _array_files, _described_files, _output_files, _text_input
from sparsemaps._io._regular_files import open_regular
from sparsemaps._tools import _checks, _sklearn
from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Array, StrPath
from sparsemaps.linear._calibration import Calibration
from sparsemaps.linear._indicators import KINDS, Kind
from sparsemaps.linear._model_checks import check_parameters, refuse_beyond_float64
from sparsemaps.linear._model_state import ModelState
from sparsemaps.linear._training_facts import TrainingFacts

MARK = b"SMLINEAR"
_VERSION, _CALIBRATED, _SEVERAL = 1, 2, 3
"""Versions of files: without a calibration, with one, and with several labels per row."""

_NUMBERS = frozenset(
    np.dtype(kind).str for kind in (bool, *np.typecodes["AllInteger"], *"efd")
)  # fmt: skip
"""Numeric types of labels. Other labels are strings: "U", or "O" as objects."""

_LONGEST_ARRAY = 64
"""Largest size in bytes of an array of strings, per byte of the file."""

_SIZES = "n_hashes", "n_components", "n_grids"
"""Parameters of maps that set the number of codes."""

_LONGEST_PATTERN = 2**12
"""Largest length of a token pattern. Some patterns of this length take Python a minute to
compile."""

_LEFT_OUT = "map", "vectorizer", "random_state", "n_jobs"


@contextlib.contextmanager
def new_file(path: StrPath) -> Iterator[IO[bytes]]:
    """Yield a file for the content of a model. It appears only when it is complete."""
    if _text_input.without_compression(os.fspath(path)) != os.fspath(path):
        raise ValueError(f"{path}: a model is mapped into memory, and is not compressed")
    with _output_files.atomic_output(path) as file:
        yield file


def digest_of(model: ModelState) -> str:
    """Return a digest of a model's file, without the facts about its training, which do not affect
    its results. Raise a ValueError if the model cannot be saved."""
    found = hashlib.sha256()
    for piece in content_of(model, with_facts=False):
        found.update(piece)
    return found.hexdigest()


def content_of(model: Any, *, with_facts: bool = True) -> Iterator[Any]:
    """Yield the bytes of the file of a model."""
    _sklearn.check_is_fitted(model, "map_")
    model = model._plain()
    weights = model._weights
    refuse_beyond_float64(weights, model.intercept_, model._n_codes)
    calibration = vars(model).get("calibration_")
    description = {
        "class": type(model).__name__,
        "version": _version_of(model),
        "map": model.map_.to_config(),
        "vectorizer": _config_of(getattr(model, "vectorizer_", None)),
        "parameters": {
            name: _for_json(name, value)
            for name, value in model.get_params(deep=False).items()
            if name not in _LEFT_OUT
        },
        "shape": list(weights.shape),
        "n_codes": model._n_codes,
        "bits": model._code_bits,
        "intercepts": model.intercept_.tolist(),
        "n_iter": int(model.n_iter_),
    }
    if _has_several(model):
        description["labels"] = model._kind
    if hasattr(model.map_, "feature_names_in_"):
        description["columns"] = model.map_.feature_names_in_.tolist()
    if hasattr(model, "classes_"):
        description["classes"] = _described_labels(model.classes_)
    if calibration is not None:
        description["calibration"] = [np.asarray(part).tolist() for part in calibration]
    facts = vars(model).get("_facts")
    if facts is not None and with_facts:
        description["trained"] = facts._asdict()
    weights, idf = np.asarray(weights, "<f8"), _idf_of(getattr(model, "vectorizer_", None))
    description["crc32"] = checksum_of(description, weights, idf)
    ending = _described_files.end_of_file(description, MARK)
    yield _array_files.header_of("<f8", weights.shape)
    yield from _bytes_of(weights, idf)
    yield ending


def _bytes_of(weights: Array, idf: Any) -> Iterator[Any]:
    """Yield the bytes between the header and the description of a file."""
    yield from _array_files.pieces_of(weights)
    if idf is not None:
        yield from idf.table_bytes()


def checksum_of(description: dict[str, Any], weights: Array, idf: Any) -> str:
    """Return the CRC-32 of a file's numbers, and of its description without the checksum."""
    others = {name: value for name, value in description.items() if name != "crc32"}
    found = zlib.crc32(json.dumps(others).encode())
    for piece in _bytes_of(weights, idf):
        found = zlib.crc32(piece, found)
    return f"{found:08x}"


def _columns_in(description: dict[str, Any], n: int | None) -> Array:
    """Return the names of columns. Raise a ValueError unless there are `n`."""
    names = description["columns"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("its names of columns are not strings")
    if len(names) != n:
        raise ValueError("its names of columns do not fit its map")
    return np.array(names, object)


def _has_several(model: Any) -> bool:
    return bool(getattr(model, "multilabel_", False))


def _version_of(model: Any) -> int:
    if _has_several(model):
        return _SEVERAL
    return _CALIBRATED if "calibration_" in vars(model) else _VERSION


def _described_labels(classes: Array) -> list[Any]:
    """Return the type of labels, and the labels."""
    labels: list[Any] = classes.tolist()
    if classes.dtype.str in _NUMBERS:
        return [classes.dtype.str, labels]
    if not all(isinstance(label, str) for label in labels):
        raise ValueError("classes must be numbers or strings to be saved, got other objects")
    return [classes.dtype.kind, labels]


def _for_json(name: str, value: object) -> Any:
    """Return a parameter in types that JSON supports, for `_from_json`."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {"pairs": [[_for_json(name, part) for part in pair] for pair in value.items()]}
    if isinstance(value, (tuple, list, set, frozenset)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return {"items": [_for_json(name, item) for item in items], "list": type(value) is list}
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"dtype": np.dtype(value).str}
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    raise ValueError(f"a model with {name}={value!r} cannot be saved")


def _from_json(value: object) -> Any:
    if not isinstance(value, dict):
        return value
    if "pairs" in value:
        return {_from_json(key): _from_json(part) for key, part in value["pairs"]}
    if "dtype" in value:
        return _DTYPES[value["dtype"]]
    items = [_from_json(item) for item in value["items"]]
    return items if value["list"] else tuple(items)


_DTYPES = {"<f4": np.float32, "<f8": np.float64, "<i4": np.int32, "<i8": np.int64}


def _config_of(vectorizer: Any) -> dict[str, Any] | None:
    if vectorizer is None:
        return None
    idf = _idf_of(vectorizer)
    if idf is not None:
        return {**(_config_of(vectorizer.vectorizer) or {}), "idf": idf.describe_table()}
    from sparsemaps.text import ByteNgrams

    name = "ByteNgrams" if isinstance(vectorizer, ByteNgrams) else "HashingVectorizer"
    if name == "HashingVectorizer" and type(vectorizer).__name__ != name:
        raise ValueError(
            "to save a model, its vectorizer must be a HashingVectorizer or ByteNgrams, got "
            f"{type(vectorizer).__name__}"
        )
    _refuse_files(vectorizer)
    parameters = vectorizer.get_params(deep=False)
    _refuse_long_pattern(parameters)
    parameters.pop("n_jobs", None)
    return {
        "class": name,
        "parameters": {key: _for_json(key, value) for key, value in parameters.items()},
    }


def _refuse_long_pattern(parameters: dict[str, Any]) -> None:
    """Raise if every reader of a file would spend minutes compiling a pattern."""
    pattern = parameters.get("token_pattern")
    if isinstance(pattern, str) and len(pattern) > _LONGEST_PATTERN:
        raise ValueError(
            f"to save a model, its token pattern must have at most {_LONGEST_PATTERN} "
            f"characters, got {len(pattern)}"
        )


def _idf_of(vectorizer: Any) -> Any:
    """Return the idf weights of a vectorizer, or None."""
    from sparsemaps.text import IdfWeights

    found = getattr(vectorizer, "weights", None)
    return found if isinstance(found, IdfWeights) else None


def _refuse_files(vectorizer: Any) -> None:
    """Raise if texts are file names: whoever sends texts to a model could read files."""
    if getattr(vectorizer, "input", "content") != "content":
        raise ValueError(
            f'to save a model, its vectorizer must have input="content", got {vectorizer.input!r}'
        )


def load(path: str, mmap_mode: Literal["r"] | None, *classes: Any) -> Any:
    """Return the model in a file. Raise unless it has one of the classes."""
    if mmap_mode is not None:
        _checks.check_choice("mmap_mode", mmap_mode, ("r",))
    description, weights, idf = _read(path, mmap_mode)
    name, known = description.get("class"), {cls.__name__: cls for cls in classes}
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"{path} holds a {name}, not a {' or a '.join(known)}")
    version = description.get("version")
    if version not in (_VERSION, _CALIBRATED, _SEVERAL):
        raise ValueError(
            f"{path} holds a model of version {version}; this version of sparsemaps reads versions "
            f"{_VERSION} to {_SEVERAL}"
        )
    try:
        width, n_models = weights.shape
        n_codes = _checks.check_int("n_codes", description["n_codes"], 1, width)
        bits = _checks.check_int("bits", description["bits"], 1, 24)
        if n_codes << bits != width or n_models < 1:
            raise ValueError("its weights do not fit its codes")
        if any(size != n_codes for size in _sizes_in(description["map"])):
            raise ValueError("its map has a different number of codes")
        map: Any = sparsemaps.from_config(description["map"])
        row = sp.csr_array((1, map.n_columns or 1))
        made = map.encode(row, packed=True)
        if (made.n_hashes, made.bits) != (n_codes, bits):
            raise ValueError("its map has different codes")
        parameters = {key: _from_json(value) for key, value in description["parameters"].items()}
        vectorizer = _vectorizer_of(description["vectorizer"], idf)
        model = known[name](map, vectorizer=vectorizer, **parameters)
        check_parameters(model)
        model.map_ = map
        if vectorizer is not None:
            model.vectorizer_ = vectorizer
        if hasattr(map, "n_features_in_"):
            model.n_features_in_ = map.n_features_in_
        if "columns" in description:
            names = _columns_in(description, getattr(map, "n_features_in_", None))
            map.feature_names_in_ = model.feature_names_in_ = names
        model._weights, model._n_codes, model._code_bits = weights, n_codes, bits
        model.intercept_ = _intercepts_in(description, n_models)
        refuse_beyond_float64(weights, model.intercept_, n_codes)
        largest = _checks.LARGEST_INT
        model.n_iter_ = _checks.check_int("n_iter", description["n_iter"], 0, largest)
        if issubclass(known[name], _sklearn.ClassifierMixin):
            model.multilabel_ = version == _SEVERAL
            if model.multilabel_:
                model._kind = _kind_in(description)
            model.classes_ = _classes_in(description, n_models, several=model.multilabel_)
            if version == _CALIBRATED or (model.multilabel_ and "calibration" in description):
                model.calibration_ = _calibration_in(description, model)
        elif n_models > 1:
            raise ValueError("it has several models")
        facts = TrainingFacts.of(description.get("trained"))
        if facts is not None:
            model._facts = facts
        _ = model._encoder  # raises here if a parameter is wrong
        if description["crc32"] != checksum_of(description, weights, idf):
            raise ValueError("its checksum does not match")
    except (
        *(ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError),
        *(RecursionError, MemoryError, NotImplementedError, re.error),
    ) as error:
        key = " is missing or unknown" if isinstance(error, KeyError) else ""
        raise ValueError(f"{path} is damaged: {error}{key}") from None
    return model


def _classes_in(description: dict[str, Any], n_models: int, *, several: bool) -> Array:
    """Return the classes in a description. Raise unless they are sorted and match the number of
    models."""
    kind, labels = description["classes"]
    n_classes = 2 if n_models == 1 and not several else n_models
    if not isinstance(labels, list) or len(labels) != n_classes:
        raise ValueError("its classes do not fit its weights")
    if kind in _NUMBERS:
        classes = np.array(labels, kind)
        is_sound = classes.tolist() == labels
    elif isinstance(kind, str) and kind.lstrip("<>=|")[:1] in ("U", "O"):
        is_sound = all(isinstance(label, str) for label in labels)
        classes = np.empty(len(labels), object)
        classes[:] = labels
        n_bytes = 4 * len(labels) * max(map(len, labels)) if is_sound else 0
        if kind != "O" and n_bytes <= _LONGEST_ARRAY * sum(len(label) + 1 for label in labels):
            classes = np.array(labels)
    else:
        raise ValueError("its classes have no type")
    if not is_sound or classes.shape != (len(labels),) or not (classes[:-1] < classes[1:]).all():
        raise ValueError("its classes are invalid, or not in order")
    return classes


def _kind_in(description: dict[str, Any]) -> Kind:
    """Return the kind of labels if rows may have several."""
    for kind in KINDS:
        if description["labels"] == kind:
            return kind
    raise ValueError("its labels are not a matrix")


def _intercepts_in(description: dict[str, Any], n_models: int) -> Array:
    """Return the intercepts in a description."""
    intercepts = np.array(description["intercepts"], float)
    if intercepts.shape != (n_models,):
        raise ValueError("its intercepts do not fit its weights")
    return intercepts


def _calibration_in(description: dict[str, Any], model: Any) -> Calibration:
    """Return the calibration in a description."""
    *slopes, offsets = description["calibration"]
    shape = model.classes_.shape
    if model.multilabel_:
        slopes = [np.array(slope, float) for slope in slopes]
        if not all(of.shape == shape and ((of >= 0) & (of < np.inf)).all() for of in slopes):
            raise ValueError("its calibration does not fit its labels")
    else:
        slopes = [_checks.check_real("slope", slope, 0) for slope in slopes]
    slope, bend = slopes
    offsets = np.array(offsets, float)
    if offsets.shape != shape or not (np.abs(offsets) < 1e300).all():
        raise ValueError("its calibration does not fit its classes")
    return Calibration(slope, bend, offsets)


def _sizes_in(config: dict[str, Any]) -> Iterator[Any]:
    """Yield the numbers of codes in a map's config, including its parts. They are checked first,
    because creating a map may take memory of that size."""
    if isinstance(config, dict):
        for key, value in config.items():
            if key in _SIZES:
                yield value
            yield from _sizes_in(value)
    elif isinstance(config, list):
        for value in config:
            yield from _sizes_in(value)


def _vectorizer_of(config: dict[str, Any], idf: Any) -> Any:
    if config is None:
        return None
    from sparsemaps import text

    classes = {name: getattr(text, name) for name in ("HashingVectorizer", "ByteNgrams")}
    parameters = {key: _from_json(value) for key, value in config["parameters"].items()}
    _refuse_long_pattern(parameters)  # before it is compiled
    words: Any = parameters.get("stop_words")
    is_set = isinstance(words, tuple)
    if is_set:
        parameters["stop_words"] = list(words)  # scikit-learn's check, in fit, does not accept sets
    vectorizer = classes[config["class"]](**parameters)
    with warnings.catch_warnings():  # about unused parameters, which the user has already seen
        warnings.simplefilter("ignore")
        vectorizer.fit([""])
    if is_set:
        vectorizer.stop_words = frozenset(words)
    _refuse_files(vectorizer)
    if idf is None:
        return vectorizer
    from sparsemaps.text._weighted_ngrams import WeightedNgrams

    if idf.n_features_in_ != width_of(vectorizer):
        raise ValueError("its IdfWeights have a different number of columns")
    return WeightedNgrams(vectorizer, idf)


def _read(path: str, mmap_mode: Literal["r"] | None = "r") -> tuple[dict[str, Any], Array, Any]:
    """Return the description and the weights in a file, and the `IdfWeights` of its vectorizer or
    None.

    All sizes are checked against the file size.
    """
    with open_regular(path) as file:
        description, start = _described_files.read_description(file, path, MARK, "a linear model")
        with _described_files.damage_named(path, "its description"):
            idf, config = None, description.get("vectorizer")
            if config is not None and "idf" in config:
                from sparsemaps.text import IdfWeights

                idf, start = IdfWeights.read_before(file, config["idf"], start)
            shape = tuple(_checks.check_int("length", n, 0, start) for n in description["shape"])
            offset = start - 8 * math.prod(shape)
            if (
                len(shape) != 2
                or offset % _described_files.ALIGNED
                or not _described_files.has_header(file, "<f8", shape, offset)
            ):
                raise ValueError
        if 0 in shape:
            raise ValueError(f"{path} is damaged: it has no weights")
        with _described_files.damage_named(path, "its weights"):
            if mmap_mode is None:
                file.seek(offset)
                weights: Array = np.fromfile(file, "<f8", math.prod(shape)).reshape(shape)
            else:
                weights = np.memmap(file, "<f8", mmap_mode, offset, shape)
        return description, weights, idf
