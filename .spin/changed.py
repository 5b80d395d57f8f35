"""Which tests belong to which files: for ``spin test --changed``."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

OF_PACKAGE = "tests/test_package.py", "tests/test_imports.py"
"""Tests of each change of the package: layers, imports, examples of docstrings."""

OF_OTHERS = {
    "docs": ("tests/test_documents.py", "tests/test_package.py"),
    "README.md": ("tests/test_documents.py", "tests/test_package.py"),
    "CONTRIBUTING.md": ("tests/test_documents.py",),
    "experiments": ("tests/test_experiments.py",),
    ".spin": ("tests/test_documents.py",),
}


def changed_files(base: str = "main") -> list[str]:
    """Return the files that differ from where the branch left `base`, and new ones."""

    def lines(*command: str) -> list[str]:
        return subprocess.run(
            ["git", *command], check=True, capture_output=True, text=True
        ).stdout.splitlines()

    (start,) = lines("merge-base", "HEAD", base)
    new = lines("ls-files", "--others", "--exclude-standard")
    return sorted({*lines("diff", "--name-only", start), *new})


def belonging_tests(paths: Iterable[str], root: Path = Path()) -> list[str]:
    """Return the tests of some files: the folder of tests that has the name of their folder."""
    found: set[str] = set()
    for path in map(Path, paths):
        first, folder = path.parts[0], path.parent.name
        if first == "tests":
            is_test = path.name.startswith("test_") and path.suffix == ".py"
            found.add(str(path if is_test else path.parent))
        elif first == "sparsemaps":
            found |= set(OF_PACKAGE)
            folder = path.parts[1].strip("_") if len(path.parts) > 2 else ""
            if folder:
                found.add(f"tests/{folder}")
            if folder in ("maps", "loops", "codes", "laws"):
                found.add("tests/test_golden.py")
        else:
            found |= set(OF_OTHERS.get(first, ()))
    folders = {one for one in found if not one.endswith(".py")}
    inside = {one for one in found if any(one.startswith(f"{folder}/") for folder in folders)}
    return sorted(one for one in found - inside if (root / one).exists() and one != "tests")
