"""LIBSVM text to and from memory."""

from io import BytesIO

from hypothesis import settings
from hypothesis import strategies as st

from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file

fuzz = settings(max_examples=100, deadline=None)


def load(text, **options):
    return load_svmlight_file(BytesIO(text), **options)


def dumped(X, y, **options):
    file = BytesIO()
    dump_svmlight_file(X, y, file, **options)
    return file.getvalue()


finite = st.floats(allow_nan=False, allow_infinity=False)
