"""`predict_files`: the label and the scores of each record of files."""

from typing import Any, NamedTuple, Unpack

import numpy as np

from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._typing import Destination, Inputs, StrPath
from sparsemaps.files._job_options import (
    JOBS,
    Aside,
    GivenSource,
    LineOptions,
    Run,
    Svmlight,
    Texts,
)
from sparsemaps.files._job_run import JobRun
from sparsemaps.files._keywords import PredictFilesKeywords
from sparsemaps.files._label_lines import check_for
from sparsemaps.files._labels import checked_job, sums
from sparsemaps.files._learning import Model
from sparsemaps.files._outputs import MadeOutput, OutputPlan


class LabelledFile(NamedTuple):
    """The result of `predict_files`."""

    n_records: int
    n_unknown: int
    """Records without a label: those of `n_empty`, and those below `min_score` or `min_proba`."""
    n_empty: int
    """Records without an n-gram or an entry."""
    n_bad: int
    """Records that were set aside."""
    labels: dict[Any, int]
    """The number of records of each label, the most frequent label first."""


@takes(*JOBS["predict_files"])
def predict_files(
    model: Model,
    inputs: Inputs,
    output: Destination,
    *,
    source: Texts | Svmlight | None = None,
    **options: Unpack[PredictFilesKeywords],
) -> LabelledFile:
    r"""Write the label and the scores of each record of files.

    The command ``sparsemaps predict`` calls this function. The output is a table with a header,
    whose columns are separated by tabs: "record", the number of a record, from 1 through all
    inputs, or "id"; "label"; and the score of each class, under its name. Of two classes, the score
    of the first is that of the second times -1. A regressor has one column, "value". A record
    without an n-gram, or a row without an entry, is unknown, and has no label or value. The output
    appears when it is complete.

    If records may have several labels, the column is "labels": those with a score above 0, the best
    first, with commas between them and a backslash before a comma of a label. A record that gets no
    label is unknown. In .jsonl, "labels" is a list.

    An output whose name ends in .jsonl or .ndjson has an object for each record instead: "record"
    or "id", "label" and "scores" (or "probas"), an object of numbers; with `top`, "labels" and
    "scores" are lists; with `explain`, "explain" is a list of pairs. The label of an unknown record
    is null unless `unknown` is given.

    Parameters
    ----------
    model : KernelClassifier or KernelRegressor
        A model that is fitted.
    inputs : str, path-like, file-like, or a sequence of these
        As for `train_files`; labels are not read. They are read once, a block at a time.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); "-" is standard output. A directory, which is one
        that exists or a name that ends in a slash, gets one output for each input, of the input's
        name without its ending of compression and with ".tsv", which is a table; records then count
        from 1 in each.
    source : Texts, Svmlight or None, default=None
        What the inputs are; of texts, the model's vectorizer is the analyzer.
    [options]

    Returns
    -------
    answer : LabelledFile
        The numbers of records (`n_records`), of those that are unknown (`n_unknown`) or have no
        n-gram or entry (`n_empty`), of bad ones (`n_bad`), and of those of each label (`labels`);
        of a `task` those of the outputs that it has made.

    Raises
    ------
    ValueError
        If a parameter is not allowed, codes are of another map, or a line is not of its format.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import predict_files
    >>> from sparsemaps.linear import KernelClassifier
    >>> model = KernelClassifier(MinHash(random_state=0), random_state=0)
    >>> model = model.fit([[1, 0, 1], [0, 1, 0]], ["a", "b"])
    >>> out = BytesIO()
    >>> predict_files(model, BytesIO(b"0 2:1\n0 1:1 3:1\n"), out).n_records
    2
    >>> [line.split(b"\t")[:2] for line in out.getvalue().splitlines()]
    [[b'record', b'label'], [b'1', b'b'], [b'2', b'a']]
    """
    lines, run_, aside = LineOptions.of(options), Run.of(options), Aside.of(options).aside
    plan = PredictPlan.of(model, inputs, output, source, lines, run_.n_jobs, aside)
    answer: LabelledFile = plan.run(JobRun.of(run_))
    return answer


class PredictPlan(OutputPlan):
    """Lines about the records of inputs, with their labels."""

    @classmethod
    def of(
        cls,
        model: Model,
        inputs: Inputs,
        output: Destination,
        source: GivenSource,
        lines: LineOptions,
        n_jobs: int | None,
        bad_records: StrPath | None = None,
    ) -> "PredictPlan":
        """Return the plan, after a check of all options and names."""
        job = checked_job(model, inputs, source, n_jobs, bad_records, lines)
        check_for(model, lines)
        return cls.of_job(job, inputs, output)

    def answer(self, made: list[MadeOutput]) -> LabelledFile:
        numbers = sums(self.job, made)
        n_records, _, n_unknown, n_empty, n_bad = numbers[:5]
        classes = getattr(self.job.model, "classes_", np.empty(0)).tolist()
        pairs = sorted(zip(classes, numbers[5:], strict=True), key=lambda pair: -pair[1])
        return LabelledFile(n_records, n_unknown, n_empty, n_bad, {one: n for one, n in pairs if n})
