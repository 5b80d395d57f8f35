"""Text shared by the docstrings of several models."""

from sparsemaps.linear import _losses


def _names(*, of_regression: bool) -> str:
    """Return the first line of the parameter `loss`."""
    names = _losses.names(of_regression=of_regression)
    listed = ", ".join(f'"{name}"' for name in names)
    return f'loss : {{{listed}}}, default="{names[0]}"'


_WITH_PROBABILITIES = " and ".join(f'"{name}"' for name in _losses.WITH_PROBABILITIES)
_HAS = "has" if len(_losses.WITH_PROBABILITIES) == 1 else "have"

PARTS = {
    "map": """\
map : map with ``encode``
    `MinHash`, `ConsistentWeightedSampling`, `SignProjection`, `RandomBinning`, `RandomFourier`
    or a `KernelProduct` that has codes. It is cloned and fitted by ``fit``.""",
    "vectorizer": """\
vectorizer : str, Texts, object with ``transform`` or None, default=None
    The object that turns texts into rows. With a vectorizer, all methods accept texts. "char:3",
    "word:1-2", "auto:5" and `sparsemaps.files.Texts` give the same n-grams as ``--texts`` of the
    commands, as sets for `MinHash` and as counts for other maps. An object can be a
    `sparsemaps.text.HashingVectorizer`, or any other that transforms each text separately. A
    pipeline of `HashingVectorizer` and `sparsemaps.text.IdfWeights`, or ``Texts`` with ``idf``,
    weights the n-grams: ``fit`` counts the texts first, unless the `IdfWeights` is fitted.""",
    "loss of classes": f"""\
{_names(of_regression=False)}
    The loss function. {_WITH_PROBABILITIES} {_HAS} ``predict_proba`` immediately, the others
    after ``calibrate``.""",
    "loss of numbers": f"""\
{_names(of_regression=True)}
    The loss function. With ``epsilon=0``, the squared loss is that of ridge regression.""",
    "epsilon": """\
epsilon : float, default=0.1
    Errors up to this size are ignored, in the unit of `y`.""",
    "C": """\
C : float, default=1.0
    Inverse strength of regularisation, above 0. Smaller values regularise more.""",
    "fit_intercept, intercept_scaling": """\
fit_intercept : bool, default=True
    Whether to add a constant feature with the value `intercept_scaling`. Its weight is
    regularised like the others.
intercept_scaling : float, default=1.0
    The value of the constant feature.""",
    "class_weight": """\
class_weight : dict, "balanced" or None, default=None
    Weights by which the losses of the rows of each class are multiplied. "balanced" uses the
    sum of the weights of all rows, divided by the number of classes and by the sum of the
    weights of the rows of the class. Keys of a dictionary are compared with labels without
    conversion: "1" is not 1.""",
    "tol of classes": """\
tol : float, default=1e-3
    The stopping tolerance for the projected gradients of the dual problem, as in LIBLINEAR.""",
    "tol of numbers": """\
tol : float, default=1e-3
    The stopping tolerance: training ends when the sum of the violations is `tol` times the sum of
    the first pass.""",
    "max_iter": """\
max_iter : int, default=1000
    Maximum number of passes over the rows.""",
    "random_state": """\
random_state : int, Generator, RandomState or None, default=None
    The seed of the order in which rows are visited. The map has its own seed.""",
    "map_, vectorizer_, n_features_in_": """\
map_, vectorizer_ : objects
    The fitted map, and the vectorizer if there is one.
n_features_in_ : int
    Number of columns. Only without a vectorizer.""",
    "Cs": """\
Cs : int or array-like of floats, default=10
    The values of C, above 0; or their number, from 1/1000 to 1000 in equal ratios.""",
    "max_iter of a C": """\
max_iter : int, default=1000
    Maximum number of passes for each C.""",
    "n_jobs of folds": """\
n_jobs : int or None, default=None
    Number of threads; None means 1, and -1 all processors. A thread trains up to four models with
    the same C together, of any folds and classes. The result does not depend on `n_jobs`.""",
    "C_, Cs_, scores_": """\
C_ : float
    The C with the highest mean score. If scores are equal, the smallest C.
Cs_ : ndarray of shape (n_Cs,)
    All values of C, in order.
scores_ : ndarray of shape (n_folds, n_Cs)
    The score of each fold and C.""",
}
"""Parameters and attributes by their marks, which are lines such as ``[map]`` (see
``_tools._docstrings``)."""
