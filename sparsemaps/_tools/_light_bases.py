"""The base classes of maps in the process of the command, which shows its maps to nobody.

scikit-learn's take a second to import. If a rare call needs more than these have, scikit-learn's
own function is imported and called.
"""

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

in_use = False
"""Whether maps that are imported from now on inherit these classes, not those of scikit-learn."""


class BaseEstimator:
    """Parameters by their names, which are those of ``__init__``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Any:
        for name, value in parameters.items():
            setattr(self, name, value)
        return self


class TransformerMixin:
    """Takes scikit-learn's option of a class."""

    def __init_subclass__(cls, auto_wrap_output_keys: Any = ()) -> None:
        super().__init_subclass__()


class _Nothing:
    """Nothing."""


ClassifierMixin = RegressorMixin = _Nothing
ClassNamePrefixFeaturesOutMixin = OneToOneFeatureMixin = _Nothing


def clone(value: Any) -> Any:
    """Return an estimator of equal parameters that is not fitted; of other values a deep copy."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(clone, value))
    if not hasattr(value, "get_params") or isinstance(value, type):
        return copy.deepcopy(value)
    parameters = value.get_params(deep=False).items()
    return type(value)(**{name: clone(parameter) for name, parameter in parameters})


class available_if:
    """A method that only objects have for which ``check`` is true."""

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


def vectorizer_base(load: Callable[[], Any]) -> type:
    """Return the base class of vectorizers of texts, whose methods are those of the class that
    `load` imports, when they are called."""

    class VectorizerBase(TransformerMixin, BaseEstimator):
        def __init__(self, **parameters: Any) -> None:
            vars(self).update(parameters)

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__") or not name.startswith("_"):
                raise AttributeError(name)
            found = inspect.getattr_static(load(), name)
            return found.__get__(self, type(self)) if hasattr(found, "__get__") else found

        def build_analyzer(self) -> Callable[[str], Any]:
            made = functools.cache(lambda: load().build_analyzer(self))
            return lambda text: made()(text)

        def get_stop_words(self) -> Any:
            return None if self.stop_words is None else load().get_stop_words(self)

    def borrow(name: str) -> None:
        def method(self: Any, *given: Any, **options: Any) -> Any:
            return getattr(load(), name)(self, *given, **options)

        setattr(VectorizerBase, name, method)

    for name in ("fit", "transform", "build_preprocessor", "build_tokenizer", "decode"):
        borrow(name)
    return VectorizerBase
