"""Values of the fields of records: what each kind takes, and what it refuses."""

import numpy as np
import pytest

from sparsemaps.records import _fields
from sparsemaps.records._fields import BadRecord, Fields, is_weight, number_in


def given(**more):
    return Fields("text", "label", "id", records=False, key="key", weight="weight", **more)


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (1.5, 1.5), (2**53 + 1, complex(2.0**53, 1.0)),
        (2**120 + 2**60 + 1, BadRecord), (-5, -5.0), (True, BadRecord), ("1", BadRecord),
        ([1], BadRecord), (10**400, BadRecord),
    ],
)  # fmt: skip
def test_keys(value, parts):
    if parts is BadRecord:
        with pytest.raises(BadRecord):
            given().check_key(value)
    else:
        assert given().check_key(value) == parts


def test_no_key():
    assert np.isnan(given().check_key(None))


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ([2.0, 1, 2], (2.0, 1.0)), (["b", "a", "b"], ("b", "a")), ([True, False], (True, False)),
        ([], ()), ([1, "a"], BadRecord), ([True, 1], BadRecord), ([True, "true"], BadRecord),
        ([None], BadRecord), ([[1]], BadRecord), (2**64, BadRecord),
    ],
)  # fmt: skip
def test_labels(label, found):
    if found is BadRecord:
        with pytest.raises(BadRecord):
            given().check_label(label)
    else:
        labels = given().check_label(label)
        assert labels == found
        assert list(map(type, labels)) == list(map(type, found))


@pytest.mark.parametrize(
    ("number", "is_one"),
    [
        (0, True), (0.5, True), (2**53, True), (2**53 + 1, False), (2**60, True), (1e75, True),
        (1.1e75, False), (-1, False), (-0.0, True), (float("nan"), False), (float("inf"), False),
        (10**400, False),
    ],
)  # fmt: skip
def test_weights(number, is_one):
    assert is_weight(number) is is_one


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1), ("-1.5e3", -1500.0), ("18446744073709551615", 2**64 - 1), ("0", 0), ("1e5", 1e5),
        *((text, None) for text in ("007", "+1", "18446744073709551616", "1e999", "", "nan", "1.")),
        *((text, None) for text in ("9" * 5000, "1." + "0" * 400, "\N{ARABIC-INDIC DIGIT ONE}")),
    ],
)  # fmt: skip
def test_numbers_in_texts(text, number):
    found = number_in(text)
    assert found == number
    assert type(found) is type(number)


def test_numbers_that_a_reader_has_rounded():
    for value in (2.0**63, -(2.0**63), [1, 2.0**64]):
        assert _fields._may_be_rounded(value)
    for value in (2.0**62, 2**70, "1e99", [1.5], None):
        assert not _fields._may_be_rounded(value)
