"""What is imported, and when: names load when they are first used."""

import json
import subprocess
import sys

import pytest

import sparsemaps


def modules_after(code):
    """Names of the modules that a new interpreter has after some code."""
    script = f"import json, sys\n{code}\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


COMMANDS = {
    "import": "import sparsemaps; dir(sparsemaps); sparsemaps.__version__",
    "--version": "import sparsemaps.cli as cli\ntry: cli.main(['--version'])\nexcept SystemExit: 0",
    "--help": "import sparsemaps.cli as cli\ntry: cli.main(['--help'])\nexcept SystemExit: pass",
    "map --help": (
        "import sparsemaps.cli as cli\n"
        "try: cli.main(['map', 'minmax', '--help'])\nexcept SystemExit: pass"
    ),
}


@pytest.mark.parametrize("code", COMMANDS.values(), ids=COMMANDS.keys())
def test_scikit_learn_is_not_waited_for(code):
    loaded = modules_after(code)
    assert "sparsemaps" in loaded
    assert not loaded & {"sklearn", "scipy.special", "scipy.fft", "sparsemaps.kernels", "dask"}


def test_modules_are_attributes():
    names = ("codes", "kernels", "libsvm", "approximation")
    code = "; ".join(["import sparsemaps", *(f"sparsemaps.{name}.__all__" for name in names)])
    assert {f"sparsemaps.{name}" for name in names} <= modules_after(code)


def test_names():
    assert set(sparsemaps.__all__) <= set(dir(sparsemaps))
    with pytest.raises(AttributeError, match=r"sparsemaps.* has no attribute 'CountSketches'"):
        _ = sparsemaps.CountSketches


def test_show_versions(capsys):
    sparsemaps.show_versions()
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["sparsemaps"] == sparsemaps.__version__
    assert {"scheme", "SIMD", "numpy", "scipy", "scikit-learn", "tqdm"} <= set(shown)
