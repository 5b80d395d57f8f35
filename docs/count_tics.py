"""Counts phrases that read as translated, and docstrings that do not begin with a verb.

    python docs/count_tics.py [FOLDER]

FOLDER is another checkout, such as an earlier one. CONTRIBUTING.md has better phrases.
"""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]

TICS = {
    "is no": r"\b(is|are|was|were) no\b",
    "what is": r"(?<![.?!] )\bwhat (is|are|was|were)\b",
    "of which": r"\bof (which|those|these)\b",
    "where for if": r"(^|[.;,] )[Ww]here [a-z]+ (is|are|has|have)\b",
    "as they are": r"\bas (it|they) (is|are|stands?)\b",
    "those of": r"\b(that|those) of\b",
    "goes on": r"\bgo(es)? on\b",
    "stands": r"\bstands?\b(?! for)",
    "by the clock, at hand, but for": r"\b(by the clock|at hand|but for)\b",
}

NOUN = re.compile(r"(The|A|An|Whether|What|Which|That|Those|These|Some|All|Each|How|Where|Those)\b")
"""First words of docstrings that are no verbs."""


def texts(root):
    """Return the pages and the source of the package."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
    examples = sorted((root / "docs" / "gallery").glob("*.py"))
    written = {"options.md", "maps.md", "losses.md", "command.md"}
    return [
        path.read_text(encoding="utf-8")
        for path in [*pages, *examples, *sorted((root / "sparsemaps").rglob("*.py"))]
        if path.name not in written
    ]


def first_lines(root):
    """Yield the place and the first line of the docstring of each function."""
    for path in sorted((root / "sparsemaps").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                is_value = any("property" in ast.unparse(one) for one in node.decorator_list)
                doc = ast.get_docstring(node)
                if doc and not is_value:  # a property is a value: a noun names it
                    yield f"{path.relative_to(root)}: {node.name}", doc.partition("\n")[0]


def counts(root=ROOT):
    """Return how often each phrase occurs, and how many first lines do not begin with a verb."""
    found = Counter()
    for text in texts(root):
        for name, pattern in TICS.items():
            found[name] += len(re.findall(pattern, text, re.MULTILINE))
    lines = list(first_lines(root))
    found["docstrings of functions"] = len(lines)
    found["of these, without a verb first"] = sum(bool(NOUN.match(line)) for _, line in lines)
    return found


if __name__ == "__main__":
    for name, number in counts(Path(sys.argv[1]) if sys.argv[1:] else ROOT).items():
        print(f"{number:6} {name}")
