"""Options of jobs as fields of values: the kinds of inputs, which records are similar, which are
removed, which tables are written, and how a job runs.

``_tools/_option_fields.py`` lists the uses of the fields. This module does not import NumPy,
because the command shows help without it.
"""

# ruff: noqa: RUF009 - defaults of fields are made by calls

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from sparsemaps._tools import _allowed
from sparsemaps._tools._allowed import (
    MOST_SNIPPETS,
    Bool,
    Choice,
    Int,
    Ints,
    PathTo,
    Real,
    Reals,
    String,
    words_of_type,
)
from sparsemaps._tools._checks import LARGEST_INT, LARGEST_INT32, check_int
from sparsemaps._tools._option_fields import Values
from sparsemaps._tools._parameters import ParameterError, absent, named, named_any, setting
from sparsemaps.records import TEXT_FORMATS

if TYPE_CHECKING:
    from sparsemaps.files._tasks import Engine


_MAX_LINE_BYTES = Int(1, LARGEST_INT).default(
    2**30,
    "The maximum length of a line of an input, in bytes. A longer line is an error: a small "
    "compressed file can hold one that fills the memory.",
    metavar="N",
)

# ---- inputs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Texts(Values):
    r"""Inputs that are raw texts, whose rows are n-grams.

    Columns are hashes of n-grams, below ``2**31 - 2``; for "byte" they are exact. Letters are
    lowered, except for "byte". Rows are sets of n-grams for `MinHash`, and counts without a norm
    for other maps.

    Parameters
    ----------
    [options]

    See Also
    --------
    Svmlight : Inputs that are LIBSVM files.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import Texts, map_files
    >>> lines, out = BytesIO(b'{"page": "a cat sat"}\n'), BytesIO()
    >>> texts = Texts("word:2", field="page", format="jsonl")
    >>> mapped = map_files(MinHash(n_hashes=2, random_state=0), lines, out, source=texts)
    >>> mapped[0].n_rows
    1
    """

    analyzer: str = String().default(
        "auto:5",
        'The unit and size of the n-grams of raw texts: "auto:5", "word:5", "code:5", '
        '"char:3-5", "char_wb:3" or "byte:3". "auto" uses words, and single characters in scripts '
        'without spaces between words. "code" uses runs of letters, digits and underscores, and '
        'single other characters. Texts are converted to lower case, except for "byte".',
        flag="--texts",
        metavar="ANALYZER:N[-M]",
    )
    _: KW_ONLY
    field: str = String().default(
        "text",
        'The field of the text, or its column; "doc.text" is the field within "doc". In .txt, each '
        "line is a text.",
    )
    label_field: str | None = String(none=True).default(
        None,
        "The field or column of labels: strings, booleans or numbers, or a list for several labels "
        "per record. Without it, labels are 0. Labels that are strings are "
        "numbered from 0 in sorted order, and the table is "
        "OUTPUT.classes.tsv; False is 0, and True is 1.",
        metavar="FIELD",
    )
    id_field: str | None = String(none=True).default(
        None, "The field or column of ids.", metavar="FIELD"
    )
    format: str | None = Choice(*TEXT_FORMATS, none=True).default(
        None,
        "The format of all inputs; needed for pipes and file objects, and if the names of files do "
        "not show it.",
        flag="--text-format",
    )
    token_pattern: str | None = String(none=True).default(
        None,
        "A regular expression for the words of n-grams. "
        r"None is ``\S+``, runs of characters without whitespace.",
        metavar="REGEX",
    )
    normalize: str | None = Choice("nfc", "nfkc", "plain", none=True).default(
        None,
        "Convert texts to this Unicode normal form first, as `sparsemaps.text.HashingVectorizer` "
        'does; "plain" is NFKC, case folded, with punctuation and runs of whitespace as one space.',
    )
    min_length: int | None = Int(0, LARGEST_INT, none=True).default(
        None,
        "The minimum length of a text in characters. A shorter text is a bad record, which is an "
        "error unless the job sets bad records aside.",
        metavar="N",
    )
    max_length: int | None = Int(0, LARGEST_INT, none=True).default(
        None,
        "The maximum length of a text in characters. A longer text is a bad record.",
        metavar="N",
    )
    idf: float | None = Real(least=0.0, most=100, none=True).default(
        None,
        "For maps and models: give n-grams that occur in few records a higher weight, as "
        "`sparsemaps.text.IdfWeights` does with this power, such as 2. The inputs are read "
        'twice. A weighted row has fractions of levels, for ``method="levels"`` of min-max.',
        metavar="POWER",
        const=2.0,
    )
    idf_levels: float = Real(above=0, most=2**31).default(
        16.0,
        "For `idf`: the number of levels of an n-gram that occurs once, and in no other record.",
        metavar="N",
    )
    max_df: int | None = Int(1, LARGEST_INT32, none=True).default(
        None,
        "Ignore n-grams that occur in more records than this, in records with at least `min_own` "
        "other n-grams. Text that many records share, such as a menu or a licence, then does not "
        "decide. It is for near-duplicates. Choose a number above the size of a usual family of "
        "near copies, and far below the number of records that share a frame. None counts all "
        "n-grams. The records that have each n-gram are counted first.",
        metavar="T",
    )
    min_own: int = Int(1, LARGEST_INT32).default(
        12,
        "Judge a record with fewer n-grams of its own by all of its n-grams. It is for `max_df`. "
        "Each word that differs makes n own n-grams of n words. Near copies stay together, "
        "however many there are, if this is more than n times the number of words in which they "
        "differ.",
        metavar="N",
    )
    frequencies: str | os.PathLike[str] | None = PathTo(none=True).default(
        None,
        "Use the table of frequencies of an earlier run, frequencies.npy in its folder; without "
        "it, the inputs are counted. It is for `max_df` or `idf`, and needs a run with the same "
        "option. With `against`, the default is the table of the first earlier run.",
        metavar="FILE",
    )
    max_line_bytes: int = _MAX_LINE_BYTES

    def _check_together(self) -> None:
        if self.max_length is not None:
            check_int("max_length", self.max_length, self.min_length or 0, LARGEST_INT)
        if self.max_df is not None and self.idf is not None:
            raise ParameterError("idf", repr(self.idf), f"{absent()} with {named('max_df')}")
        if self.max_df is None and self.idf is None and self.frequencies is not None:
            rule = f"{absent()} without {named_any('max_df', 'idf')}"
            raise ParameterError("frequencies", repr(self.frequencies), rule)
        for name, of in (("min_own", "max_df"), ("idf_levels", "idf")):
            value = getattr(self, name)
            if getattr(self, of) is None and value != getattr(Texts, name):
                raise ParameterError(name, repr(value), f"left out without {named(of)}")


@dataclass(frozen=True, kw_only=True)
class Svmlight(Values):
    """Inputs that are LIBSVM files.

    Parameters
    ----------
    [options]

    See Also
    --------
    Texts : Inputs that are raw texts.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import Svmlight, map_files
    >>> rows, out = BytesIO(b"1 0:1 2:1\\n"), BytesIO()
    >>> minhash = MinHash(n_hashes=2, random_state=0)
    >>> map_files(minhash, rows, out, source=Svmlight(zero_based=True))[0].n_rows
    1
    """

    zero_based: bool = Bool().default(False, "Count indices of the inputs from 0, not from 1.")
    max_line_bytes: int = _MAX_LINE_BYTES


GivenSource: TypeAlias = Texts | Svmlight | str | None
"""The parameter `source`; a string is the analyzer of texts."""

# ---- near-duplicates -----------------------------------------------------------------------------


class Paths(PathTo):
    """The path of a file or folder, or a sequence of paths."""

    @property
    def type(self) -> str:
        return "str, path-like, a sequence of these, or None"

    def _checked(self, name: str, value: object) -> Any:
        for one in value if isinstance(value, (list, tuple)) else [value]:
            super()._checked(name, one)
        return value


@dataclass(frozen=True, kw_only=True)
class Search(Values):
    """The similarity of near-duplicates, and how to find them.

    Parameters
    ----------
    [options]
    """

    threshold: float = Real(above=0, most=1).default(
        0.8,
        "The minimum similarity of near-duplicates, [allowed]. It is compared with the estimate by "
        "the codes, or with `exact`, with the exact kernel.",
    )
    recall: float = Real(above=0, most=1).default(
        0.95, "The probability that a pair at the threshold is found; 1 compares all pairs."
    )
    exact: bool = Bool().default(
        False,
        "Decide by the exact kernel, and write its value; this reads the inputs again. Pairs "
        "whose estimates are a little below the threshold are checked as well. Their rows are "
        "written to temporary files.",
    )

    @property
    def recipe(self) -> dict[str, Any]:
        """The options that determine the answer. "jaccard" is written for any map."""
        options = {"threshold": self.threshold, "recall": self.recall, "exact": self.exact}
        return {**options, "similarity": "jaccard"}


@dataclass(frozen=True, kw_only=True)
class PairSearch(Search):
    """The pairs of records to write, and how to find them.

    Parameters
    ----------
    [options]
    """

    containment: bool = Bool().default(
        False,
        "For `MinHash`, find pairs whose second set contains at least the threshold's share of the "
        "first set, as `sparsemaps.neighbors.contained_pairs` does. It needs "
        "many hashes, such as 16384 if the second set is 100 times as large, and fewer with "
        "`exact`; an error says how many.",
    )
    max_bytes: int = Int(2**20, LARGEST_INT).default(
        2**30,
        "The memory for the hashes of rows, 8 bytes each, in addition to the codes. If the hashes "
        "of all rows take more, codes are read several times. It does not change which pairs are "
        "found.",
        metavar="N",
    )

    @property
    def recipe(self) -> dict[str, Any]:
        own = {"similarity": "containment"} if self.containment else {}
        return {**super().recipe, **own}


@dataclass(frozen=True, kw_only=True)
class Removal(Values):
    """The choice of near-duplicates to remove.

    Parameters
    ----------
    [options]
    """

    keep: str = String("'first', 'longest' or the name of a field").default(
        "first",
        'Which records to keep: "first" keeps the first one in the order of the inputs, "longest" '
        "the one with the most characters of text or the most entries, and the name of a field or "
        "column of texts the one with the largest number in it. Records without a number come "
        "last. If lengths or numbers are equal, the order of the inputs decides.",
        metavar="first|longest|FIELD",
    )
    against: Any = Paths(none=True).default(
        None,
        "Also remove records that are near a record of an earlier delivery: the folder "
        "OUTPUT.stages of an earlier run, a directory of such folders, or a file of codes. A run "
        "stands for the records that it kept, a file of codes for all its records; folders in a "
        "directory are taken in the order of their names. Earlier records come before all records "
        "of the inputs. Several deliveries, one after the other, leave the same records as one "
        "run over all of them.",
        metavar="FOLDER",
    )

    @property
    def key_field(self) -> str | None:
        """The field of the number that orders records."""
        return None if self.keep in ("first", "longest") else self.keep


# ---- tables --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Aside(Values):
    """The treatment of bad records.

    Parameters
    ----------
    [options]
    """

    bad_records: str | os.PathLike[str] = PathTo("'error' or the path of a file").default(
        "error",
        "Set aside records that cannot be read, or are too short or too long, and list them in "
        'this file; with "error", the first one is an error. The table has a header, then a line '
        "for each such record, with its file, its line or row, the reason, and the whole line, "
        "unchanged. Bad records have no number, and are in no other output. In a directory of "
        "outputs, the bad records of an input are also in OUTPUT.bad.tsv. If all records of an "
        "output are bad, or the first 1,000, the job ends with an error and leaves the outputs "
        "unchanged.",
        metavar="FILE",
    )

    @property
    def aside(self) -> Any:
        """The path of the table; None if bad records raise errors."""
        return None if self.bad_records == "error" else self.bad_records


@dataclass(frozen=True, kw_only=True)
class Tables(Aside):
    """The files to write besides the records.

    Parameters
    ----------
    [options]
    """

    removed: str | os.PathLike[str] | None = PathTo(none=True).default(
        None,
        "Write a table of the removed records, each with the kept record that it duplicates and "
        "their similarity. It has a header, and tabs between columns. Records are numbered from 1 "
        "through all inputs, or have their ids; a record of an earlier delivery is "
        "``DELIVERY:record``.",
        metavar="REMOVED.tsv",
    )
    report: str | os.PathLike[str] | None = PathTo(none=True).default(
        None,
        "Write an HTML page that helps you decide whether to trust the removals: fifty of them "
        "side by side, most of them near the threshold, with counts, similarities, settings and "
        "the records with the most duplicates. With `max_df` it shows the frames that were left "
        "out, too. It contains texts of records, and needs no network. The inputs are read once "
        "more, and twice with `max_df`.",
        metavar="REPORT.html",
    )
    clusters: str | os.PathLike[str] | None = PathTo(none=True).default(
        None,
        "Write a table with the cluster of each record. Clusters are numbered in the order of "
        "their first records. A cluster is a kept record with the records removed as near it, or "
        "the records that are near the same record of an earlier delivery. A line has the number "
        "of a record, or its id, and the number of its cluster.",
        metavar="CLUSTERS.tsv",
    )
    dry_run: bool = Bool().default(False, "Write the tables and the report, but no output.")

    def files(self) -> list[tuple[Any, str]]:
        """Return the files with their names in errors."""
        tables = (
            (self.clusters, "the table of clusters"),
            (self.removed, "the table of removals"),
            (self.report, "the report"),
            (self.aside, "the file of bad records"),
        )
        return [(table, what) for table, what in tables if table is not None]


# ---- training ------------------------------------------------------------------------------------


_OF_CLASSES, _OF_NUMBERS = (
    words_of_type("linear/_losses.py", name) for name in ("OfClasses", "OfNumbers")
)
"""The losses of classification and of regression."""


class ClassWeights(_allowed.Allowed):
    """The weights of classes: "balanced", or labels with their weights."""

    words = "str or sequence of str"

    def _checked(self, name: str, value: Any) -> Any:
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) for one in given):
            raise ParameterError(name, repr(value), self._rule)
        for one in () if list(given) == ["balanced"] else given:
            _, is_given, weight = one.rpartition("=")
            try:
                is_weight = bool(is_given) and 0 <= float(weight) < math.inf
            except ValueError:
                is_weight = False
            if not is_weight:
                raise ParameterError(name, repr(one), self._rule)
        return value if isinstance(value, str) else tuple(value)

    _rule = "'balanced' alone, or LABEL=WEIGHT with a weight of at least 0"


@dataclass(frozen=True, kw_only=True)
class LinearModel(Values):
    """The parameters of a linear model that the command trains.

    Parameters
    ----------
    [options]
    """

    loss: str = Choice(*_OF_CLASSES, *_OF_NUMBERS).default(
        _OF_CLASSES[0], f"The loss function; for regression: {', '.join(_OF_NUMBERS)}."
    )
    epsilon: float = Real(least=0.0).default(
        0.1, "For regression: errors up to this size cost nothing.", metavar="EPSILON"
    )
    tol: float = Real(above=0).default(1e-3, "The stopping tolerance.", metavar="TOL")
    max_iter: int = Int(1, LARGEST_INT32).default(
        1000, "The maximum number of passes.", metavar="N"
    )
    class_weight: str | Sequence[str] | None = ClassWeights(none=True).default(
        None,
        'The weights of classes: "balanced" weights classes by the inverse of their frequencies, '
        "and LABEL=WEIGHT sets the weight of one class. Frequencies are sums of the weights of "
        "records.",
        metavar="balanced|LABEL=WEIGHT",
    )

    def _check_together(self) -> None:
        if self.is_regression and self.class_weight is not None:
            said = setting("class_weight", self.class_weight)
            raise ValueError(f"{said} is for classifiers, not for regression")
        if not self.is_regression and self.epsilon != type(self).epsilon:
            of_numbers = " and ".join(setting("loss", loss) for loss in _OF_NUMBERS)
            raise ValueError(f"{setting('epsilon', self.epsilon)} is for {of_numbers} only")

    @property
    def is_regression(self) -> bool:
        return self.loss in _OF_NUMBERS

    @property
    def weights_of_labels(self) -> dict[str, float]:
        """The weights of labels, by label text; empty if none are given."""
        parts = [one.rpartition("=") for one in self._class_weights if one != "balanced"]
        return {label: float(weight) for label, _, weight in parts}

    @property
    def _class_weights(self) -> Sequence[str]:
        given = self.class_weight or ()
        return [given] if isinstance(given, str) else given

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the model, except the weights of labels, which depend on the
        labels of the records."""
        names = ["loss", "tol", "max_iter", *(["epsilon"] if self.is_regression else [])]
        given = {name: getattr(self, name) for name in names}
        return given | ({"class_weight": "balanced"} if "balanced" in self._class_weights else {})


class Inputs(_allowed.Allowed):
    """One or several inputs."""

    words = "inputs"

    def _checked(self, name: str, value: object) -> Any:
        several = list(value) if isinstance(value, (list, tuple)) else [value]
        for one in several:
            if not isinstance(one, (str, os.PathLike)) and not hasattr(one, "read"):
                raise ParameterError(name, repr(value), "paths or file objects, or None")
        if not several:
            raise ParameterError(name, repr(value), "some inputs or None")
        return value


@dataclass(frozen=True, kw_only=True)
class Training(Values):
    """How to train a model on records.

    Parameters
    ----------
    [options]
    """

    C: float | Sequence[float] | None = Reals(above=0, none=True).default(
        None,
        "The inverse strength of regularisation, [allowed]; if several are given, use the one with "
        "the highest accuracy, R2 for regression, or micro F1 for lists of labels, on the records "
        "of `validation`, or as a mean over five folds. The fold of a record depends on the seed "
        "and on the number of the record. The model equals a model with this C alone. None is the "
        "C of the model.",
        metavar="C",
    )
    validation: Any = Inputs(none=True).default(
        None,
        "Print the accuracy and the confusion matrix on these records, and for two classes the "
        "area under the ROC curve too. If records have lists of labels, print micro and macro F1, "
        "and the precision of the best 1, 3 and 5. The model is not trained on them. The inputs "
        "are of the same kinds as for training.",
        metavar="INPUT",
    )
    weight_field: str | None = String(none=True).default(
        None,
        "The field or column of the weights of records, numbers of at least 0. A record of weight "
        "2 counts twice, and a record of weight 0 not at all, in training, validation and "
        "calibration. But `idf` and `n_records` count each record once. LIBSVM files and files of "
        "codes have their weights beside them: INPUT.weights.npy is an array, INPUT.weights.txt "
        "has a number a line.",
        metavar="FIELD",
    )
    calibrate: bool = Bool().default(
        False,
        "Learn to turn scores into probabilities, as ``KernelClassifier.calibrate`` does, from "
        "the records of `validation`, or from five folds of the training records. The fold of a "
        "record depends on its number. With folds, training takes 4 to 6 times as long.",
    )
    snippets: Sequence[int] | None = Ints(1, LARGEST_INT32, MOST_SNIPPETS, none=True).default(
        None,
        "For raw texts: also train on short parts of each text, one for each given length, in "
        "words, or in characters in scripts without spaces. This improves labels of short texts. "
        "A part has the label of its text, and depends on the seed and on the number of the "
        "record (`sparsemaps.text.snippets`). A text has no part longer than itself. Parts "
        "calibrate too, in the fold of their text.",
        metavar="N",
    )


# ---- outputs of maps and models ------------------------------------------------------------------


class _Header(_allowed.Allowed):
    """Whether there is a header, or its text."""

    words = "bool or str"

    def _checked(self, name: str, value: object) -> Any:
        return value if isinstance(value, str) else Bool().check(name, value)


@dataclass(frozen=True, kw_only=True)
class MappedRows(Values):
    """How to write the rows that a map makes.

    Parameters
    ----------
    [options]
    """

    format: str = Choice("svmlight", "npy").default(
        "svmlight",
        'The format of the output: "svmlight" is LIBSVM text, "npy" packed codes with labels in '
        'OUTPUT.labels.npy. "npy" holds the codes of ``encode``, for '
        "`sparsemaps.codes.PackedCodes.load`, as an array of uint8 for ``numpy.load(..., "
        'mmap_mode="r")``; query ids go to OUTPUT.qids.npy. If rows have several labels, the '
        "labels are pairs of the number of a row, from 0, and a label.",
    )
    ones: bool = Bool().default(
        False,
        "Write one-hot features as 1, not as 1 / sqrt(n_hashes). It is for maps with one-hot "
        "output.",
    )
    header: bool | str = _Header().default(
        False,
        "Begin the text with a comment; LIBSVM's own programs do not read comments. True writes "
        "the map and its parameters, the command itself.",
    )
    comments: bool = Bool().default(
        False, 'Keep the comments of the inputs. It is for format "svmlight".'
    )
    weight_field: str | None = String(none=True).default(
        None,
        "For texts: write the weights of records, which are numbers of at least 0 in this field or "
        'column, to OUTPUT.weights.npy. `train_files` takes them. It is for format "npy".',
        metavar="FIELD",
    )


@dataclass(frozen=True, kw_only=True)
class LineOptions(Values):
    """What to write about each record that a model labels.

    Parameters
    ----------
    [options]
    """

    proba: bool = Bool().default(
        False,
        "Write probabilities instead of scores; the model must be calibrated, or have the loss "
        '"log_loss". The score still decides the label: the highest one, or for models of several '
        "labels, all above 0.",
    )
    top: int | None = Int(1, LARGEST_INT32, none=True).default(
        None,
        "Write only the best labels, at most this many, each with its score or probability, "
        "instead of the scores of all classes. The columns are "
        '"label_1", "score_1" (or "proba_1"), "label_2" and so on.',
        metavar="K",
    )
    min_score: float | None = Real(none=True).default(
        None,
        "The minimum score of a label; records whose label has a lower score are unknown. With "
        "`top`, labels below it are left out. For models of several labels, it replaces 0.",
        metavar="S",
    )
    min_proba: float | None = Real(least=0, most=1, none=True).default(
        None,
        "The minimum probability of a label, instead of `min_score`; records whose label has a "
        'lower probability are unknown. The model must be calibrated, or have the loss "log_loss".',
        metavar="P",
    )
    unknown: str = String().default(
        "",
        "The label of unknown records: records below the minimum, and records without an n-gram "
        "or an entry.",
        metavar="LABEL",
    )
    explain: int = Int(0, LARGEST_INT32).default(
        0,
        "The number of n-grams to write for each text, in further columns, with their shares of "
        "the score of its label: those with the largest shares, positive or negative, as "
        "``model.explain`` returns them. It is for models of texts.",
        metavar="N",
    )

    def _check_together(self) -> None:
        refuse_both("min_score", self.min_score, "min_proba", self.min_proba)


@dataclass(frozen=True, kw_only=True)
class LabelChoice(Values):
    """Which records with a label to write.

    Parameters
    ----------
    [options]
    """

    min_score: float | None = Real(none=True).default(
        None,
        "The minimum score of the label; without it, the score must be the highest of all labels. "
        "Of two classes, the score of the first is minus the score of the second.",
        metavar="S",
    )
    min_proba: float | None = Real(least=0, most=1, none=True).default(
        None,
        "The minimum probability of the label, instead of `min_score`. The model must be "
        'calibrated, or have the loss "log_loss".',
        metavar="P",
    )
    fraction: float | None = Real(above=0, most=1, none=True).default(
        None,
        "The share of all records to write, [allowed]: the records that score highest for the "
        "label. If scores are equal, earlier records are written. The number of records is "
        "rounded up. Give at most one of `min_score`, `min_proba` and `fraction`.",
        metavar="F",
    )

    def _check_together(self) -> None:
        refuse_both("min_score", self.min_score, "min_proba", self.min_proba)
        refuse_both("fraction", self.fraction, "min_score", self.min_score)
        refuse_both("fraction", self.fraction, "min_proba", self.min_proba)


def refuse_both(name: str, value: object, other: str, other_value: object) -> None:
    """Raise a ValueError if two mutually exclusive options are given."""
    if value is not None and other_value is not None:
        raise ValueError(f"give {setting(name, value)} or {setting(other, other_value)}, not both")


# ---- running -------------------------------------------------------------------------------------


class Jobs(_allowed.Allowed):
    """A number of threads."""

    words = "int"

    def _checked(self, name: str, value: object) -> Any:
        from sparsemaps._tools import _threads  # here, because it imports NumPy

        _threads.resolve_n_jobs(value)
        return value


class _Engine(_allowed.Allowed):
    """The engine that runs the tasks."""

    words = "Engine"

    def _checked(self, name: str, value: object) -> Any:
        if not callable(getattr(value, "run", None)):
            rule = "None or an engine, such as sparsemaps.dask.Workers(client)"
            raise ParameterError(name, repr(value), rule)
        return value


class _TasksOf(_allowed.Allowed):
    """A share of the tasks of a stage."""

    words = "tuple (stage, i, n)"

    def _checked(self, name: str, value: object) -> tuple[str, int, int]:
        parts = tuple(value) if isinstance(value, Iterable) else ()
        if len(parts) != 3 or not isinstance(parts[0], str):
            raise ParameterError(name, repr(value), "a tuple (stage, i, n)")
        stage, i, n = parts
        n = check_int("the number of tasks", n, 1, LARGEST_INT32)
        return stage, check_int("the number of the task", i, 0, n - 1), n


@dataclass(frozen=True, kw_only=True)
class Reading(Values):
    """How to read inputs.

    Parameters
    ----------
    [options]
    """

    n_jobs: int | None = Jobs(none=True).default(
        None,
        "The number of threads; -1 uses all processors (default: 1). The output does not depend on "
        "it.",
        metavar="N",
    )
    progress: bool | None = Bool(none=True).default(
        None, "Show progress bars on standard error, by default if that is a terminal."
    )


@dataclass(frozen=True, kw_only=True)
class Run(Reading):
    """How to run a job, and which of its tasks.

    Parameters
    ----------
    [options]
    """

    resume: bool = Bool().default(
        True,
        "Reuse the results of an earlier run with the same options and inputs. They are in the "
        "folder OUTPUT.stages, which you can delete; or they are outputs in a directory, with "
        "OUTPUT.json beside each, which records the map or model, the options, and the path, size "
        "and time of the input. Results that differ are made again. False makes all results again.",
        flag="--fresh",
    )
    task: tuple[str, int, int] | None = _TasksOf(none=True).default(
        None,
        "Run only the tasks of a stage whose numbers, from 0, are i modulo n, as ``--stage`` and "
        "``--task`` of the command do. So n processes, on machines that share the folder, run all "
        "of them.",
        flag=None,
    )
    engine: "Engine | None" = _Engine(none=True).default(
        None,
        "The object that runs the tasks, such as ``sparsemaps.dask.Workers(client)``. Its workers "
        "must reach the paths of inputs and output. The output is the same. None runs the tasks in "
        "threads of this process.",
        flag=None,
    )

    def _check_together(self) -> None:
        if self.task is not None and self.engine is not None:
            raise ValueError("give task or engine, not both")
        if self.task is not None and not self.resume:
            raise ValueError("give task or resume=False, not both")


VALUES = (
    *(Texts, Svmlight, Search, PairSearch, Removal, Tables, LinearModel, Training, MappedRows),
    *(LineOptions, LabelChoice, Run),
)
"""All values that hold options, for the documentation, except those included in others."""

JOBS: dict[str, tuple[type[Values], ...]] = {
    "map_files": (MappedRows, Aside, Run),
    "similar_pairs_of_files": (PairSearch, Aside, Run),
    "deduplicate_files": (Search, Removal, Tables, Run),
    "train_files": (Training, Aside, Reading),
    "predict_files": (LineOptions, Aside, Run),
    "filter_files": (LabelChoice, Aside, Run),
}
"""The functions of jobs, with the values whose options they take as keywords."""
