"""A map, inputs and tasks from the options of a call."""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import sparsemaps
from sparsemaps._tools._escapes import print_line
from sparsemaps.cli._options import MAPS, SAVED, Kind, load
from sparsemaps.cli._shared_options import flag
from sparsemaps.codes import PackedCodes
from sparsemaps.files._job_options import Svmlight, Texts, by_names
from sparsemaps.files._job_run import JobRun, Share
from sparsemaps.files._map import OutputPlan


def parameters_of(options: argparse.Namespace, kind: Kind) -> dict[str, Any]:
    """Return the parameters of a map or kernel that are options of this call."""
    return {
        option.name: getattr(options, option.name)
        for option in kind.options
        if hasattr(options, option.name)
    }


def make_map(options: argparse.Namespace) -> Any:
    """Return the map that the options of ``map`` describe, fitted for rows of any width."""
    if getattr(options, "config", None) is not None:
        return _saved_map(options)
    kind = MAPS[options.map_name]
    return new_map(kind, parameters_of(options, kind), getattr(options, "seed", 0)).fit_any_width()


def new_map(kind: Kind, parameters: dict[str, Any], seed: int) -> Any:
    """Return a map, or the product of two that draw as many samples."""
    if not kind.factors:
        made = load(kind.make)(**parameters, random_state=seed)
        if "dense_output" in made.get_params(deep=False):
            made.set_params(dense_output=False)  # the same numbers without the zeros
        return made
    factors = []
    for path in kind.factors:
        factor = load(path)()
        names = parameters.keys() & factor.get_params().keys()
        factors.append(factor.set_params(**{name: parameters[name] for name in names}))
    factors[1].set_size(factors[0].size)
    return load(kind.make)(maps=tuple(factors), random_state=seed)


def _saved_map(options: argparse.Namespace) -> Any:
    """Return the map of --config, which no other option describes."""
    if options.map_name != SAVED:
        kind = MAPS[options.map_name]
        names = [*sorted(parameters_of(options, kind)), "seed"]
        others = [name for name in names if hasattr(options, name)]
        if others:
            raise ValueError(f"{flag(others[0])} is in the file of --config; leave out the option")
    with open(options.config, "rb") as file:
        text = file.read()
    try:
        try:
            config = json.loads(text)
        except RecursionError:
            raise ValueError("the lists of the file are nested too deeply") from None
        except ValueError as error:  # one of json.JSONDecodeError and UnicodeDecodeError
            raise ValueError(f"it is no JSON: {error}") from error
        saved = sparsemaps.from_config(config)
        if options.map_name != SAVED and type(saved) is not load(kind.make):
            raise ValueError(f"the map is {type(saved).__name__}, not that of {options.map_name}")
    except ValueError as error:
        raise ValueError(f"{options.config}: {error}") from error
    return saved


_OF_TEXTS = (
    "field", "label_field", "id_field", "text_format", "token_pattern", "normalize", "min_length",
    "max_length", "max_df", "min_own", "frequencies",
)  # fmt: skip
"""Options for texts. Those of `Texts` have these names, without "text_" of the format."""


def source_of(
    options: argparse.Namespace, of_rows: str = "is for texts; give --texts"
) -> Texts | Svmlight | None:
    """Return the kind of the inputs, by --texts and the options for texts; None where nothing says
    so. `of_rows` is said of an option for texts where there are none."""
    texts = getattr(options, "texts", None)
    if texts is not None and options.zero_based:
        raise ValueError("--zero-based is for LIBSVM files, not for texts")
    if texts is not None:
        return texts_of(options, texts)
    given = _of_texts(options)
    if given:
        raise ValueError(f"{flag(next(iter(given)))} {of_rows}")
    return svmlight_of(options)


def svmlight_of(options: argparse.Namespace) -> Svmlight | None:
    """LIBSVM files as the options describe them; None if no option does."""
    source = Svmlight(zero_based=options.zero_based, max_line_bytes=options.max_line_bytes)
    return None if source == Svmlight() else source


def texts_of(options: argparse.Namespace, analyzer: str = Texts.analyzer) -> Texts:
    given = {name.removeprefix("text_"): value for name, value in _of_texts(options).items()}
    return Texts(analyzer, max_line_bytes=options.max_line_bytes, **given)


def _of_texts(options: argparse.Namespace) -> dict[str, Any]:
    given = {option: getattr(options, option, None) for option in _OF_TEXTS}
    return {option: value for option, value in given.items() if value is not None}


def source_by_names(options: argparse.Namespace, paths: list[Any]) -> Texts | Svmlight:
    """Return the kind of the inputs; texts by their names, without --texts."""
    if options.texts is None and (
        options.text_format is not None or isinstance(by_names(None, paths), Texts)
    ):
        options.texts = Texts.analyzer
    return source_of(options) or Svmlight()


def share_of(options: argparse.Namespace) -> Share | None:
    if (options.stage is None) != (options.task is None):
        raise ValueError("--stage and --task go together")
    if options.stage is None:
        return None
    if _is_on_dask(options) or options.tasks or not options.resume:
        raise ValueError("--task is not for --dask, --tasks or --fresh")
    return Share(options.stage, *options.task)


def run_plan(options: argparse.Namespace, module: Any, plan: Any) -> Any:
    """Run a plan by the `run` of its module, or some of its tasks, or print its stages by
    `listing`; the answer if all tasks were run."""
    share = share_of(options)
    if options.tasks:
        for name, n, about in module.listing(plan):
            print_line(f"{name:11}{n:5}  {about}")
        sys.stdout.flush()  # here, as main reports its errors
        return None
    if _is_on_dask(options) and not plan.is_shared:
        raise ValueError("on a cluster, inputs and outputs are files")
    with engine_of(options) as engine:
        answer = module.run(plan, JobRun(options.progress, options.resume, engine, share))
    return answer if share is None else None


def run_outputs(options: argparse.Namespace, module: Any, plan: OutputPlan) -> Any:
    """As `run_plan`, of a plan with one output, or with one for each input."""
    if _is_on_dask(options) and not plan.is_shared:
        raise ValueError("--dask needs an output directory, whose name ends in a slash")
    return run_plan(options, module, plan)


def engine_of(options: argparse.Namespace) -> Any:
    """Connect with the workers of --dask or --scheduler, as a context; None for threads."""
    if not _is_on_dask(options):
        return contextlib.nullcontext()
    from sparsemaps.dask._engine import connect

    return connect(options.scheduler or "", options.n_jobs)


def _is_on_dask(options: argparse.Namespace) -> bool:
    return options.dask or options.scheduler is not None


def refuse_other_options(options: argparse.Namespace, path: str) -> None:
    """Raise an error if options describe another map than that of a file of codes."""
    kind, config = MAPS[options.map_name], PackedCodes.load(path).config
    parts = list(_maps_of(config))
    made = [part["class"] for part in parts]
    wanted = [factor.partition(":")[2] for factor in (kind.make, *kind.factors)]
    if made != wanted and not options.has_no_map:
        raise ValueError(f"{path} has codes of {' and '.join(made)}, not of {options.map_name}")
    known = {name: value for part in parts for name, value in part["parameters"].items()}
    known["seed"] = config.get("seed")
    parameters = parameters_of(options, kind)
    if hasattr(options, "seed"):
        parameters["seed"] = options.seed
    for name, value in parameters.items():
        if known.get(name) != value:
            raise ValueError(
                f"{path} has codes with {flag(name)} {known.get(name)}, not {value}; its map is "
                "that of all inputs"
            )


def _maps_of(config: Any) -> Iterator[dict[str, Any]]:
    """Yield the map of a configuration, and the maps that it is made of."""
    if isinstance(config, list):
        for item in config:
            yield from _maps_of(item)
    elif isinstance(config, dict) and isinstance(config.get("parameters"), dict):
        yield {"class": str(config.get("class")), "parameters": config["parameters"]}
        yield from _maps_of(config["parameters"].get("maps"))
