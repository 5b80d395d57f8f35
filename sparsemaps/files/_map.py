"""`map_files`: mapping of the rows of files."""

from typing import Unpack

from sparsemaps._io import _sources
from sparsemaps._tools._checks import check_bool
from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._typing import Destination, Inputs
from sparsemaps.files._job import Job, MappedFile
from sparsemaps.files._job_options import JOBS, Aside, MappedRows, Run, Svmlight, Texts
from sparsemaps.files._keywords import MapFilesKeywords
from sparsemaps.files._kinds_of_inputs import rows_unless_said
from sparsemaps.files._outputs import OutputPlan
from sparsemaps.maps._sparse_map import SparseMap


@takes(*JOBS["map_files"])
def map_files(
    map: SparseMap,
    inputs: Inputs,
    output: Destination,
    *,
    source: Texts | Svmlight | str | None = None,
    zero_based: bool = False,
    **options: Unpack[MapFilesKeywords],
) -> list[MappedFile]:
    r"""Map the rows of LIBSVM files, in bounded memory.

    The command ``sparsemaps map`` calls this function. Rows are read, mapped and written block by
    block. The labels of a row and its ``qid:`` are copied to the output. A file appears only when
    it is complete.

    Parameters
    ----------
    map : map of sparsemaps
        A fitted map is used unchanged. Other maps are copied and fitted for rows of any width; set
        `random_state`, so that other files are mapped in the same way.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files (.gz, .bz2, .xz, .zst); "-" is standard input. A directory is read as its files
        in the order of their names, without hidden files and those that this function writes next
        to its outputs. A pattern with ``*``, ``?`` or ``[`` is read as the matching files.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst for format "svmlight"); "-" is standard output. An
        existing directory, or a name that ends in a slash, gets one output per input. It is
        named after the input, without an ending of compression, and with ".npy" in that format or
        ".svm" for texts.
    source : Texts, Svmlight, str or None, default=None
        Kind of the inputs. A string is the analyzer of raw texts: "auto:5" is ``Texts("auto:5")``.
        None is ``Svmlight()``. For texts, ids are written as comments in format "svmlight", and to
        OUTPUT.ids.txt in other formats, one per line, with a tab as ``\t``, a line end as ``\n``
        and a doubled backslash. Labels that are strings are numbered, and OUTPUT.classes.tsv has
        the numbers and the labels; the inputs are then read twice, and pipes are stored in a
        temporary file.
    zero_based : bool, default=False
        Short for ``source=Svmlight(zero_based=True)``: the indices of the inputs count from 0.
        Written indices count from 1.
    [options]

    Returns
    -------
    files : list of MappedFile
        For each input: `input`, `output`, `n_rows`, whether the output already existed (`skipped`),
        and the numbers of rows without an n-gram or entry (`n_empty`) and of bad records (`n_bad`).
        Empty with a `task`.

    Raises
    ------
    ValueError
        If a parameter is not allowed, an output is an input, or two inputs have the same output. If
        a line does not have the format, or the map does not support its row; the error names file,
        line and reason. Complete outputs remain.
    OSError
        If a file cannot be read or written.

    See Also
    --------
    sparsemaps.libsvm.iter_svmlight_file : Blocks of the rows of a file.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.files import map_files
    >>> cws = ConsistentWeightedSampling(n_hashes=3, bits=2, random_state=0)
    >>> file = BytesIO()
    >>> mapped = map_files(cws, BytesIO(b"1 1:0.5 3:2\n-1 2:7\n"), file, ones=True)
    >>> mapped[0].n_rows
    2
    >>> file.getvalue()
    b'1 1:1 8:1 12:1\n-1 4:1 5:1 11:1\n'
    """
    if check_bool("zero_based", zero_based):
        if source is not None:
            raise ValueError(f"{setting('zero_based', True)} is for LIBSVM files without a source")
        source = Svmlight(zero_based=True)
    paths = _sources.expand(inputs)
    run_, written = Run.of(options), MappedRows.of(options)
    kind, aside = rows_unless_said(source, paths), Aside.of(options).aside
    made = OutputPlan.of(Job.of_map(map, kind, written, aside), paths, output).run(run_)
    return [] if run_.task is not None else made
