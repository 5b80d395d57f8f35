"""The subcommands of ``sparsemaps``, one function for each."""

import argparse
import contextlib
import importlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import sparsemaps
from sparsemaps import files, kernels
from sparsemaps._tools import _output_files
from sparsemaps._tools._sources import expand
from sparsemaps.cli._options import KERNELS, MAPS, SAVED, Kind
from sparsemaps.cli._parser import flag
from sparsemaps.codes import PackedCodes
from sparsemaps.codes._code_checks import TEXTS
from sparsemaps.files import _dedup, _kernel_matrix, _labels, _pairs, _summary
from sparsemaps.files import _map as _files_of_map
from sparsemaps.files._coded_records import holds_codes
from sparsemaps.files._dedup_plan import Outputs
from sparsemaps.files._dedup_plan import make_plan as make_dedup_plan
from sparsemaps.files._job import Job, Names, make_job, make_text_job, vectorizer_for
from sparsemaps.files._job_options import (
    Rule,
    Search,
    Svmlight,
    Texts,
    by_names,
    rows_unless_said,
)
from sparsemaps.files._tasks import Share, described


def _load(path: str) -> Callable[..., Any]:
    """The function or class that ``module:name`` names."""
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _parameters(options: argparse.Namespace, kind: Kind) -> dict[str, Any]:
    """The parameters of a map or kernel that are options of this call."""
    return {
        option.name: getattr(options, option.name)
        for option in kind.options
        if hasattr(options, option.name)
    }


def make_map(options: argparse.Namespace) -> Any:
    """The map that the options of ``map`` describe, fitted for rows of any width."""
    if getattr(options, "config", None) is not None:
        return _saved_map(options)
    kind = MAPS[options.map_name]
    return new_map(kind, _parameters(options, kind), getattr(options, "seed", 0)).fit_any_width()


def new_map(kind: Kind, parameters: dict[str, Any], seed: int) -> Any:
    """A map, or the product of two that draw as many samples."""
    if not kind.factors:
        made = _load(kind.make)(**parameters, random_state=seed)
        if "dense_output" in made.get_params(deep=False):
            made.set_params(dense_output=False)  # the same numbers without the zeros
        return made
    factors = []
    for path in kind.factors:
        factor = _load(path)()
        names = parameters.keys() & factor.get_params().keys()
        factors.append(factor.set_params(**{name: parameters[name] for name in names}))
    factors[1].set_size(factors[0].size)
    return _load(kind.make)(maps=tuple(factors), random_state=seed)


def _saved_map(options: argparse.Namespace) -> Any:
    """The map of --config, which no other option describes."""
    if options.map_name != SAVED:
        kind = MAPS[options.map_name]
        others = sorted(_parameters(options, kind))
        if others:
            raise ValueError(f"{others[0]} is in the file of --config; leave out the option")
    with open(options.config, "rb") as file:
        text = file.read()
    try:
        try:
            config = json.loads(text)
        except RecursionError:
            raise ValueError("the lists of the file are nested too deeply") from None
        saved = sparsemaps.from_config(config)
        if options.map_name != SAVED and type(saved) is not _load(kind.make):
            raise ValueError(f"the map is {type(saved).__name__}, not that of {options.map_name}")
    except ValueError as error:
        raise ValueError(f"{options.config}: {error}") from error
    return saved


def demo(options: argparse.Namespace) -> None:
    """``sparsemaps demo``."""
    from sparsemaps.cli import _demo

    _demo.run(options.output, options.plot)


def map(options: argparse.Namespace) -> None:
    """``sparsemaps map``."""
    made = make_map(options)
    _check_names(options)
    if options.save_config is not None:
        with _output_files.atomic_output(options.save_config) as out:
            out.write(json.dumps(made.to_config(), indent=1).encode() + b"\n")
    what = {name: getattr(options, name) for name in ("ones", "format", "comments", "n_jobs")}
    header = options.command if options.header else False
    paths = [] if options.dask is not None else expand(options.inputs)  # else they may be URLs
    source = rows_unless_said(_source(options), paths)
    _map_inputs(options, make_job(made, source, header=header, **what))


def _map_inputs(options: argparse.Namespace, job: Job) -> None:
    """Map inputs to an output, or to one each, here or on a cluster."""
    inputs, output = options.inputs, options.output
    share = _share(options)
    if options.dask is not None:
        _run_on_dask(options, job)
    elif options.tasks:
        _print_stages(_files_of_map.listing(job, inputs, output))
    else:
        _tell_of_nothing(
            _files_of_map.run(job, inputs, output, options.resume, share, options.progress)
        )


def _share(options: argparse.Namespace) -> Share | None:
    """--stage and --task."""
    if (options.stage is None) != (options.task is None):
        raise ValueError("--stage and --task go together")
    if options.stage is None:
        return None
    if options.dask is not None or options.tasks or not options.resume:
        raise ValueError("--task is not for --dask, --tasks or --fresh")
    return Share(options.stage, *options.task)


def _print_stages(stages: Iterable[tuple[str, int, str]]) -> None:
    sys.stdout.write(described(stages))
    sys.stdout.flush()  # here, as main reports its errors


def _tell_of_nothing(mapped: list[files.MappedFile]) -> None:
    for file in mapped:
        if not file.n_rows and not file.skipped:
            name = "standard input" if file.input == "-" else file.input
            print(f"sparsemaps: {name}: there are no rows", file=sys.stderr)


_OF_TEXTS = {
    "field": "field", "label_field": "label_field", "id_field": "id_field",
    "text_format": "format", "token_pattern": "token_pattern", "normalize": "normalize",
    "min_length": "min_length",
    "max_length": "max_length",
}  # fmt: skip
"""Options for texts, and the parameters of `Texts` that they are."""


def _source(
    options: argparse.Namespace, of_rows: str = "is for texts; give --texts"
) -> Texts | Svmlight | None:
    """What the inputs are, by --texts and the options for texts; None where nothing says so.
    `of_rows` is said of an option for texts where there are none."""
    texts = getattr(options, "texts", None)
    if texts is None:
        for name in _OF_TEXTS:
            if getattr(options, name, None) is not None:
                raise ValueError(f"{flag(name)} {of_rows}")
        return _rows(options)
    if options.zero_based:
        raise ValueError("--zero-based is for LIBSVM files, not for texts")
    return _texts(options, texts)


def _rows(options: argparse.Namespace) -> Svmlight | None:
    """LIBSVM files, where an option says more of them."""
    source = Svmlight(zero_based=options.zero_based, max_line_bytes=options.max_line_bytes)
    return None if source == Svmlight() else source


def _texts(options: argparse.Namespace, analyzer: str = Texts.analyzer) -> Texts:
    given: dict[str, Any] = {}
    for option, name in _OF_TEXTS.items():
        if getattr(options, option, None) is not None:
            given[name] = getattr(options, option)
    return Texts(analyzer, max_line_bytes=options.max_line_bytes, **given)


def _source_by_names(options: argparse.Namespace) -> Texts | Svmlight:
    """What the inputs are; texts by their names, without --texts."""
    is_texts = options.texts is not None or options.text_format is not None
    if not is_texts:
        is_texts = isinstance(by_names(None, expand(options.inputs)), Texts)
    if is_texts and options.texts is None:
        options.texts = Texts.analyzer
    return _source(options) or Svmlight()


def text(options: argparse.Namespace) -> None:
    """``sparsemaps text``."""
    from sparsemaps.text import ByteNgrams, HashingVectorizer

    parameters = {"ngram_range": options.ngram_range, "n_features": options.n_features}
    parameters |= {"token_pattern": options.token_pattern}
    parameters = {name: value for name, value in parameters.items() if value is not None}
    if options.analyzer != "word" and options.token_pattern is not None:
        raise ValueError("--token-pattern is for --analyzer word")
    make: Callable[..., Any] = partial(HashingVectorizer, analyzer=options.analyzer)
    if options.analyzer == "byte":
        make = ByteNgrams
        if options.n_features is not None:
            raise ValueError("--n-features is not for --analyzer byte, whose columns are exact")
    vectorizer = make(binary=options.binary, **parameters)
    if parameters:
        vectorizer.fit(["any"])  # raises for bad ones
    options.token_pattern = None  # which the vectorizer has
    _map_inputs(options, make_text_job(vectorizer, _texts(options), options.n_jobs))


def _check_names(options: argparse.Namespace) -> None:
    """Raise an error if the files of --config and --save-config are inputs or outputs."""
    if options.dask is None:
        paths = expand(options.inputs)
        texts_and_labels = options.texts is not None, options.label_field is not None
        names = Names(options.format, *texts_and_labels)
        written = _files_of_map.written(paths, options.output, names)
    else:  # they may be URLs
        paths, written = options.inputs, []
    read = [*paths, *([] if options.config is None else [options.config])]
    if options.save_config is not None:
        written.append((options.save_config, "the file of --save-config"))
    _output_files.refuse_clashes(read, written)


def _run_on_dask(options: argparse.Namespace, job: Job) -> None:
    if not options.output.endswith("/"):
        raise ValueError("--dask needs an output directory, whose name ends in a slash")
    if getattr(options, "header", False) or options.tasks:
        raise ValueError("--dask cannot be used with --header or --tasks")
    job = job._replace(n_jobs=None)
    how = {"resume": options.resume, "progress": options.progress}
    scheduler, n_jobs = options.dask, options.n_jobs
    _dask_command().run(job, options.inputs, options.output, scheduler, n_jobs, how)


def _engine(options: argparse.Namespace) -> Any:
    """What runs the tasks of a job: None for threads, or workers of Dask."""
    if options.dask is None:
        return contextlib.nullcontext()
    return _dask_command().engine(options.dask, options.n_jobs)


def _dask_command() -> Any:
    """What does jobs on a cluster."""
    try:
        from sparsemaps.dask import _command
    except ImportError as error:
        raise ValueError(str(error)) from error
    return _command


def kernel(options: argparse.Namespace) -> None:
    """``sparsemaps kernel``."""
    kind = KERNELS[options.kernel_name]
    n_rows = _kernel_matrix.write_kernel_file(
        partial(_load(kind.make), **_parameters(options, kind)),
        options.train,
        options.test,
        options.output,
        source=_rows(options) or Svmlight(),
        n_jobs=options.n_jobs,
        progress=options.progress,
    )
    if not n_rows:
        print(f"sparsemaps: {options.test or options.train}: there are no rows", file=sys.stderr)


def pairs(options: argparse.Namespace) -> None:
    """``sparsemaps pairs``."""
    read = expand([*options.inputs, *(options.other or [])])
    coded = [path for path in read if holds_codes(path)]
    if coded:
        _refuse_other_options(options, coded[0])
    similarity = "containment" if getattr(options, "containment", False) else "jaccard"
    plan = _pairs.make_plan(
        None if coded else make_map(options),
        options.inputs,
        options.output,
        options.other,
        _source(options),
        _search(options, similarity, options.max_bytes),
        options.n_jobs,
    )
    answer = _run_plan(options, _pairs, plan)
    if answer is None:
        return
    sides = (options.inputs, answer.n_rows), (options.other, answer.n_other)
    for inputs, n_rows in sides:
        if inputs and not n_rows:
            print(f"sparsemaps: {', '.join(inputs)}: there are no rows", file=sys.stderr)


def _search(options: argparse.Namespace, *others: Any) -> Search:
    return Search(options.threshold, options.recall, options.exact, *others)


def _run_plan(options: argparse.Namespace, job: Any, plan: Any) -> Any:
    """Run a plan of ``pairs`` or ``dedup``, or some of its tasks, or print its stages."""
    share = _share(options)
    if share is not None:
        job.run_part(plan, share, options.progress)
    elif options.tasks:
        _print_stages(job.listing(plan))
    else:
        if options.dask is not None:
            plan = _dask_command().reachable(plan)
        with _engine(options) as engine:
            return job.run(plan, options.progress, options.resume, engine)
    return None


def _refuse_other_options(options: argparse.Namespace, path: str) -> None:
    """Raise an error if options describe another map than that of a file of codes."""
    kind, config = MAPS[options.map_name], PackedCodes.load(path).config
    parts = list(_maps_of(config))
    made = [part["class"] for part in parts]
    wanted = [factor.partition(":")[2] for factor in (kind.make, *kind.factors)]
    if made != wanted and not options.has_no_map:
        raise ValueError(f"{path} has codes of {' and '.join(made)}, not of {options.map_name}")
    known = {name: value for part in parts for name, value in part["parameters"].items()}
    known["seed"] = config.get("seed")
    parameters = _parameters(options, kind)
    if hasattr(options, "seed"):
        parameters["seed"] = options.seed
    for name, value in parameters.items():
        if known.get(name) != value:
            raise ValueError(
                f"{path} has codes with {flag(name)} {known.get(name)}, not {value}; its map is "
                "that of all inputs"
            )


def _maps_of(config: Any) -> Iterator[dict[str, Any]]:
    """The map of a configuration, and the maps that it is made of."""
    if isinstance(config, list):
        for item in config:
            yield from _maps_of(item)
    elif isinstance(config, dict) and isinstance(config.get("parameters"), dict):
        yield {"class": str(config.get("class")), "parameters": config["parameters"]}
        yield from _maps_of(config["parameters"].get("maps"))


def dedup(options: argparse.Namespace) -> None:
    """``sparsemaps dedup``."""
    outputs = Outputs(
        options.output,
        options.removed,
        options.report,
        options.clusters,
        options.bad_records,
        options.dry_run,
    )
    rule = Rule(options.rule, options.keep, options.against)
    source, search = (
        _source_by_names(options),
        _search(options, getattr(options, "similarity", "jaccard")),
    )
    plan = make_dedup_plan(
        make_map(options), options.inputs, outputs, source, search, rule, options.n_jobs
    )
    result = _run_plan(options, _dedup, plan)
    if result is None:
        return
    said = result.named_counts()
    figures = ", ".join(f"{n} {words}" for words, n in said.items() if n or words in _ALWAYS)
    print(
        f"{figures}; {result.n_clusters} clusters of several, largest {result.largest}",
        file=sys.stderr,
    )


_ALWAYS = "records", "kept"
"""Numbers that are printed even if they are 0."""


def train(options: argparse.Namespace) -> None:
    """``sparsemaps train``."""
    from sparsemaps.files import _learning
    from sparsemaps.linear import KernelClassifier, KernelRegressor

    coded = [path for path in expand(options.inputs) if holds_codes(path)]
    if coded:
        _refuse_other_options(options, coded[0])
    fitted = sparsemaps.from_config(_config_of_codes(coded[0])) if coded else make_map(options)
    parameters = {name: getattr(options, name) for name in ("loss", "C", "tol", "max_iter")}
    parameters |= {"random_state": options.seed, "n_jobs": options.n_jobs}
    parameters["vectorizer"] = _vectorizer(options, fitted)
    model: Any
    if options.loss.endswith("epsilon_insensitive"):
        model = KernelRegressor(fitted, epsilon=options.epsilon, **parameters)
    else:
        class_weight = "balanced" if options.balanced else None
        model = KernelClassifier(fitted, class_weight=class_weight, **parameters)
    how = {"source": _source(options), "n_jobs": options.n_jobs, "progress": options.progress}
    trained = files.train_files(model, options.inputs, options.output, **how)
    print(f"{trained.n_records} records, {trained.model.n_iter_} passes", file=sys.stderr)
    if options.validation is not None:
        rows = _learning.read_labelled(
            trained.model.map_, options.validation, vectorizer=parameters["vectorizer"], **how
        )
        for line in _learning.validation(trained.model, rows):
            print(line)
        sys.stdout.flush()  # here, as main reports its errors


def _config_of_codes(path: Any) -> dict[str, Any]:
    """The config of the map of a file of codes."""
    return {key: value for key, value in PackedCodes.load(path).config.items() if key != TEXTS}


def _vectorizer(options: argparse.Namespace, fitted: Any) -> Any:
    """The vectorizer of --texts, with the rows that other commands make of texts for this map."""
    if options.texts is None:
        return None
    return vectorizer_for(fitted, _texts(options, options.texts))


def _load_model(path: str) -> Any:
    """The model of a file, of either class."""
    from sparsemaps.linear import KernelClassifier, KernelRegressor

    try:
        return KernelClassifier.load(path)
    except ValueError as error:
        if "holds a KernelRegressor" not in str(error):
            raise
    return KernelRegressor.load(path)


def predict(options: argparse.Namespace) -> None:
    """``sparsemaps predict``."""
    model = _load_model(options.model)
    plan = _labels.predict_plan(
        model, options.inputs, options.output, explain=options.explain, **_how(options, model)
    )
    answer = _run_labels(options, plan)
    if answer is not None and not answer.n_records:
        print(f"sparsemaps: {', '.join(options.inputs)}: there are no records", file=sys.stderr)


def filter(options: argparse.Namespace) -> None:
    """``sparsemaps filter``."""
    model = _load_model(options.model)
    what = {"label": options.label, "min_score": options.min_score, **_how(options, model)}
    plan = _labels.filter_plan(model, options.inputs, options.output, **what)
    answer = _run_labels(options, plan)
    if answer is not None:
        print(f"{answer.n_records} records, {answer.n_kept} kept", file=sys.stderr)


def _run_labels(options: argparse.Namespace, plan: _labels.Plan) -> Any:
    if options.dask is not None and not plan.is_shared:
        raise ValueError("--dask needs an output directory, whose name ends in a slash")
    return _run_plan(options, _labels, plan)


def _how(options: argparse.Namespace, model: Any) -> dict[str, Any]:
    """How records are read for a model."""
    if getattr(model, "vectorizer_", None) is not None:
        options.texts = Texts.analyzer  # whose place the vectorizer takes
    source = _source(options, "is for models of texts")
    return {"source": source, "n_jobs": options.n_jobs}


def info(options: argparse.Namespace) -> None:
    """``sparsemaps info``."""
    lines = _summary.summarize(options.input, n_jobs=options.n_jobs, progress=options.progress)
    for line in lines:
        print(line)
    sys.stdout.flush()  # here, as main reports its errors


# ---- kernels that combine several of the library's -----------------------------------------------


def minmax_times_acos(X: Any, Y: Any = None) -> Any:
    """Min-max times acos kernel."""
    return kernels.min_max_kernel(X, Y) * kernels.acos_kernel(X, Y)


def minmax_times_acos_chi2(X: Any, Y: Any = None) -> Any:
    """Min-max times acos-chi-square kernel."""
    return kernels.min_max_kernel(X, Y) * kernels.acos_chi2_kernel(X, Y)
