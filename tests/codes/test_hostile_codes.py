"""Packed codes whose attributes have been set to anything, in each public function that takes them:
a ValueError that names the argument, or a result of the right size."""

import copy
import functools
import inspect
import os

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps import KernelProduct, MinHash, codes, linear, neighbors
from sparsemaps.codes import ByChance, PackedCodes
from sparsemaps.linear import (
    KernelClassifier,
    KernelClassifierCV,
    KernelRegressor,
    KernelRegressorCV,
)

X = (np.random.default_rng(SEED).random((40, 30)) < 0.3).astype(float)
X[20:] = X[:20]
LABELS = np.arange(40) % 2
MAPS = {
    "one map": MinHash(n_hashes=24, bits=4, random_state=0).fit(X),
    "a product": KernelProduct(
        maps=(MinHash(n_hashes=24, bits=3), MinHash(n_hashes=24, bits=2)), random_state=0
    ).fit(X),
}
SOUND = {name: made.encode(X, packed=True) for name, made in MAPS.items()}


def new_model(cls, B, **parameters):
    """A model of the map of sound codes."""
    name = next(name for name, sound in SOUND.items() if sound is B)
    if cls.__name__.endswith("CV"):
        parameters |= {"Cs": (1.0,), "cv": 2}
    return cls(MAPS[name], max_iter=1000, tol=1.0, **parameters)


@functools.cache
def model(cls, B, **parameters):
    """A model that is fitted to sound codes."""
    return new_model(cls, B, **parameters).fit(B, LABELS)


# Each with codes that may be hostile, and sound ones of the same map.
CALLS = {
    "codes.PackedCodes.concatenate": lambda A, B, _: PackedCodes.concatenate([B, A]),
    "codes.PackedCodes.kernel": lambda A, B, _: A.kernel(codes.agreements(B, B)),
    "codes.PackedCodes.part": lambda A, B, _: A.part(1),
    "codes.PackedCodes.save": lambda A, B, folder: A.save(folder / "saved.npy"),
    "codes.agreements": lambda A, B, _: codes.agreements(B, A),
    "codes.collisions": lambda A, B, _: codes.collisions(A, B, n_jobs=2),
    "codes.dump_svmlight_file": lambda A, B, folder: codes.dump_svmlight_file(
        A, LABELS, folder / "out.svm"
    ),
    "codes.hamming": lambda A, B, _: codes.hamming(B, A),
    "codes.kernel_from_collisions": lambda A, B, _: codes.kernel_from_collisions(
        codes.agreements(B, B), A
    ),
    "codes.to_csr": lambda A, B, _: codes.to_csr(A),
    "codes.unpack": lambda A, B, _: codes.unpack(A),
    "neighbors.contained_pairs": lambda A, B, _: neighbors.contained_pairs(A, 0.9, other=B),
    "neighbors.removals": lambda A, B, _: neighbors.removals(B, 0.8, earlier=A),
    "neighbors.similar_pairs": lambda A, B, _: neighbors.similar_pairs(A, 0.8, n_jobs=2),
    "neighbors.top_k": lambda A, B, _: neighbors.top_k(A, B, 3),
}

# Each method of a model; those of models that choose C are the same.
OF_MODELS = {
    "decision_function": lambda cls, A, B: model(cls, B).decision_function(A),
    "fit": lambda cls, A, B: new_model(cls, B).fit(A, LABELS),
    "predict": lambda cls, A, B: model(cls, B).predict(A),
    "score": lambda cls, A, B: model(cls, B).score(A, LABELS),
    "calibrate": lambda cls, A, B: copy.copy(model(cls, B)).calibrate(A, LABELS),
    "predict_proba": lambda cls, A, B: model(cls, B, loss="log_loss").predict_proba(A),
    "predict_log_proba": lambda cls, A, B: model(cls, B, loss="log_loss").predict_log_proba(A),
}
MODELS = KernelClassifier, KernelClassifierCV, KernelRegressor, KernelRegressorCV
CALLS |= {
    f"linear.{cls.__name__}.{name}": lambda A, B, _, call=call, cls=cls: call(cls, A, B)
    for cls in MODELS
    for name, call in OF_MODELS.items()
    if hasattr(cls, name)
}


# Other values of attributes, by the sound one.
CHANGES = {
    "array": [
        lambda array: array.astype(np.int32),
        lambda array: array.astype(float),
        lambda array: array.view(np.int8),
        lambda array: array[0],
        lambda array: array[None],
        lambda array: array[:, :0],
        lambda array: array[:, :1],
        lambda array: array[:3],
        lambda array: array[:, ::-1],
        lambda array: np.asfortranarray(array),
        lambda array: np.lib.stride_tricks.as_strided(array[:1, :1], array.shape, (0, 0)),
        lambda array: array.astype(object),
        lambda array: array.tolist(),
        lambda array: None,
    ],
    "bits": [lambda bits, new=new: new for new in (0, -1, 1, 24, 25, 2**31, 2**64, 3.5, "x", None)],
    "n_hashes": [lambda n, new=new: new for new in (0, -1, 1, 25, 10**6, 2**31, 2**64, "x", None)],
    "sampled": [
        lambda sampled: sampled[:-1],
        lambda sampled: np.ones(10**4, bool),
        lambda sampled: sampled[:, None],
        lambda sampled: sampled.astype(int) * 7,
        lambda sampled: np.zeros(0),
        lambda sampled: "x",
        lambda sampled: None,
    ],
    "sizes": [
        lambda sizes: np.arange(3),
        lambda sizes: np.full(40, -1),
        lambda sizes: np.full(40, 2**63),
        lambda sizes: np.full(40, 0.5),
        lambda sizes: np.zeros(40, np.uint32),
        lambda sizes: "x",
        lambda sizes: None,
    ],
    "law": [lambda law, new=new: new for new in (None, "x", ByChance(1), ByChance(24), 7)],
    "config": [lambda config, new=new: new for new in (None, [], {}, {"class": "X"}, "x")],
}


def changed(sound, attribute, change):
    made = sound[:]
    value = change(getattr(made, attribute))
    setattr(made, attribute, value)
    return made


def test_all_functions_that_take_packed_codes_are_here():
    """Those of which a parameter or the object is `PackedCodes`, by their docstrings."""
    found = set()
    for module in (codes, neighbors, linear):
        name = module.__name__.removeprefix("sparsemaps.")
        for public in module.__all__:
            one = getattr(module, public)
            if not inspect.isclass(one):
                members = {public: one}
            else:
                members = {
                    f"{public}.{key}": getattr(one, key) for key in dir(one) if key[0] != "_"
                }
            for key, member in members.items():
                parameters = (inspect.getdoc(member) or "").partition("Returns\n---")[0]
                is_own = key.startswith("PackedCodes.") and inspect.isfunction(member)
                if callable(member) and ("PackedCodes" in parameters or is_own):
                    found.add(f"{name}.{key}")
    of_classes = {
        name for name in found if name.count(".") == 1 and name.split(".")[1][0].isupper()
    }
    left_out = {"codes.PackedCodes.load"}  # it reads a file, which other tests damage
    inherited = {f"linear.{cls.__name__}.score" for cls in MODELS}
    assert found - of_classes - left_out | inherited == CALLS.keys()


@pytest.mark.parametrize("kind", SOUND)
@pytest.mark.parametrize("name", CALLS)
def test_hostile_attributes(tmp_path, name, kind):
    sound = SOUND[kind]
    n_refused = n_taken = 0
    for attribute, changes in CHANGES.items():
        for change in changes:
            try:
                CALLS[name](changed(sound, attribute, change), sound, tmp_path)
                n_taken += 1
            except ValueError:
                n_refused += 1
    assert n_refused + n_taken == sum(len(changes) for changes in CHANGES.values())
    if "kernel" not in name:  # which takes counts, and of the codes n_hashes and law
        assert n_refused >= 30


@pytest.mark.skipif(os.name == "nt", reason="a file that is mapped cannot be cut there")
@pytest.mark.parametrize("kind", SOUND)
def test_a_mapped_file_that_was_cut(tmp_path, kind):
    SOUND[kind].save(tmp_path / "codes.npy")
    for name, call in CALLS.items():
        mapped = PackedCodes.load(tmp_path / "codes.npy")
        os.truncate(tmp_path / "codes.npy", 100)
        if "kernel" in name:
            call(mapped, SOUND[kind], tmp_path)
        else:
            with pytest.raises(ValueError, match="cut short after it was opened, to 100 bytes"):
                call(mapped, SOUND[kind], tmp_path)
        SOUND[kind].save(tmp_path / "codes.npy")
