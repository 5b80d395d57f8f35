"""The tasks of those who work on this project, as commands of spin. ``spin --help`` lists them."""

import json
import sys
from pathlib import Path

import click
from spin import util

sys.path.insert(0, str(Path(__file__).parent))
from changed import belonging_tests, changed_files

PASSED_ON = {"ignore_unknown_options": True}

# Benchmarks of two threads have many rows, those of series many seeds, and all of memory are one
# function: one of each is enough to see that they run.
SMOKE = (
    *("--bench", r"^(?!threads|.*Maclaurin.track|.*peakmem).*\(('W1'|'6 digits'|0|8|10)[,)]"),
    *("--bench", "threads.*'W1', 'icws'"),
    *("--bench", "Maclaurin.track.*equal_width.*'W1', 1.0"),
    *("--bench", "count_sketch.*peakmem.*'W1'"),
    *("--bench", "Removals.*, 1000[)]"),
    *("--bench", "LevelsAgainstIcws.*[(]30, 64, 'own'"),
    *("--bench", "LevelsOfBinaryRows.*[(]20[)]"),
)


@click.command(context_settings=PASSED_ON)
@click.option("--extra", multiple=True, help="Install the packages for docs or bench, too.")
@click.argument("arguments", nargs=-1)
def build(extra, arguments):
    """Install the package into this environment, editable: an import compiles what has changed.

    ARGUMENTS are passed on to pip: -Csetup-args=-Dboundscheck=true, for instance.
    """
    pip = [sys.executable, "-m", "pip", "install"]
    util.run([*pip, "meson-python", "meson", "ninja", "cython"])
    extras = ",".join(["test", *extra])
    util.run([*pip, "--no-build-isolation", "--editable", f".[{extras}]", *arguments])


@click.command(context_settings=PASSED_ON)
@click.option("--changed", is_flag=True, help="Only the tests of files that differ from main.")
@click.argument("arguments", nargs=-1)
def test(changed, arguments):
    """Run the tests, on all processors.

    ARGUMENTS are passed on to pytest: tests/maps, for instance.
    """
    tests = belonging_tests(changed_files()) if changed else []
    if changed and not tests:
        click.echo("No file with tests differs from main.")
        return
    util.run(["pytest", "-n", "auto", *tests, *arguments])


@click.command(context_settings=PASSED_ON)
@click.argument("arguments", nargs=-1)
def lint(arguments):
    """Run all linters on all files, as CI does.

    ARGUMENTS are passed on to pre-commit. The tools: pip install -r .ci/lint.txt
    """
    util.run(["pre-commit", "run", "--all-files", "--hook-stage", "manual", *arguments])


@click.command()
@click.argument("folder", default="build/site")
def docs(folder):
    """Write the documentation to FOLDER. A warning is an error.

    Needs the packages for docs: spin build --extra docs
    """
    util.run(["sphinx-build", "-q", "-W", "docs", folder])


@click.command(context_settings=PASSED_ON)
@click.option("--smoke", is_flag=True, help="Run each benchmark once, on one workload.")
@click.argument("arguments", nargs=-1)
def bench(smoke, arguments):
    """Run benchmarks with the Python that runs this command, where sparsemaps is installed.

    ARGUMENTS are passed on to asv run: -b count_sketch.Dense, for instance. Results stay in
    build/asv.

    Needs the packages for bench: spin build --extra bench
    """
    asv = ["asv", "--config", str(bench_settings())]
    util.run([*asv, "machine", "--yes"], output=False)
    options = ["--quick", "--show-stderr", *SMOKE] if smoke else []
    util.run([*asv, "run", "--python=same", *options, *arguments])


def bench_settings():
    """Write asv's settings with results in build, as those in asv_bench are tracked."""
    source, folder = Path("asv_bench").resolve(), Path("build/asv").resolve()
    settings = json.loads((source / "asv.conf.json").read_text(encoding="utf-8"))
    settings |= {
        "repo": str(source.parent),
        "benchmark_dir": str(source / settings["benchmark_dir"]),
        **{name: str(folder / settings[name]) for name in ("env_dir", "results_dir", "html_dir")},
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "asv.conf.json"
    path.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    return path


@click.command(context_settings=PASSED_ON)
@click.argument("arguments", nargs=-1)
def mutants(arguments):
    """Put changes into the source, one after the other, and run the tests that must see them.

    All of them take about an hour. ARGUMENTS are passed on to tests/mutants/run.py:
    --only "hashing: short rows", for instance. Needs Cython, meson and ninja.
    """
    util.run([sys.executable, "tests/mutants/run.py", *arguments])
