"""Draws the folders of the package and their imports: ``python docs/draw_folders.py``.

``docs/_static/folders.svg`` has a line for each folder, from the top of the list down, with the
first sentence of its ``__init__``, and an arc from each folder to each one that it imports. A test
compares the file with what this script draws from the imports as they are.
"""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "sparsemaps"
PICTURE = Path(__file__).parent / "_static" / "folders.svg"

FOLDERS = [
    *("cli", "dask", "files", "comparison", "approximation", "linear", "neighbors", "maps"),
    *("codes", "laws", "kernels", "text", "records", "libsvm", "_input", "_io", "_tools", "_loops"),
]
"""The folders; each imports from those behind it only."""

_STEP, _TOP, _NAMES, _WIDTH = 30, 24, 160, 1000


def present() -> list[str]:
    """The folders of the list that are there."""
    return [name for name in FOLDERS if (PACKAGE / name / "__init__.py").exists()]


def imports() -> set[tuple[str, str]]:
    """Pairs of a folder and a folder that it imports, from Python's and Cython's import lines."""
    found = set()
    for folder in present():
        for path in sorted((PACKAGE / folder).rglob("*.py*")):
            if path.suffix not in (".py", ".pyx", ".pxd"):
                continue
            text = path.read_text(encoding="utf-8")
            modules = _of_python(text) if path.suffix == ".py" else _of_cython(text)
            for module in modules:
                parts = module.split(".")
                if parts[0] == "sparsemaps" and len(parts) > 1 and parts[1] != folder:
                    found.add((folder, parts[1]))
    return {(one, other) for one, other in found if other in FOLDERS}


def _of_python(text: str) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "sparsemaps":
            names += [f"sparsemaps.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(str(node.module))
    return names


def _of_cython(text: str) -> list[str]:
    return re.findall(r"^\s*(?:from|c?import)\s+(sparsemaps[\w.]*)", text, re.MULTILINE)


def _first_sentence(folder: str) -> str:
    doc = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text("utf-8"))) or ""
    sentence = " ".join(doc.split("\n\n")[0].split()).partition(". ")[0]
    return sentence.rstrip(".").replace("``", "").replace("`", "")


def draw() -> str:
    """The picture as SVG."""
    folders = present()
    middle = {name: _TOP + _STEP * number for number, name in enumerate(folders)}
    height = _TOP + _STEP * len(folders)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="sans-serif" font-size="14">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#4a6fa5"/></marker></defs>',
    ]
    for one, other in sorted(imports(), key=lambda pair: (middle[pair[0]], middle[pair[1]])):
        start, end = middle[one], middle[other]
        reach = _NAMES - 12 - 14 * abs(end - start) / _STEP
        parts.append(
            f'<path d="M{_NAMES - 8} {start + 4}C{reach:.0f} {start + 4} {reach:.0f} {end - 4} '
            f'{_NAMES - 8} {end - 4}" fill="none" stroke="#4a6fa5" stroke-opacity="0.6" '
            f'marker-end="url(#head)"/>'
        )
    for name in folders:
        y = middle[name] + 5
        parts += [
            f'<text x="{_NAMES}" y="{y}" font-weight="bold">{name}</text>',
            f'<text x="{_NAMES + 140}" y="{y}" fill="#333">{_first_sentence(name)}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
