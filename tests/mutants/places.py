"""Where a change is put into a source: the tokens of a function, wherever these stand in its file.

Space between tokens does not count, so that moved, broken and joined lines change no entry.
"""

import ast
import re

TOKEN = re.compile(r"\w+|[^\w\s]")
_C = re.compile(r"^(?:[\w*]+[\s*]+)*?(?:\w+\()*(\w+)\)*\(", re.MULTILINE)
_CYTHON = re.compile(r"^( *)(?:cdef class|cdef|cpdef|def|class) [^\n(:=]*?(\w+)[(:]", re.MULTILINE)


def functions(source, suffix):
    """Return the name and the span of each function and class of a source: (name, start, stop).

    A method is CLASS.METHOD; a function of C that a macro names, such as ``TYPED(sort)(``, is
    ``sort``.
    """
    if suffix == ".py":
        return _of_python(source)
    return _of_c(source) if suffix in (".c", ".h") else _of_cython(source)


def find(source, suffix, function, tokens):
    """Return the spans at which `tokens` stand in a function; in the whole source without one."""
    wanted = TOKEN.findall(tokens)
    spans = [(0, len(source))]
    if function:
        spans = [
            (start, stop) for name, start, stop in functions(source, suffix) if name == function
        ]
    found = []
    for start, stop in spans:
        there = [*TOKEN.finditer(source, start, stop)]
        words = [one[0] for one in there]
        n = len(wanted)
        found += [
            (there[i].start(), there[i + n - 1].end())
            for i in range(len(words) - n + 1)
            if words[i : i + n] == wanted
        ]
    return sorted(set(found))


def replaced(source, span, tokens, new):
    """Return the source with `new` in the place of `tokens`, which stand at `span`.

    Lines of `new` are moved as far as the second line of the tokens has moved since the entry was
    written.
    """
    start, stop = span
    lead = tokens[: len(tokens) - len(tokens.lstrip())]
    new = new.removeprefix(lead) if new.startswith(lead) else new.lstrip()
    new = new.rstrip()
    moved = _indent_of_second(source[start:stop]) - _indent_of_second(tokens)
    first, *others = new.split("\n")
    if moved and "\n" in tokens.strip():
        others = [
            " " * max(0, len(line) - len(line.lstrip()) + moved) + line.lstrip() for line in others
        ]
    return source[:start] + "\n".join([first, *others]) + source[stop:]


def _indent_of_second(text):
    lines = text.strip().split("\n")
    return len(lines[1]) - len(lines[1].lstrip()) if len(lines) > 1 else 0


def _of_python(source):
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []

    def visit(node, outer):
        for child in ast.iter_child_nodes(node):
            name = outer
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{outer}.{child.name}".lstrip(".")
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                found.append((name, starts[first - 1], starts[child.end_lineno]))
            visit(child, name)

    visit(ast.parse(source), "")
    return found


def _of_cython(source):
    found, classes = [], []
    for one in _CYTHON.finditer(source):
        depth = len(one[1])
        end = re.compile(rf"^ {{0,{depth}}}(?![ \n)#]|$)", re.MULTILINE).search(source, one.end())
        stop = end.start() if end else len(source)
        classes = [(name, until) for name, until in classes if one.start() < until]
        name = ".".join([*(name for name, _ in classes), one[2]])
        if "class " in one[0]:
            classes.append((one[2], stop))
        found.append((name, one.start(), stop))
    return found


def _of_c(source):
    found = []
    for one in _C.finditer(source):
        body = re.compile(r"[{;]").search(source, one.end())
        end = re.compile(r"^}", re.MULTILINE).search(source, one.end())
        if body and body[0] == "{" and end:
            found.append((one[1], one.start(), end.end()))
    return found
