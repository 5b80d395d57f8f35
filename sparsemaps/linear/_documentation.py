"""Parts that the docstrings of several models share."""

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
    What makes rows of texts. With a vectorizer, all methods take texts. "char:3", "word:1-2",
    "auto:5" and the like, and `sparsemaps.files.Texts`, give the n-grams that the commands
    make for ``--texts``, as sets for `MinHash` and with their counts for other maps. An object
    may be `sparsemaps.text.HashingVectorizer`, or any other whose rows depend on their texts
    alone. A pipeline of `HashingVectorizer` and `sparsemaps.text.IdfWeights`, or ``Texts`` with
    ``idf``, weights the n-grams: ``fit`` counts the texts first, unless the `IdfWeights` is
    fitted.""",
    "loss of classes": f"""\
{_names(of_regression=False)}
    The loss of a row. {_WITH_PROBABILITIES} {_HAS} ``predict_proba`` at once, the others after
    ``calibrate``.""",
    "loss of numbers": f"""\
{_names(of_regression=True)}
    The loss of a row; with ``epsilon=0``, the squared one is ridge regression's.""",
    "epsilon": """\
epsilon : float, default=0.1
    Differences up to this cost nothing, in the unit of `y`.""",
    "C": """\
C : float, default=1.0
    Inverse strength of regularisation, above 0. Smaller values regularise more.""",
    "fit_intercept, intercept_scaling": """\
fit_intercept : bool, default=True
    Whether there is one more feature, of the value `intercept_scaling`. Its weight is
    regularised like the others.
intercept_scaling : float, default=1.0
    The value of that feature.""",
    "class_weight": """\
class_weight : dict, "balanced" or None, default=None
    What the losses of the rows of a class are multiplied by, in the problems of all classes.
    "balanced" is the sum of the weights of all rows, divided by the number of classes and by
    the sum of the weights of the rows of the class. Keys of a dictionary are compared with
    labels without conversion: "1" is not 1.""",
    "tol of classes": """\
tol : float, default=1e-3
    The passes end when the projected gradients of the dual problem are within `tol`, as
    LIBLINEAR's do.""",
    "tol of numbers": """\
tol : float, default=1e-3
    The passes end when the sum of the violations is `tol` times the sum of the first pass.""",
    "max_iter": """\
max_iter : int, default=1000
    The largest number of passes.""",
    "random_state": """\
random_state : int, Generator, RandomState or None, default=None
    The seed of the order in which rows are visited. The map has a seed of its own.""",
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
    The largest number of passes for a C.""",
    "n_jobs of folds": """\
n_jobs : int or None, default=None
    Threads; None is 1, -1 all processors. A thread trains up to four models of a C together, of
    any folds and classes. The result does not depend on it.""",
    "C_, Cs_, scores_": """\
C_ : float
    The C with the highest mean score; of equal ones, the smallest.
Cs_ : ndarray of shape (n_Cs,)
    All values of C, in order.
scores_ : ndarray of shape (n_folds, n_Cs)
    The score of each fold and C.""",
}
"""Parameters and attributes by their marks, lines such as ``[map]`` (``_tools._docstrings``)."""
