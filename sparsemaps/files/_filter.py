"""`filter_files`: the records of files that have some label."""

from typing import NamedTuple, Unpack

from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._typing import Destination, Inputs, StrPath
from sparsemaps.files._job_options import (
    JOBS,
    Aside,
    GivenSource,
    LabelChoice,
    Run,
    Svmlight,
    Texts,
)
from sparsemaps.files._job_run import JobRun
from sparsemaps.files._keywords import FilterFilesKeywords
from sparsemaps.files._labels import checked_job, filter_for, sums
from sparsemaps.files._learning import Model
from sparsemaps.files._outputs import MadeOutput, OutputPlan
from sparsemaps.linear import KernelClassifier


class FilteredFile(NamedTuple):
    """The result of `filter_files`."""

    n_records: int
    n_kept: int
    n_unknown: int
    """Records without an n-gram or an entry, which have no label."""
    n_bad: int
    """Records that were set aside."""


@takes(*JOBS["filter_files"])
def filter_files(
    model: KernelClassifier,
    inputs: Inputs,
    output: Destination,
    *,
    label: object,
    source: Texts | Svmlight | None = None,
    **options: Unpack[FilterFilesKeywords],
) -> FilteredFile:
    r"""Write the records of files that have some label, byte for byte and in their order.

    The command ``sparsemaps filter`` calls this function. The inputs are read twice: once for the
    scores, and once for the records. In between, a record takes one byte of memory, and 9 with
    `fraction`. Records without an n-gram or an entry have no label and are not written. The output
    appears when it is complete.

    Parameters
    ----------
    model : KernelClassifier
        A model that is fitted.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or texts if the model has a vectorizer, of one format if they go to one
        file. Labels are not read.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); Parquet, if the inputs are; "-" is standard
        output. A directory, which is one that exists or a name that ends in a slash, gets one
        output for each input, of the input's name.
    label : object, or list of objects
        A class of the model, compared as it is: "1" is not 1. Of several classes, a record needs
        one, and the highest of their scores counts. If records may have several labels, a record
        has those with a score above 0.
    source : Texts, Svmlight or None, default=None
        As for `predict_files`.
    [options]

    Returns
    -------
    answer : FilteredFile
        The numbers of records (`n_records`), of those that are written (`n_kept`), of those that
        are unknown (`n_unknown`) and of bad ones (`n_bad`); of a `task` those of the outputs that
        it has made.

    Raises
    ------
    ValueError
        If a parameter is not allowed, the model has no such class, an input changes meanwhile, or a
        line is not of its format.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import filter_files
    >>> from sparsemaps.linear import KernelClassifier
    >>> model = KernelClassifier(MinHash(random_state=0), random_state=0)
    >>> model = model.fit([[1, 0, 1], [0, 1, 0]], ["a", "b"])
    >>> out = BytesIO()
    >>> filter_files(model, BytesIO(b"0 2:1 # kept\n0 1:1 3:1\n"), out, label="b")
    FilteredFile(n_records=2, n_kept=1, n_unknown=0, n_bad=0)
    >>> out.getvalue()
    b'0 2:1 # kept\n'
    """
    run_, aside = Run.of(options), Aside.of(options).aside
    choice = LabelChoice.of(options)
    plan = FilterPlan.of(model, inputs, output, source, label, choice, run_.n_jobs, aside)
    answer: FilteredFile = plan.run(JobRun.of(run_))
    return answer


class FilterPlan(OutputPlan):
    """Records of inputs that have some label, byte for byte."""

    @classmethod
    def of(
        cls,
        model: Model,
        inputs: Inputs,
        output: Destination,
        source: GivenSource,
        label: object,
        choice: LabelChoice,
        n_jobs: int | None,
        bad_records: StrPath | None = None,
    ) -> "FilterPlan":
        """Return the plan, after a check of all options and names."""
        keep = filter_for(model, label, choice)
        job = checked_job(model, inputs, source, n_jobs, bad_records, filter=keep)
        return cls.of_job(job, inputs, output)

    def answer(self, made: list[MadeOutput]) -> FilteredFile:
        n_records, n_kept, n_unknown, _, n_bad = sums(self.job, made)[:5]
        return FilteredFile(n_records, n_kept, n_unknown, n_bad)
