"""The base classes of estimators, which inherit from scikit-learn's once it has been imported.

Importing scikit-learn takes most of a second and 100 MB, and neither a process that serves a model
nor most commands need it. Estimators therefore inherit the small classes of this module. As soon as
any code imports ``sklearn.base``, every such class gets the corresponding scikit-learn class as its
base, and loses its own methods. No code can see the difference: code that passes an estimator to
scikit-learn, or checks whether it inherits a scikit-learn class, has imported that class. A method
that only scikit-learn has imports scikit-learn when it is called.

Simpler designs fall short. Separate classes for serving would mean a second class for each map and
model, and `load_model` would not return a `KernelClassifier`. Implementing scikit-learn's protocol
without its base classes would need a copy of `set_output` and of metadata routing, which change
between releases. If classes joined only at their next call, without a finder that reports the
import, ``issubclass`` would be wrong until then.
"""

import copy
import functools
import importlib
import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

_BASE, _TEXT = "sklearn.base", "sklearn.feature_extraction.text"

_joined: set[str] = set()
"""Imported modules of scikit-learn whose classes estimators inherit by now."""


_importing = threading.RLock()


def imported(module: str) -> Any:
    """Return a module of scikit-learn, which only one thread imports at a time.

    Modules of scikit-learn import one another in circles. Threads that import several of them at
    once would find unfinished modules, or wait for one another.
    """
    with _importing:
        return importlib.import_module(module)


def _of_scikit_learn(name: str, module: str = _BASE) -> Callable[..., Any]:
    """Return a method that imports scikit-learn, which replaces it, and calls the replacement."""

    def method(self: Any, *given: Any, **options: Any) -> Any:
        imported(module)
        return getattr(self, name)(*given, **options)

    method.__name__ = name
    return method


def _nothing() -> Any:
    """Return a placeholder base, used until scikit-learn is imported. Each class gets its own,
    so that the method resolution order stays valid while bases are replaced one by one."""
    return type("Nothing", (), {})


class BaseEstimator(_nothing()):  # type: ignore[misc]
    """Access to parameters by their names in ``__init__``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        found = {}
        for name in sorted(inspect.signature(type(self)).parameters):
            value = found[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found.update({f"{name}__{key}": part for key, part in value.get_params().items()})
        return found

    def set_params(self, **parameters: Any) -> Any:
        if not parameters.keys() <= inspect.signature(type(self)).parameters.keys():
            imported(_BASE)  # handles nested parameters and raises the error
            return self.set_params(**parameters)
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    __repr__ = _of_scikit_learn("__repr__")

    def __getattr__(self, name: str) -> Any:
        if _RARE.fullmatch(name):
            imported(_BASE)
            return getattr(self, name)
        return self.__getattribute__(name)  # raises the error of a property or method again


_RARE = re.compile("_repr_[a-z]+_|get_metadata_routing|set_output|set_[a-z_]+_request")
"""Methods of scikit-learn that notebooks and pipelines ask for."""


class TransformerMixin(_nothing()):  # type: ignore[misc]
    """Stores the class options of scikit-learn until it is imported."""

    def __init_subclass__(cls, **options: Any) -> None:
        cls._class_options = options
        super().__init_subclass__(**(options if _BASE in _joined else {}))

    def fit_transform(self: Any, X: Any, y: Any = None, **options: Any) -> Any:
        return self.fit(X, y, **options).transform(X)


class ClassifierMixin(_nothing()):  # type: ignore[misc]
    """Marks a classifier."""

    score = _of_scikit_learn("score")


class RegressorMixin(_nothing()):  # type: ignore[misc]
    """Marks a regressor."""

    score = _of_scikit_learn("score")


class ClassNamePrefixFeaturesOutMixin(_nothing()):  # type: ignore[misc]
    """Names output columns after the class."""

    get_feature_names_out = _of_scikit_learn("get_feature_names_out")


class OneToOneFeatureMixin(_nothing()):  # type: ignore[misc]
    """Names output columns like the input columns."""

    get_feature_names_out = _of_scikit_learn("get_feature_names_out")


class VectorizerBase(TransformerMixin, BaseEstimator):
    """Has the parameters of scikit-learn's class. Its methods are imported from there when they are
    called."""

    def __init__(self, **parameters: Any) -> None:
        for name, value in parameters.items():
            setattr(self, name, value)

    def build_analyzer(self) -> Callable[[str], Any]:
        @functools.cache
        def made() -> Any:
            imported(_TEXT)
            return self.build_analyzer()

        return lambda text: made()(text)

    fit = _of_scikit_learn("fit", _TEXT)
    partial_fit = _of_scikit_learn("partial_fit", _TEXT)
    transform = _of_scikit_learn("transform", _TEXT)
    build_preprocessor = _of_scikit_learn("build_preprocessor", _TEXT)
    build_tokenizer = _of_scikit_learn("build_tokenizer", _TEXT)
    decode = _of_scikit_learn("decode", _TEXT)
    get_stop_words = _of_scikit_learn("get_stop_words", _TEXT)


_CLASSES: dict[str, dict[str, type]] = {
    _BASE: {
        cls.__name__: cls
        for cls in (
            BaseEstimator,
            TransformerMixin,
            ClassifierMixin,
            RegressorMixin,
            ClassNamePrefixFeaturesOutMixin,
            OneToOneFeatureMixin,
        )
    },
    _TEXT: {"HashingVectorizer": VectorizerBase},
}
"""For each module of scikit-learn, its class names and the classes here that inherit them."""

_KEPT = "__init__", "__init_subclass__"
"""Functions that the classes keep after joining."""


def _join(module: str) -> None:
    """Make estimators inherit the classes of a scikit-learn module that has been imported."""
    theirs, classes = sys.modules[module], _CLASSES[module].values()
    for name, cls in _CLASSES[module].items():
        cls.__bases__ = (getattr(theirs, name),)
    _joined.add(module)
    for cls in classes:  # until now, other threads may have called these
        for name, value in list(vars(cls).items()):
            if isinstance(value, FunctionType) and name not in _KEPT:
                delattr(cls, name)
    for below in dict.fromkeys(below for cls in classes for below in _subclasses(cls)):
        # Do what scikit-learn does when a subclass is defined.
        first: Any = TransformerMixin if issubclass(below, TransformerMixin) else BaseEstimator
        if issubclass(below, first):
            super(first, below).__init_subclass__(**vars(below).get("_class_options", {}))


def _subclasses(cls: type) -> Iterator[type]:
    """Yield all subclasses of a class, each after the classes that it inherits."""
    below: type
    for below in cls.__subclasses__():
        yield below
        yield from _subclasses(below)


class _Imports:
    """An import finder that hooks into the import of scikit-learn modules."""

    def __init__(self) -> None:
        self._sought: set[tuple[int, str]] = set()
        """Modules that a thread is asking other finders for. These may ask this finder again."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        asked = threading.get_ident(), name
        if name not in _CLASSES or name in _joined or asked in self._sought:
            return None
        self._sought.add(asked)
        try:
            others = (finder for finder in sys.meta_path if finder is not self)
            found = (finder.find_spec(name, path, target) for finder in others)
            spec = next((spec for spec in found if spec is not None), None)
        finally:
            self._sought.remove(asked)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenJoin(spec.loader)  # type: ignore[assignment]
        return spec


class _ThenJoin:
    """A loader that runs a module with its own loader, then makes estimators inherit its
    classes."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _join(module.__name__)


sys.meta_path.insert(0, _Imports())
for _module in _CLASSES:
    if _module in sys.modules:
        imported(_module)  # waits if another thread is importing it
        _join(_module)


def clone(estimator: Any, *, safe: bool = True) -> Any:
    """Call scikit-learn's `clone`, or do the same without importing it."""
    if _BASE in _joined or not isinstance(estimator, BaseEstimator):
        return imported(_BASE).clone(estimator, safe=safe)
    return _copy(estimator)


def _copy(value: Any) -> Any:
    """Return an unfitted estimator with equal parameters, or a deep copy of any other value."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_copy, value))
    if not hasattr(value, "get_params") or isinstance(value, type):
        return copy.deepcopy(value)
    parameters = value.get_params(deep=False).items()
    return type(value)(**{name: _copy(parameter) for name, parameter in parameters})


class available_if:
    """A method that exists only on objects for which ``check`` is true."""

    def __init__(self, check: Callable[[Any], bool]) -> None:
        self._check = check

    def __call__(self, method: Callable[..., Any]) -> Any:
        self._method = method
        return self

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, map: Any, owner: type) -> Any:
        if map is None:
            return self._method
        if not self._check(map):
            raise AttributeError(f"this {owner.__name__} has no attribute {self._name!r}")
        return self._method.__get__(map, owner)
