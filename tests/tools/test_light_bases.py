"""Estimators inherit scikit-learn's classes once it is imported, by whomever and whenever."""

import inspect
import json
import subprocess
import sys
from types import ModuleType

import pytest

from sparsemaps._io import _zstd
from sparsemaps._tools import _light_bases, _sklearn
from sparsemaps._tools._light_bases import available_if


def in_new_process(code, *, path=""):
    """What some code has printed as JSON in a new interpreter."""
    code = f"import sys\nsys.path[:0] = {[str(path)] if path else []}\n{code}"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


FACTS = """
import json, sparsemaps
from sparsemaps import linear, neighbors, text
from sparsemaps._tools import _light_bases
maps = [getattr(sparsemaps, name) for name in sorted(sparsemaps._MAPS)]
found = {}
USE
import sklearn.base, sklearn.feature_extraction.text

LATE = "__annotate_func__", "__annotations_cache__"  # which Python 3.14 adds when asked


def facts(cls):
    transformed = [getattr(cls, name, None) for name in ("transform", "fit_transform")]
    return {
        "bases": [str(base) for base in cls.__mro__ if base.__name__ != "Nothing"],
        "names": sorted({*dir(cls)} - {"_class_options", "__slotnames__", *LATE}),
        "keys": sorted(getattr(cls, "_sklearn_auto_wrap_output_keys", [])),
        "wrapped": [hasattr(method, "__wrapped__") for method in transformed],
    }

bases = [base for classes in _light_bases._CLASSES.values() for base in classes.values()]
below = {cls for base in bases for cls in _light_bases._subclasses(base)
         if cls.__module__ != "__main__"}
found["classes"] = {f"{cls.__module__}.{cls.__name__}": facts(cls) for cls in below}
public = [*maps, *(getattr(of, name) for of in (linear, neighbors, text) for name in of.__all__)]
public = [cls for cls in public if isinstance(cls, type) and hasattr(cls, "fit")]
found["inherit"] = {cls.__name__: issubclass(cls, sklearn.base.BaseEstimator) for cls in public}
print(json.dumps(found))
"""
"""The facts of all estimators, of which USE makes some before."""

USE = """
import numpy as np
X = np.eye(6)[[0, 1, 2, 3, 4, 5, 0, 1]]
y = np.arange(8) % 2
before = sparsemaps.MinHash(n_hashes=8, random_state=0).fit_any_width()
codes = before.transform(X)
model = linear.KernelClassifier(sparsemaps.MinHash(n_hashes=8), vectorizer="char:3", C=3)

def parameters(deep):
    return {name: str(value) for name, value in model.get_params(deep).items() if name != "map"}

class Same(text.HashingVectorizer):
    pass

class Other(text.HashingVectorizer):
    def _char_ngrams(self, text):
        return ["one"]

found["compiled"] = [cls()._compiled() is not None for cls in (Same, Other)]
light = [list(parameters(deep).items()) for deep in (False, True)]
assert "sklearn" not in sys.modules
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import make_pipeline
found["parameters"] = [sorted(light[1]) == sorted(parameters(True).items()),
                       light[0] == list(parameters(False).items())]
model = linear.KernelClassifier(sparsemaps.MinHash(n_hashes=8), random_state=0)
found["is"] = [isinstance(before, BaseEstimator), is_classifier(model)]
pipeline = make_pipeline(before, linear.KernelClassifier(before)).fit(X, y)
found["fits"] = [bool((before.transform(X) != codes).nnz == 0), pipeline.score(X, y) > .5]
named = sparsemaps.RandomFourier(n_components=2, random_state=0).set_output(transform="pandas")
found["columns"] = list(named.fit_transform(X).columns)
found["ngrams"] = Other(analyzer="char").transform(["several"]).nnz
found["size"] = clone(model.set_params(map__n_hashes=16)).map.n_hashes
"""


def test_estimators_are_the_same_whether_scikit_learn_is_imported_first_or_last():
    first = in_new_process(f"import sklearn.base\n{FACTS.replace('USE', '')}")
    last = in_new_process(FACTS.replace("USE", USE))
    assert all(first["inherit"].values())
    assert {"KernelClassifier", "KernelNeighbors", "HashingVectorizer"} <= first["inherit"].keys()
    assert last["inherit"] == first["inherit"]
    assert last["classes"].keys() == first["classes"].keys()
    for name, facts in first["classes"].items():
        assert last["classes"][name] == facts, name
    assert last["parameters"] == [True, True]
    assert last["compiled"] == [True, False]
    assert last["ngrams"] == 1
    assert last["is"] == [True, True]
    assert last["fits"] == [True, True]
    assert last["columns"] == ["randomfourier0", "randomfourier1"]
    assert last["size"] == 16


THEIRS = """
class Any:
    def __getattribute__(self, name):
        return (lambda *given, **options: name) if name != "__class__" else object
    def __repr__(self):
        return "__repr__"
"""
"""Classes in place of scikit-learn's: each method returns its name."""

BORROWED = {
    "BaseEstimator": ["__repr__", "get_metadata_routing", "set_output", "set_fit_request"],
    "TransformerMixin": [],
    "ClassifierMixin": ["score"],
    "RegressorMixin": ["score"],
    "ClassNamePrefixFeaturesOutMixin": ["get_feature_names_out"],
    "OneToOneFeatureMixin": ["get_feature_names_out"],
    "VectorizerBase": [
        "build_preprocessor", "build_tokenizer", "decode", "fit", "get_stop_words", "partial_fit",
        "transform",
    ],
}  # fmt: skip
"""Methods that import scikit-learn when they are called."""

OWN = {
    "BaseEstimator": {"get_params", "set_params", "__getattr__"},
    "TransformerMixin": {"fit_transform", "__init_subclass__"},
    "VectorizerBase": {"__init__", "build_analyzer"},
}
"""Methods that do not, or not at once."""


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A folder with a package in place of scikit-learn."""
    folder = tmp_path_factory.mktemp("theirs")
    (folder / "sklearn" / "feature_extraction").mkdir(parents=True)
    (folder / "sklearn" / "__init__.py").write_text("")
    (folder / "sklearn" / "feature_extraction" / "__init__.py").write_text("")
    for module, classes in _light_bases._CLASSES.items():
        made = [f"class {name}(Any): pass\n" for name in classes]
        path = folder.joinpath(*module.split(".")).with_suffix(".py")
        path.write_text(THEIRS + "".join(made))
    return folder


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner, names in BORROWED.items() for name in names]
)
def test_scikit_learn_is_imported_for_its_methods(theirs, owner, name):
    code = f"""
import json
from sparsemaps._tools import _light_bases
made = type("Made", (_light_bases.{owner},), {{}})()
assert not [name for name in sys.modules if name.startswith("sklearn")]
found = repr(made) if {name!r} == "__repr__" else made.{name}()
print(json.dumps([found, [name for name in sys.modules if name.startswith("sklearn.")]]))
"""
    found, modules = in_new_process(code, path=theirs)
    assert found == name
    assert modules


def test_the_methods_are_listed():
    """What the classes have before scikit-learn is imported; here, they have lost it."""
    tree = inspect.getsource(_light_bases)
    for classes in _light_bases._CLASSES.values():
        for cls in classes.values():
            body = tree.split(f"class {cls.__name__}(")[1].split("\nclass ")[0].split("\n\n\n")[0]
            words = [
                line.split()
                for line in body.splitlines()
                if line.startswith("    ") and line[4] != " "
            ]
            names = {w[1].split("(")[0] for w in words if w[0] == "def"}
            names |= {w[0] for w in words if w[1:2] == ["="]}
            rare = {"get_metadata_routing", "set_output", "set_fit_request"}
            listed = {*BORROWED[cls.__name__], *OWN.get(cls.__name__, ())} - rare
            assert names == listed, cls


class Part(_light_bases.BaseEstimator):
    """An estimator with two parameters and something that ``fit`` made."""

    def __init__(self, *, size=1, parts=()):
        self.size, self.parts = size, parts

    @available_if(lambda self: self.size > 1)
    def encode(self):
        return self.size


def test_copies_are_not_fitted():
    inner = Part(size=2)
    part = Part(size=3, parts=[("inner", inner)])
    part.made_ = inner.made_ = 1
    copy = _light_bases._copy(part)
    ((name, copied),) = copy.parts
    assert (name, copied.get_params()) == ("inner", inner.get_params())
    assert copied is not inner
    assert not hasattr(copy, "made_")
    assert not hasattr(copied, "made_")
    assert copy.set_params(size=7).get_params()["size"] == 7


def test_a_method_that_only_some_objects_have():
    assert Part(size=2).encode() == 2
    assert not hasattr(Part(), "encode")
    with pytest.raises(AttributeError, match="Part has no attribute 'encode'"):
        _ = Part().encode


def test_modules_that_another_thread_is_importing(monkeypatch):
    """Their names are missing at first. Nobody can use them before they are there."""
    for module in ("sklearn", "sklearn.feature_extraction.text", _zstd.MODULE):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
    assert not _sklearn.sparse_arrays_asked()
    assert not _sklearn.is_hashing_vectorizer(object())
    assert _zstd.zstd_errors() == ()


OF_THREADS = """
import importlib.machinery, json, sys, threading
started, go = threading.Event(), threading.Event()

class Theirs:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "sklearn":
            return importlib.machinery.ModuleSpec(name, self, is_package=name == "sklearn")
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        name = module.__name__
        if name == SLOW:
            started.set()
            go.wait(9)
        if name == "sklearn":
            importlib.import_module("sklearn.utils")
        if name == "sklearn.base":
            for name in CLASSES:
                of_class = classmethod(lambda cls, **options: None)
                setattr(module, name, type(name, (), {"__init_subclass__": of_class}))

sys.meta_path.insert(0, Theirs())
found = []
"""
"""Modules in place of scikit-learn's, one of which takes long in another thread."""


def of_threads(slow, code):
    names = [name for name in BORROWED if name != "VectorizerBase"]
    return in_new_process(f"SLOW, CLASSES = {slow!r}, {names}\n{OF_THREADS}\n{code}")


def test_a_thread_that_imports_scikit_learn_before():
    """Classes join when its import has ended."""
    code = """
thread = threading.Thread(target=lambda: __import__("sklearn.base"))
thread.start()
started.wait(9)
threading.Timer(0.1, go.set).start()
from sparsemaps._tools import _light_bases
thread.join()
print(json.dumps(issubclass(_light_bases.BaseEstimator, sys.modules["sklearn.base"].BaseEstimator)))
"""
    assert of_threads("sklearn.base", code)


def test_threads_that_import_scikit_learn():
    """Each would wait for a module that the other one is importing."""
    code = """
from sparsemaps._tools._light_bases import imported
threads = [threading.Thread(target=lambda name=name: found.append(imported(name).__name__))
           for name in ("sklearn.base", "sklearn.utils")]
threads[0].start()
started.wait(9)
threads[1].start()
threading.Timer(0.1, go.set).start()
for thread in threads:
    thread.join()
print(json.dumps(found))
"""
    assert of_threads("sklearn", code) == ["sklearn.base", "sklearn.utils"]


def test_finders_that_ask_one_another():
    """As the modules of a package that is imported twice have two."""
    code = """
import json, sys
import sparsemaps
from sparsemaps import MinHash
del sys.modules["sparsemaps._tools._light_bases"]
import sparsemaps._tools._light_bases
import sklearn.base
print(json.dumps(isinstance(MinHash(), sklearn.base.BaseEstimator)))
"""
    assert in_new_process(code)
