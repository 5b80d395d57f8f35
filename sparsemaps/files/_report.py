"""The report of a deduplication: one HTML page that shows which records were removed, and why.

The page needs no network and no script. Texts of records are always shown as text.
"""

import bisect
import html
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import Match, SequenceMatcher
from typing import NamedTuple

import numpy as np

from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array

N_PAIRS = 50
"""Number of removals shown side by side."""

_ALWAYS = "records", "kept"
"""Counts that are shown even if they are 0."""

N_GROUPS = 10
"""Number of listed groups of removals, largest first."""


class Pair(NamedTuple):
    """A removed record, the kept record that is its witness, and their texts. A text is None if
    only codes are known, as for an earlier delivery. The source is the input of the removed
    record."""

    removed: str
    witness: str
    similarity: float
    removed_text: str | None
    witness_text: str | None
    source: str = ""
    removed_sets: str = ""
    """Descriptions of the n-grams that count, for the removed record and for the witness."""
    witness_sets: str = ""


class Group(NamedTuple):
    """A kept record, the number of its removed duplicates, the least similarity among these, and
    the text of the kept record."""

    witness: str
    n_removed: int
    least: float
    text: str | None


class FrameExample(NamedTuple):
    """A frame: the number of records with it, the name of the first record, a description of its
    common n-grams, and its text."""

    n_records: int
    record: str
    common: str
    text: str


class OwnNgramsShown(NamedTuple):
    """The facts about records that are compared by their own n-grams, and the n-grams that are left
    out."""

    about: str
    """The definition of own n-grams, and of the records that are compared by them, in words."""
    counts: Mapping[str, int]
    """The numbers of records that are compared by their own n-grams, and by all n-grams."""
    frames: Sequence[FrameExample]
    is_common: Callable[[str], Array]
    """Function that returns, for each character of a text, whether it is in a common n-gram."""


class Report(NamedTuple):
    settings: Mapping[str, str]
    counts: Mapping[str, int]
    """The numbers of all records, of kept records, and of records removed for each reason."""
    threshold: float
    similarities: Array
    """The similarity of each removed record to its witness."""
    group_sizes: Array
    """For each witness, the number of its duplicates."""
    groups: Sequence[Group]
    pairs: Sequence[Pair]
    own: OwnNgramsShown | None = None
    """None if all n-grams count."""


_Shading = Callable[[str, int, int], Array]
"""A function of a text, a place and a number of characters, which returns for each of these
characters whether it is in a common n-gram."""


def _unshaded(text: str, start: int, length: int) -> Array:
    return np.zeros(len(text[start : start + length]), bool)


def draw_pairs(similarities: Array, threshold: float, n: int = N_PAIRS) -> Array:
    """Return the removals to show, by ascending similarity. They are drawn without replacement; a
    removal near the threshold is up to 20 times as likely as one of similarity 1.

    The pairs just above the threshold are the ones that a reader must judge. Equal similarities
    give the same draw.
    """
    above = np.clip(similarities - threshold, 0, None) / max(1 - threshold, 1e-9)
    weights = 1 / (above + 1 / 19)
    # Take the n largest of u^(1 / weight): Efraimidis and Spirakis 2006, algorithm A.
    keys = np.log(np.random.default_rng(0).random(len(weights))) / weights
    chosen = np.argsort(keys, kind="stable")[::-1][:n]
    return chosen[np.argsort(similarities[chosen], kind="stable")]


def render(report: Report) -> Iterator[str]:
    yield _HEAD
    yield "<h1>Removed records</h1>"
    yield ('<p class="note">This page contains texts of the records. For every removed record, it '
           "names the kept record that it duplicates. Look at the pairs near the "
           "threshold first. If you do not consider them duplicates, raise the threshold."
           "</p>")  # fmt: skip
    counts = [(name, f"{n:,}") for name, n in report.counts.items() if n or name in _ALWAYS]
    yield _section("counts", "Counts", _facts(counts))
    shade = _unshaded if report.own is None else _Shades(report.own.is_common)
    if report.own is not None:
        yield _section("own", "Own n-grams", _own(report.own))
        frames = "".join(_frame(frame, shade) for frame in report.own.frames)
        yield _section("frames", "Frames", frames)
    yield _section("settings", "Settings", _facts(report.settings.items()))
    yield _section(
        "similarities",
        "Similarity of removed records to the kept records",
        _bars(_similarity_bins(report.similarities, report.threshold)),
    )
    yield _section("sizes", "Duplicates of each kept record", _bars(_size_bins(report.group_sizes)))
    shown: dict[str, list[int]] = {}  # the pairs of each witness
    for number, pair in enumerate(report.pairs):
        shown.setdefault(pair.witness, []).append(number)
    places = {group.witness: number for number, group in enumerate(report.groups)}
    groups = "".join(
        _group(
            group,
            number,
            [(i, report.pairs[i].removed) for i in shown.get(group.witness, [])],
            shade,
        )
        for number, group in enumerate(report.groups)
    )
    yield _section("groups", "Kept records with the most duplicates", groups)
    shown_pairs = counted(len(report.pairs), "removals")
    yield (f'<section id="pairs"><h2>{shown_pairs} side by side</h2><p>Drawn at '
           "random, most of them near the threshold, the least similar first. Words that "
           "differ are marked.</p>")  # fmt: skip
    sources = dict.fromkeys(pair.source for pair in report.pairs)
    for source in sources:
        of_source = [
            _pair(pair, number, places.get(pair.witness), shade)
            for number, pair in enumerate(report.pairs)
            if pair.source == source
        ]
        if len(sources) > 1:
            title = f"{visible(source)}: {counted(len(of_source), 'removals')}"
            yield f"<details open><summary>{title}</summary>{''.join(of_source)}</details>"
        else:
            yield from of_source
    yield "</section></main></body></html>\n"


# ---- parts of the page ---------------------------------------------------------------------------

_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Removed records</title>
<style>
:root { color-scheme: light dark; --text: #1a1a1a; --back: #fff; --faint: #595959; --line: #c8c8c8;
  --bar: #08519c; --removed: #ffd7d5; --added: #cdeed5; --common: #6b6b6b; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8e8; --back: #161616; --faint: #a8a8a8;
  --line: #4a4a4a; --bar: #6baed6; --removed: #6b2320; --added: #1d5230;
  --common: #999; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 75rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
.note, h3 { color: var(--faint); } h3 { font-size: .95rem; font-weight: 600; margin: 0 0 .3rem; }
dl { display: grid; grid-template-columns: fit-content(60%) 1fr; gap: .1rem 1.2rem; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
.bars { width: 100%; max-width: 45rem; border-collapse: collapse;
  font-variant-numeric: tabular-nums; }
.bars th { text-align: right; font-weight: normal; white-space: nowrap; width: 1%;
  padding-right: .6rem; }
.bars td:last-child { text-align: right; white-space: nowrap; width: 1%; padding-left: .6rem; }
.bars span { display: block; height: .9rem; min-width: 1px; background: var(--bar); }
a { color: var(--bar); }
article:target { background: color-mix(in srgb, var(--bar) 12%, transparent); }
summary { cursor: pointer; padding: .6rem 0; font-weight: 600; }
article { border-top: 1px solid var(--line); padding: 1rem 0; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.sides > div { min-width: 0; }
@media (max-width: 45rem) { .sides { grid-template-columns: 1fr; } }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere;
  font: 14px/1.45 ui-monospace, monospace; unicode-bidi: isolate; max-height: 24rem;
  overflow-y: auto; }
del, ins { text-decoration: none; border-radius: .15rem; } del { background: var(--removed); }
ins { background: var(--added); } i { color: var(--faint); }
.common { color: var(--common); } del .common, ins .common { color: inherit; opacity: .75; }
</style></head><body><main>
"""


def _section(name: str, title: str, content: str) -> str:
    return f'<section id="{name}"><h2>{title}</h2>{content or "<p>None.</p>"}</section>'


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{visible(name)}</dt><dd>{visible(value)}</dd>" for name, value in facts)
    return f"<dl>{rows}</dl>"


def _bars(bins: Sequence[tuple[str, int]]) -> str:
    """Return a table of counts with a bar each. Empty bins are omitted."""
    bins = [(name, n) for name, n in bins if n]
    if not bins:
        return ""
    most = max(n for _, n in bins)
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td><span style="width:{100 * n / most:.2f}%"></span></td>'
        f"<td>{n:,}</td></tr>"
        for name, n in bins
    )
    return f'<table class="bars">{rows}</table>'


def _similarity_bins(similarities: Array, threshold: float) -> list[tuple[str, int]]:
    """Return ten bins from the threshold to 1; the last bin includes 1."""
    if not len(similarities):
        return []
    ends = np.linspace(min(threshold, similarities.min()), 1, 11)
    counts, _ = np.histogram(np.minimum(similarities, 1), ends)
    names = [f"{low:.3f} to {high:.3f}" for low, high in itertools.pairwise(ends)]
    return list(zip(names, counts.tolist(), strict=True))


def _size_bins(sizes: Array) -> list[tuple[str, int]]:
    """Return the numbers of witnesses by their numbers of duplicates, in the bins 1, 2, 3 to 4, 5
    to 8, ..."""
    if not len(sizes):
        return []
    powers = np.ceil(np.log2(sizes)).astype(int)
    bins = []
    for power, n in enumerate(np.bincount(powers).tolist()):
        low, high = 2 ** (power - 1) + 1 if power else 1, 2**power
        bins.append((f"{low:,}" if low >= high else f"{low:,} to {high:,}", n))
    return bins


def _own(own: OwnNgramsShown) -> str:
    legend = (
        f"<p>{visible(own.about)} In the texts of this page, common words are "
        '<span class="common">pale</span>, and own ones are not.</p>'
    )
    return legend + _facts((name, f"{n:,}") for name, n in own.counts.items())


def _frame(frame: FrameExample, shade: _Shading) -> str:
    """Return a frame with an excerpt of its example, which begins shortly before the longest common
    run."""
    start = max(0, _longest_part(shade(frame.text, 0, _MOST_SHADED)) - _BEFORE_FRAME)
    before = f"<i>[{counted(start, 'characters', ',')} before]</i>" if start else ""
    window = frame.text[start : start + _FRAME_WINDOW]
    text = before + _shaded(window, shade(frame.text, start, len(window)))
    text += _after(frame.text, start + _FRAME_WINDOW)
    heading = f"{counted(frame.n_records, 'records', ',')}, such as {visible(frame.record)}"
    about = f'<p class="note">{visible(frame.common)}</p>'
    return f'<article><h3>{heading}</h3>{about}<pre dir="auto">{text}</pre></article>'


def _longest_part(is_common: Array) -> int:
    """Return the beginning of the longest run of common characters."""
    steps = np.diff(np.concatenate([[0], is_common.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0)
    return int(starts[np.argmax(ends - starts)]) if len(starts) else 0


def _group(
    group: Group,
    number: int = 0,
    pairs: Sequence[tuple[int, str]] = (),
    shade: _Shading = _unshaded,
) -> str:
    """Return a witness with links to its shown pairs, given by number and record."""
    text = ""
    if group.text is not None:
        text = f'<pre dir="auto">{_excerpt(group.text, _BEFORE, shade)}</pre>'
    title = f"{visible(group.witness)}: {group.n_removed:,} removed"
    links = ", ".join(f'<a href="#pair-{i}">{visible(removed)}</a>' for i, removed in pairs)
    shown = f'<p class="note">Shown side by side: {links}</p>' if links else ""
    heading = f"<h3>{title}, the least similar {group.least:.3f}</h3>"
    return f'<article id="witness-{number}">{heading}{text}{shown}</article>'


def _pair(
    pair: Pair, number: int = 0, group: int | None = None, shade: _Shading = _unshaded
) -> str:
    """Return a removal. Its witness is a link if it is among those with the most duplicates."""
    removed, witness = _sides(pair.removed_text, pair.witness_text, shade)
    sets = _sets(pair.removed_sets)
    left = f"<div><h3>Removed: {visible(pair.removed)}</h3>{sets}{removed}</div>"
    name = visible(pair.witness)
    name = name if group is None else f'<a href="#witness-{group}">{name}</a>'
    right = f"<div><h3>Kept: {name}</h3>{_sets(pair.witness_sets)}{witness}</div>"
    title = f"<h3>Similarity {pair.similarity:.3f}</h3>"
    sides = f'<div class="sides">{left}{right}</div>'
    return f'<article id="pair-{number}">{title}{sides}</article>'


def _sets(words: str) -> str:
    return f'<p class="note">{visible(words)}</p>' if words else ""


# ---- texts ---------------------------------------------------------------------------------------

_WINDOW = 1500
"""Number of characters of a text shown in a pair."""

_BEFORE = 300
"""Number of characters shown before the first difference of two texts."""

_FRAME_WINDOW = 1500
"""Number of characters shown of an example of a frame."""

_BEFORE_FRAME = 100
"""Number of characters shown before the longest run of a frame."""

_MOST_SHADED = 2**17
"""Number of characters of an example that are searched for the longest run."""

_MARGIN = 300
"""Number of characters around a part of a text whose n-grams are also examined."""

_MOST_COMPARISONS = 2**21
"""Limit of the comparisons of words per pair; there are about 5 * 10^6 per second. Among 1,429
pairs of different web pages, the median needs 10^5 and the largest 1.9 * 10^5."""

_UNMARKED = "<i>[not marked, as too many words are repeated]</i>\n"

_PIECE = 40
"""Length of the pieces of a removed text that are looked up in its witness."""

# A token is a word, a single character in scripts without spaces between words, a run of spaces, or
# another character.
_TOKEN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    r"|[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{1,100}"
    r"|\s+|.",
    re.DOTALL,
)


def visible(text: str) -> str:
    """Return a text escaped for HTML. Control characters, including those that change the writing
    direction, are shown as symbols or numbers."""
    return html.escape("".join(map(_visible_character, text)))


def _visible_character(character: str) -> str:
    if character in "\n\t" or character.isprintable():
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return f"[U+{code:04X}]"
    return character


class _Shades:
    """The shading of parts of texts. It also examines n-grams that extend a little beyond the
    part."""

    def __init__(self, is_common: Callable[[str], Array]) -> None:
        self._is_common = is_common

    def __call__(self, text: str, start: int, length: int) -> Array:
        first = max(0, start - _MARGIN)
        found = self._is_common(text[first : start + length + _MARGIN])
        return found[start - first : start - first + length]


def _shaded(text: str, is_common: Array) -> str:
    """Return a text for HTML in which common characters are pale."""
    ends = [*(np.flatnonzero(np.diff(is_common)) + 1).tolist(), len(text)]
    parts, start = [], 0
    for end in ends:
        part = visible(text[start:end])
        is_pale = end > start and is_common[start]
        parts.append(f'<span class="common">{part}</span>' if is_pale else part)
        start = end
    return "".join(parts)


def _excerpt(text: str, length: int, shade: _Shading = _unshaded) -> str:
    shown = _shaded(text[:length], shade(text, 0, length))
    return shown + _after(text, length)


def _after(text: str, end: int) -> str:
    return f"<i>[{counted(len(text) - end, 'more characters', ',')}]</i>" if len(text) > end else ""


def _sides(
    removed: str | None, witness: str | None, shade: _Shading = _unshaded
) -> tuple[str, str]:
    """Return the two texts of a pair with different words marked, beginning shortly before the
    first difference."""
    if removed is None or witness is None:
        return _alone(removed, shade), _alone(witness, shade)
    equal = _n_equal(removed, witness)
    start, other_start = max(0, equal - _BEFORE), max(0, equal + _shift(removed, witness, equal))
    other_start = max(0, other_start - _BEFORE)
    one = _TOKEN.findall(removed[start : start + _WINDOW])
    other = _TOKEN.findall(witness[other_start : other_start + _WINDOW])
    left = f"<i>[{counted(start, 'equal characters', ',')} before]</i>" if start else ""
    right = left
    if start != other_start:
        right = f"<i>[{counted(other_start, 'characters', ',')} before]</i>"
    differences = _differences(one, other)
    if differences is None:
        left, right = _UNMARKED + left, _UNMARKED + right
        differences = [("equal", 0, len(one), 0, len(other))]
    pale, other_pale = shade(removed, start, _WINDOW), shade(witness, other_start, _WINDOW)
    for kind, i, i_end, j, j_end in differences:
        is_equal = kind == "equal"
        text, other_text = "".join(one[i:i_end]), "".join(other[j:j_end])
        left += _marked(text, pale[: len(text)], "" if is_equal else "del")
        right += _marked(other_text, other_pale[: len(other_text)], "" if is_equal else "ins")
        pale, other_pale = pale[len(text) :], other_pale[len(other_text) :]
    left += _after(removed, start + _WINDOW)
    right += _after(witness, other_start + _WINDOW)
    return f'<pre dir="auto">{left}</pre>', f'<pre dir="auto">{right}</pre>'


class _TooMuchWork(Exception):
    """Raised if two texts have so many equal words that comparing them would take too long."""


class _BoundedMatcher(SequenceMatcher[str]):
    """A matcher that gives up after `_MOST_COMPARISONS`. With few distinct words that repeat, it
    would need a cubic number of comparisons."""

    def __init__(self, one: list[str], other: list[str]) -> None:
        super().__init__(None, one, other, autojunk=False)
        n_places = Counter(other)
        self._n_before = [0, *itertools.accumulate(n_places[token] for token in one)]
        self.n_comparisons = 0

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        end = len(self._n_before) - 1 if ahi is None else ahi
        self.n_comparisons += self._n_before[end] - self._n_before[alo]
        if self.n_comparisons > _MOST_COMPARISONS:
            raise _TooMuchWork
        return super().find_longest_match(alo, ahi, blo, bhi)


def _differences(
    one: list[str], other: list[str]
) -> Sequence[tuple[str, int, int, int, int]] | None:
    """Return the equal and different parts of two lists of words, like `SequenceMatcher`; None if
    that would take too long."""
    try:
        return _BoundedMatcher(one, other).get_opcodes()
    except _TooMuchWork:
        return None


def _shift(removed: str, witness: str, start: int) -> int:
    """Return the number of characters by which a part of the removed text occurs later in its
    witness, searching from their first difference; 0 if this is less than `_BEFORE` or no part is
    found."""
    for place in range(start, min(len(removed), start + _WINDOW), _PIECE):
        piece = removed[place : place + _PIECE]
        found = witness.find(piece, start) if len(piece) == _PIECE else -1
        if found >= 0:
            shift = found - place
            return shift if shift > _BEFORE else 0
    return 0


def _alone(text: str | None, shade: _Shading) -> str:
    if text is None:
        return "<p>Its text is not available.</p>"
    return f'<pre dir="auto">{_excerpt(text, _WINDOW, shade)}</pre>'


def _marked(text: str, is_common: Array, tag: str) -> str:
    shown = _shaded(text, is_common)
    return f"<{tag}>{shown}</{tag}>" if tag and shown else shown


def _n_equal(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    n = range(min(len(one), len(other)))
    return bisect.bisect_left(n, True, key=lambda last: not one.startswith(other[: last + 1]))
