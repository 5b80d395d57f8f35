"""Texts of many scripts and with every character that is treated in a way of its own."""

import random

from _data.chance import SEED

CHARACTERS = [
    "abYZ  \t\n\r_1-'.",
    "éÀßŉİıΣσςﬁΩЯяȺĿ",  # small letters of more characters, of more bytes, by what follows
    "²Ⅷ٣",  # numbers that are no digits, digits that are not ASCII
    "語我",
    "कि",  # a letter and a mark
    "اب",
    "\u0301\u0345\u200d",
    "\x00\x1c\x1f\x7f\x85\xa0\u1680\u2028\u3000\ufeff",  # separators and what looks like one
    "𝒜😀\U00010400\U0010ffff",
]

WORDS = ["The", "quick", "brown", "Fox", "jumps", "over", "the", "lazy", "dog"]


def strange_texts(n, seed=0):
    """`n` texts of 0 to 300 of the characters, and some of ASCII alone."""
    draw = random.Random(SEED + seed)
    lengths = (0, 1, 2, 3, 7, 40, 300)
    texts = [
        "".join(draw.choice(draw.choice(CHARACTERS)) for _ in range(draw.choice(lengths)))
        for _ in range(n)
    ]
    return [*texts, *(" ".join(draw.choices(WORDS, k=k)) for k in range(0, 130, 10))]
