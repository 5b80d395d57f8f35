"""Arrow's structures that are released, empty, or not as Arrow's specification has them."""

import collections
import random

import pytest
from _data import hostile_arrow
from _data.chance import SEED
from _data.hostile_arrow import Lent

from sparsemaps.text import ByteNgrams, HashingVectorizer, _inputs

VECTORIZERS = [ByteNgrams(), HashingVectorizer()]


def strings(format="u", streamed=False):
    """The strings abc, de and fghi, or a view of twenty letters and one of three."""
    if format[0] == "v":
        views = [20, 0, 0, 5, 3, 0, 0, 0]
        lent = Lent(format, views, b"abcdefghijklmnopqrstuvwxyz", streamed=streamed)
        lent.array.length = 2
    else:
        lent = Lent(format, [0, 3, 5, 9], b"abcdefghi", streamed=streamed)
        lent.array.length = 3
    return lent


def refuse(message, of, field, value, format="u", streamed=False):
    """A ValueError of each vectorizer where a field of a structure or a list has this value."""
    for vectorizer in VECTORIZERS:
        lent = strings(format, streamed)
        if isinstance(field, str):
            setattr(getattr(lent, of), field, value)
        else:
            getattr(lent, of)[field] = value
        with pytest.raises(ValueError, match=message):
            vectorizer.transform(lent)


def test_sound_structures_are_taken():
    for format in ("u", "U", "z", "Z"):
        for streamed in (False, True):
            for vectorizer in VECTORIZERS:
                found = vectorizer.transform(strings(format, streamed))
                assert (found != vectorizer.transform([b"abc", b"de", b"fghi"])).nnz == 0


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("length", -1, "length -1, offset 0"),
        ("length", 2**62, f"length {2**62}"),
        ("offset", -1, "offset -1"),
        ("offset", 2**62, f"offset {2**62}"),
        ("offset", 2**63 - 1, f"offset {2**63 - 1}"),
        ("null_count", -2, "-2 nulls"),
        ("null_count", 4, "4 nulls"),
        ("n_buffers", 0, "0 buffers"),
        ("n_buffers", -1, "-1 buffers"),
        ("n_buffers", 2, "2 buffers"),
        ("n_buffers", 4, "4 buffers"),
        ("n_children", 1, "1 children"),
        ("n_children", 2**40, f"{2**40} children"),
        ("dictionary", 1, "a dictionary, which is not valid"),
        ("buffers", None, "no offsets"),
    ],
)
def test_arrays_that_are_not_sound(field, value, message, streamed):
    refuse(message, "array", field, value, streamed=streamed)


@pytest.mark.parametrize(
    ("format", "buffer", "message"),
    [
        ("u", 1, "no offsets"),
        ("U", 2, "no data"),
        ("vu", 1, "no offsets"),
        ("vu", 2, r"Arrow view .* \(text 0\)"),
        ("vu", 3, "no sizes"),
    ],
)
def test_buffers_that_are_not_there(format, buffer, message):
    refuse(message, "addresses", buffer, None, format)


def test_nulls_without_places():
    for vectorizer in VECTORIZERS:
        lent = strings()
        lent.array.null_count, lent.addresses[0] = 2, None
        with pytest.raises(ValueError, match="has 2 nulls, and does not tell which"):
            vectorizer.transform(lent)


@pytest.mark.parametrize("end", [-1, 2**48 + 1, 2**63 - 1])
def test_ends_that_no_memory_has(end):
    for vectorizer in VECTORIZERS:
        lent = Lent("U", [0, 3, end], b"abc")
        lent.array.length = 2
        with pytest.raises(ValueError, match=f"ends at {end}"):
            vectorizer.transform(lent)


def test_a_text_that_is_too_long_is_named():
    """Its characters are not read: they are not there."""
    compiled = HashingVectorizer()._compiled()._loops
    for most, rows in (
        (2**31, lambda lent: ByteNgrams().transform(lent)),
        (2**29, lambda lent: compiled.rows(0, (next(_inputs._arrow_chunks(lent)), 0, 2))),
    ):
        lent = Lent("U", [0, 3, 3 + most], b"abc")
        lent.array.length = 2
        with pytest.raises(ValueError, match=r"a text has .* bytes.*, more than .* \(text 1\)"):
            rows(lent)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("release", None, "released"),
        ("format", None, "no format"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_schemas_that_are_not_sound(field, value, message, streamed):
    refuse(message, "schema", field, value, streamed=streamed)


@pytest.mark.parametrize("format", [b"i", b"+l", b"tdD", b"\xff", b"", b"uu", b"v"])
def test_formats_of_other_things(format):
    for streamed in (False, True):
        refuse("strings, got an Arrow array of format", "name", "value", format, streamed=streamed)


@pytest.mark.parametrize(
    ("field", "message"),
    [("release", "released"), ("get_schema", "no functions"), ("get_next", "no functions")],
)
def test_streams_that_are_not_sound(field, message):
    refuse(message, "stream", field, None, streamed=True)


@pytest.mark.parametrize(("failing", "before"), [("error", []), ("error_of_next", ["Schema"])])
@pytest.mark.parametrize(("teller", "message"), [(True, "failed: u"), (False, "failed: error 5")])
def test_a_stream_that_fails(teller, message, failing, before):
    """What it has written meanwhile is not valid, and is not released."""
    for vectorizer in VECTORIZERS:
        lent = strings(streamed=True)
        setattr(lent, failing, 5)
        if not teller:
            lent.stream.get_last_error = None
        with pytest.raises(ValueError, match=message):
            vectorizer.transform(lent)
        assert lent.released == [*before, "Stream"]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_capsule_is_used_once(streamed):
    """A library that gives the same capsule at each call has lost it after the first one."""
    for vectorizer in VECTORIZERS:
        lent = strings(streamed=streamed)
        vectorizer.transform(lent)
        assert (lent.stream if streamed else lent.array).release is None
        assert sorted(lent.released) == sorted(
            ["Schema", "Array", "Stream"] if streamed else ["Schema", "Array"]
        )
        for _ in range(2):
            with pytest.raises(ValueError, match=r"has been released: a (capsule|stream) is"):
                vectorizer.transform(lent)


def test_capsules_of_other_names():
    class Wrong:
        def __init__(self, *capsules):
            self.capsules = capsules

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    schema, array = strings().__arrow_c_array__()
    for vectorizer in VECTORIZERS:
        for capsules in ((array, schema), (schema, None), (3, array)):
            with pytest.raises(ValueError, match="expected an Arrow capsule 'arrow_"):
                vectorizer.transform(Wrong(*capsules))
        for capsules in ((), (schema,), (schema, array, array)):
            with pytest.raises(TypeError, match="positional arguments"):
                vectorizer.transform(Wrong(*capsules))


def test_structures_of_any_content():
    """A ValueError, or the rows that the strings have by Arrow's specification; each structure is
    released at most once."""
    outcomes = collections.Counter()
    for seed in range(4_000):
        draw = random.Random(SEED + seed)
        lent = hostile_arrow.random_strings(draw)
        outcomes[hostile_arrow.check(lent, draw.choice(VECTORIZERS))] += 1
    assert min(outcomes["taken"], outcomes["refused"], outcomes["no strings"]) > 100
