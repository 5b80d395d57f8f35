"""Arrow's structures of strings whose numbers and pointers lie, and what they hold.

`Lent` shares strings as a library does, by the capsules of Arrow's C interfaces, and changes fields
of the structures. Lies that nobody can see, as the interface does not tell the sizes of most
buffers, are not made: a last offset, or a size, that is beyond its buffer but might be right.
"""

import ctypes
import struct

FORMATS = ["u", "U", "vu", "z", "Z", "vz"]
MOST = 2**48
ROOM = 64
"""Strings that each buffer has room for, so that wrong offsets and lengths up to a third of it read
nothing beyond."""


def structure(name, fields):
    kind = type(name, (ctypes.Structure,), {})
    kind._fields_ = [*fields, ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]
    return kind


WORD, ADDRESS = ctypes.c_int64, ctypes.c_void_p
Schema = structure(
    "Schema",
    [("format", ADDRESS), ("name", ADDRESS), ("metadata", ADDRESS), ("flags", WORD),
     ("n_children", WORD), ("children", ADDRESS), ("dictionary", ADDRESS)],
)  # fmt: skip
Array = structure(
    "Array",
    [("length", WORD), ("null_count", WORD), ("offset", WORD), ("n_buffers", WORD),
     ("n_children", WORD), ("buffers", ADDRESS), ("children", ADDRESS), ("dictionary", ADDRESS)],
)  # fmt: skip
Stream = structure(
    "Stream", [("get_schema", ADDRESS), ("get_next", ADDRESS), ("get_last_error", ADDRESS)]
)
Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
Told = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Lent:
    """Strings in Arrow's structures; `schema`, `array` and `stream` may be changed before use.

    Parameters
    ----------
    format : str
        One of FORMATS.
    valid, offsets, data : bytes, sequence of int, bytes
        The buffers; of views, `offsets` are numbers of 32 bits, four for each view, and there is
        one buffer of data.
    streamed : bool
        Whether they are shared as a stream, of `n_chunks` times the array.
    """

    def __init__(self, format, offsets, data, valid=b"\xff" * 8, streamed=False, n_chunks=1):
        self.released = []  # names of structures, in the order of their release
        self.format, self.streamed, self.n_left = format, streamed, n_chunks
        number = "q" if format in ("U", "Z") else "i"
        offsets = struct.pack(f"{len(offsets)}{number}", *offsets).ljust(16 * ROOM, b"\0")
        self.contents = [valid, offsets, data]
        if format[0] == "v":
            self.contents.append(struct.pack("q", len(data)))
        self.buffers = [ctypes.create_string_buffer(part, len(part) + 1) for part in self.contents]
        self.addresses = (ADDRESS * len(self.buffers))(*map(ctypes.addressof, self.buffers))
        self.name = ctypes.create_string_buffer(format.encode(), 8)
        self.held = [self.releaser(kind) for kind in (Schema, Array, Stream)]
        release = [ctypes.cast(held, ADDRESS).value for held in self.held]
        self.schema = Schema(format=ctypes.addressof(self.name), release=release[0])
        self.array = Array(
            n_buffers=len(self.buffers), buffers=ctypes.addressof(self.addresses),
            release=release[1],
        )  # fmt: skip
        self.calls = [Get(self.give_schema), Get(self.give_next), Told(self.tell)]
        places = [ctypes.cast(call, ADDRESS).value for call in self.calls]
        self.stream = Stream(*places, release=release[2])
        self.error = self.error_of_next = 0
        if streamed:
            self.__arrow_c_stream__ = lambda requested_schema=None: capsule(
                self.stream, b"arrow_array_stream"
            )
        else:
            self.__arrow_c_array__ = lambda requested_schema=None: (
                capsule(self.schema, b"arrow_schema"), capsule(self.array, b"arrow_array"),
            )  # fmt: skip

    def releaser(self, kind):
        def release(address):
            self.released.append(kind.__name__)
            kind.from_address(address).release = None

        return Release(release)

    def give_schema(self, _, out):
        ctypes.memmove(out, ctypes.byref(self.schema), ctypes.sizeof(Schema))
        return self.error

    def give_next(self, _, out):
        if self.n_left > 0:
            ctypes.memmove(out, ctypes.byref(self.array), ctypes.sizeof(Array))
        self.n_left -= 1
        return self.error_of_next

    def tell(self, _):
        return ctypes.addressof(self.name)

    # What is shared, read by the words of Arrow's specification.

    def texts(self):
        """The strings as bytes, or None where a structure is not valid."""
        schema, array = self.schema, self.array
        if schema.release is None or schema.format is None:
            return None
        if self.streamed:
            stream = self.stream
            if None in (stream.release, stream.get_schema, stream.get_next) or self.error:
                return None
            if self.n_left <= 0 or array.release is None:  # a released array ends a stream
                return []
        if array.release is None:
            return None
        is_view = self.format[0] == "v"
        if not (0 <= array.length <= MOST and 0 <= array.offset <= MOST):
            return None
        if not -1 <= array.null_count <= array.length or array.n_children or array.dictionary:
            return None
        if array.n_buffers < 2 or (array.n_buffers != 3 and not is_view):
            return None
        if array.length == 0:
            return []
        if array.buffers is None or self.addresses[1] is None:
            return None
        if array.null_count > 0 and self.addresses[0] is None:
            return None
        if is_view and array.n_buffers > 3 and self.addresses[3] is None:
            return None
        texts = []
        for place in range(array.offset, array.offset + array.length):
            if array.null_count and self.addresses[0] and not self.is_valid(place):
                return None
            text = self.viewed(place) if is_view else self.between(place)
            if text is None:
                return None
            texts.append(text)
        return texts * (self.n_left if self.streamed else 1)

    def is_valid(self, place):
        return self.contents[0][place // 8] >> place % 8 & 1

    def between(self, place):
        size, number = (8, "q") if self.format in ("U", "Z") else (4, "i")

        def offset(at):
            return struct.unpack_from(number, self.contents[1], size * at)[0]

        end = offset(self.array.offset + self.array.length)
        if not 0 <= offset(place) <= offset(place + 1) <= end <= MOST:
            return None
        if end > 0 and self.addresses[2] is None:
            return None
        return self.contents[2][offset(place) : offset(place + 1)]

    def viewed(self, place):
        n, _, buffer, start = struct.unpack_from("4i", self.contents[1], 16 * place)
        if 0 <= n <= 12:
            return self.contents[1][16 * place + 4 : 16 * place + 4 + n]
        n_data = self.array.n_buffers - 3
        if n < 0 or not 0 <= buffer < n_data or start < 0:
            return None
        size = struct.unpack("q", self.contents[3])[0]
        if start + n > size or self.addresses[2] is None:
            return None
        return self.contents[2][start : start + n]


def capsule(held, name):
    return new_capsule(ctypes.addressof(held), name, None)


NUMBERS = [-(2**63), -(2**62), -1, 0, 1, 2, 3, 7, 20, MOST + 1, 2**59, 2**60 + 1, 2**62, 2**63 - 1]
LIES = {
    "schema": {"release": [None], "format": [None], "dictionary": [1]},
    "array": {
        "length": [n for n in NUMBERS if n <= 20 or n > MOST],
        "offset": [n for n in NUMBERS if n <= 20 or n > MOST],
        "null_count": NUMBERS,
        "n_children": NUMBERS,
        "n_buffers": [n for n in NUMBERS if n <= 3],
        "buffers": [None],
        "dictionary": [1],
        "release": [None],
    },
    "stream": {
        "release": [None], "get_schema": [None], "get_next": [None], "get_last_error": [None],
    },
}  # fmt: skip


def random_strings(draw):
    """A `Lent` with buffers of any content, of which some fields lie.

    `draw` is a `random.Random`.
    """
    format = draw.choice(FORMATS)
    data = bytes(draw.randrange(32, 127) for _ in range(draw.choice([0, 5, 60])))
    length, offset = draw.randrange(9), draw.randrange(9)
    n = ROOM if format[0] != "v" else 4 * ROOM
    if format[0] == "v":
        numbers = [draw.choice([0, 3, 12, 13, 40, -1, len(data)]) for _ in range(n)]
        for place in range(2, n, 4):
            numbers[place] = draw.choice([0, 0, 0, 1, -1, 2**31 - 1])
    elif draw.random() < 0.7:
        numbers = sorted(draw.randint(0, len(data)) for _ in range(n))
    else:
        numbers = [draw.choice([0, len(data) // 2, len(data), -1, -(2**31)]) for _ in range(n)]
    valid = bytes(draw.choice([255, 255, 255, 254, 90]) for _ in range(8))
    lent = Lent(format, numbers, data, valid, draw.random() < 0.4, draw.randrange(3))
    lent.array.length, lent.array.offset = length, offset
    lent.array.null_count = draw.choice([0, 0, -1])
    lent.error = draw.choice([0] * 9 + [5])
    for _ in range(draw.choice([0, 1, 1, 2])):
        name = draw.choice(["schema", "array", "array", "array", "stream"])
        field = draw.choice(list(LIES[name]))
        setattr(getattr(lent, name), field, draw.choice(LIES[name][field]))
    if draw.random() < 0.2:
        lent.addresses[draw.randrange(len(lent.addresses))] = None
    if format[0] == "v" and draw.random() < 0.2:
        size = draw.choice([-1, -(2**63), 0, 1, len(data) - 1])
        lent.contents[3] = struct.pack("q", size)
        ctypes.memmove(lent.buffers[3], lent.contents[3], 8)
    return lent


def check(lent, vectorizer):
    """Compare the rows of strings that are lent with those of equal bytes; which it was."""
    texts = None if lent.schema.dictionary else lent.texts()
    try:
        expected = None if texts is None else vectorizer.transform(texts)
    except UnicodeError:  # of views, numbers may be read as text
        expected = None
    try:
        found = vectorizer.transform(lent)
    except ValueError:
        assert expected is None, texts
        outcome = "refused"
    except TypeError:
        assert lent.schema.dictionary  # then it is iterated, which it cannot be
        outcome = "no strings"
    else:
        assert expected is not None, "it is taken, and not sound"
        assert found.shape == expected.shape
        assert (found != expected).nnz == 0
        outcome = "taken"
    assert max(lent.released.count(name) for name in ("Schema", "Stream")) <= 1
    if outcome == "taken" and texts:
        assert {"Schema", "Array"} <= set(lent.released)
    return outcome
