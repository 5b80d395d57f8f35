"""Maps, inputs and tasks from the options of a call."""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from typing import Any, TypeVar

import sparsemaps
from sparsemaps._tools._escapes import print_line
from sparsemaps._tools._option_fields import Values, options_of
from sparsemaps._tools._parameters import named_class, setting, shown
from sparsemaps.cli._options import MAPS, SAVED, Kind, flag, load
from sparsemaps.codes import PackedCodes
from sparsemaps.files._job_options import Run, Svmlight, Texts
from sparsemaps.files._kinds_of_inputs import are_texts
from sparsemaps.files._plan import Plan
from sparsemaps.records._table import cannot_be_rows


def parameters_of(options: argparse.Namespace, kind: Kind) -> dict[str, Any]:
    """Return the parameters of a map or kernel that this call sets."""
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
    """Return a map, or the product of two maps with the same number of samples."""
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
    """Return the map of --config. No other option may describe the map."""
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
        except ValueError as error:  # includes json.JSONDecodeError and UnicodeDecodeError
            raise ValueError(f"it is not JSON: {error}") from error
        saved = sparsemaps.from_config(config)
        if options.map_name != SAVED and type(saved) is not load(kind.make):
            raise ValueError(f"it has the map {named_class(saved)}, not {options.map_name}")
    except ValueError as error:
        raise ValueError(f"{options.config}: {error}") from error
    return saved


V = TypeVar("V", bound=Values)


def value_of(options: argparse.Namespace, cls: type[V], **others: Any) -> V:
    """Return a `cls` from the options that the call sets, and from `others`."""
    given = {
        option.name: getattr(options, option.dest, None)
        for option in options_of(cls)
        if option.flag is not None
    }
    return cls(**{name: value for name, value in given.items() if value is not None} | others)


def source_of(
    options: argparse.Namespace,
    analyzer: str | None = None,
    of_rows: str = "is for texts; give --texts",
) -> Texts | Svmlight | None:
    """Return the kind of the inputs, by --texts and the options for texts. Without --texts, return
    texts with `analyzer` unless it is None. Return None if nothing determines the kind. `of_rows`
    ends the error about an option for texts if the inputs are not texts."""
    said = getattr(options, "texts", None)
    analyzer = analyzer if said is None else said
    if analyzer is not None:
        if options.zero_based:
            raise ValueError("--zero-based is for LIBSVM files, not for texts")
        return value_of(options, Texts, analyzer=analyzer)
    for option in options_of(Texts):
        given = getattr(options, option.dest, None) is not None
        if given and option.flag and not hasattr(Svmlight, option.name):
            raise ValueError(f"{option.flag} {of_rows}")
    return svmlight_of(options)


def svmlight_of(options: argparse.Namespace) -> Svmlight | None:
    """Return LIBSVM files as the options describe them; None if no option does."""
    source = value_of(options, Svmlight)
    return None if source == Svmlight() else source


def source_by_names(options: argparse.Namespace, paths: list[Any]) -> Texts | Svmlight:
    """Return the kind of the inputs. Without --texts, they are texts if their names say so."""
    by_option = options.texts is not None or options.text_format is not None
    analyzer = Texts.analyzer if by_option or are_texts(paths) else None
    return source_of(options, analyzer) or Svmlight()


TO_LEARN, TO_WEIGH = "char:3", "auto:1"
"""Default analyzers of texts for learning: without weights, and with --idf."""


def source_to_learn(options: argparse.Namespace, paths: list[Any]) -> Texts | Svmlight | None:
    """Return the kind of the inputs of a learner. Without --texts, they are texts if their names
    say so, except .txt, whose lines have no labels."""
    texts, analyzer = [path for path in paths if cannot_be_rows(path)], None
    if options.texts is None and (options.text_format is not None or texts):
        if options.text_format is None:
            are_texts(paths)  # raises for inputs of both kinds
        analyzer = TO_LEARN if getattr(options, "idf", None) is None else TO_WEIGH
    return source_of(options, analyzer)


def _task_of(options: argparse.Namespace) -> tuple[str, int, int] | None:
    """Return the stage and tasks of --stage and --task; None without them."""
    if (options.stage is None) != (options.task is None):
        raise ValueError("--stage and --task must be given together")
    if options.stage is None:
        return None
    if options.dask or options.tasks or options.fresh is not None:
        raise ValueError("--task cannot be combined with --dask, --tasks or --fresh")
    return options.stage, *options.task


def run_plan(options: argparse.Namespace, plan: Plan) -> Any:
    """Run a plan or some of its tasks, or print its stages. Return the answer if all tasks ran."""
    task = _task_of(options)
    if options.tasks:
        listing = plan.listing()
        lines = [f"{name:11}{n:5}  {about}" for name, n, about in listing]
        if options.json:
            stages = [{"stage": name, "tasks": n, "about": about} for name, n, about in listing]
            lines = [json.dumps({"stages": stages})]
        for line in lines:
            print_line(line)
        sys.stdout.flush()  # here, because main reports its errors
        return None
    engine: Any = contextlib.nullcontext()
    if options.dask:
        if not plan.can_be_shared:
            raise ValueError("on a cluster, inputs and outputs must be files")
        from sparsemaps.dask._engine import connect

        engine = connect(options.scheduler or "", options.n_jobs)
    with engine as workers:
        answer = plan.run(value_of(options, Run, task=task, engine=workers))
    return answer if task is None else None


def run_outputs(options: argparse.Namespace, plan: Plan) -> Any:
    """Do the same as `run_plan`, for a plan with one output or with one output per input."""
    if options.dask and not plan.can_be_shared:
        raise ValueError("--dask needs an output directory, whose name ends in a slash")
    return run_plan(options, plan)


def refuse_other_options(options: argparse.Namespace, path: str) -> None:
    """Raise a ValueError if options describe a map other than the map of the file of codes."""
    kind, config = MAPS[options.map_name], PackedCodes.load(path).config
    parts = list(_maps_of(config))
    made = [part["class"] for part in parts]
    if made != kind.classes and not options.has_no_map:
        raise ValueError(f"{path} has codes of {_command_of(made)}, not of {options.map_name}")
    known = {name: value for part in parts for name, value in part["parameters"].items()}
    known["seed"] = config.get("seed")
    parameters = parameters_of(options, kind)
    if hasattr(options, "seed"):
        parameters["seed"] = options.seed
    for name, value in parameters.items():
        if known.get(name) != value:
            raise ValueError(
                f"{path} has codes with {setting(name, known.get(name))}, not "
                f"{shown(value)}; its map is used for all inputs"
            )


def _command_of(made: list[str]) -> str:
    """Return the command's name of a map, from the names of its class and its factors' classes."""
    for name, kind in MAPS.items():
        if made == kind.classes:
            return name
    return " and ".join(made)


def _maps_of(config: object) -> Iterator[dict[str, Any]]:
    """Yield the map of a configuration and, recursively, its factors."""
    if isinstance(config, list):
        for item in config:
            yield from _maps_of(item)
    elif isinstance(config, dict) and isinstance(config.get("parameters"), dict):
        yield {"class": str(config.get("class")), "parameters": config["parameters"]}
        yield from _maps_of(config["parameters"].get("maps"))
