"""Writes the manual page of the command from its options.

    python docs/write_man.py

A test asserts that the page is current.
"""

from pathlib import Path

from sparsemaps.cli import make_parser

PAGE = Path(__file__).parent / "sparsemaps.1"


def escaped(text):
    """Text as roff reads it."""
    text = text.replace("%%", "%").replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def commands_of(parser):
    """The subcommands of a parser by their names, and one line about each."""
    for action in parser._actions:
        if isinstance(action.choices, dict):
            return action.choices, {one.dest: one.help for one in action._choices_actions}
    return {}, {}


def options_of(parser):
    """The arguments and options of a parser: (names, the value's name, help)."""
    for action in parser._actions:
        if action.dest in ("help", "help_all") or isinstance(action.choices, dict):
            continue
        value = action.metavar or action.dest.upper()
        if action.nargs == 0:
            value = ""
        elif action.metavar is None and action.choices is not None:
            value = "{" + ",".join(action.choices) + "}"
        elif isinstance(value, tuple):
            value = " ".join(value)
        elif action.nargs == "?":
            value = f"[{value}]"
        elif action.nargs == "+":
            value += "..."
        yield ", ".join(action.option_strings), value, action.help


def definition(names, value, about):
    """An option and its help."""
    head = f"\\fB{escaped(names)}\\fR " if names else ""
    head += f"\\fI{escaped(value)}\\fR" if value else ""
    return [".TP", head.strip(), escaped(about)]


def definitions(options):
    return [line for option in options for line in definition(*option)]


def examples(parser):
    """What stands behind the options in the help: examples, exit statuses."""
    if not parser.epilog:
        return []
    return [".PP", ".nf", *map(escaped, parser.epilog.strip().splitlines()), ".fi"]


def section(name, parser):
    """A subcommand; options that all its maps or kernels have are told once."""
    lines = [f".SS sparsemaps {escaped(name)}", escaped(" ".join(parser.description.split()))]
    inner, _ = commands_of(parser)
    if not inner:
        return [*lines, *definitions(options_of(parser)), *examples(parser)]
    every = {kind: list(options_of(one)) for kind, one in inner.items() if kind != "saved"}
    first = next(iter(every.values()))
    common = [option for option in first if all(option in options for options in every.values())]
    for kind, one in inner.items():
        own = [option for option in options_of(one) if option not in common]
        lines += [".TP", f"\\fB{escaped(f'{name} {kind}')}\\fR"]
        lines += [escaped(one.description)]
        lines += [".RS", *definitions(own), ".RE"] if own else []
    any_of = f"sparsemaps {name} " + ("KERNEL" if name == "kernel" else "MAP")
    lines += [f".SS Arguments and options of each {escaped(any_of)}", *definitions(common)]
    return lines + examples(inner["minmax"])


def page():
    """The page as roff."""
    parser = make_parser()
    commands, about = commands_of(parser)
    lines = [
        '.TH SPARSEMAPS 1 "" "sparsemaps" "User Commands"',
        ".SH NAME",
        "sparsemaps \\- random feature maps and hashes for sparse data",
        ".SH SYNOPSIS",
    ]
    for name, command in commands.items():
        kind = " KERNEL" if name == "kernel" else " MAP" if commands_of(command)[0] else ""
        files = "".join(f" {value}" for names, value, _ in arguments(command) if not names)
        lines += [f"\\fBsparsemaps {name}\\fR{kind} [\\fIoptions\\fR]{escaped(files)}", ".br"]
    lines += [".SH DESCRIPTION", escaped(parser.description)]
    lines += definitions(("", name, text) for name, text in about.items())
    lines += [".SH OPTIONS", *definitions(options_of(parser)), ".SH COMMANDS"]
    for name, command in commands.items():
        lines += section(name, command)
    status = parser.epilog.partition("\n")[2].splitlines()
    lines += [".SH EXIT STATUS", ".nf", *map(escaped, status), ".fi"]
    lines += [".SH SEE ALSO", "\\fBsvm-train\\fR(1), \\fBliblinear-train\\fR(1)"]
    return "\n".join(lines) + "\n"


def arguments(command):
    """The options of a command, or of the first of its maps or kernels."""
    inner, _ = commands_of(command)
    return options_of(next(iter(inner.values())) if inner else command)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
