"""Words whose hash is a given number."""

import itertools


def word_of_hash(wanted):
    """A word of eight small letters and digits whose 32-bit MurmurHash3 is `wanted`."""
    bits = 2**32 - 1

    def inverse(factor):
        return pow(factor, -1, 2**32)

    def rotated(x, by):
        return (x << by | x >> (32 - by)) & bits

    def mixed(block):
        return rotated(block * 0xCC9E2D51 & bits, 15) * 0x1B873593 & bits

    hashed = wanted ^ wanted >> 16
    hashed = hashed * inverse(0xC2B2AE35) & bits
    hashed ^= hashed >> 13 ^ hashed >> 26
    hashed = hashed * inverse(0x85EBCA6B) & bits
    hashed = hashed ^ hashed >> 16 ^ 8
    after = rotated((hashed - 0xE6546B64) * inverse(5) & bits, 19)
    for first in itertools.product(b"abcdefghijklmnopqrstuvwxyz", repeat=4):
        block = int.from_bytes(first, "little")
        before = (rotated(mixed(block), 13) * 5 + 0xE6546B64) & bits
        second = rotated((after ^ before) * inverse(0x1B873593) & bits, 17) * inverse(0xCC9E2D51)
        word = bytes(first) + (second & bits).to_bytes(4, "little")
        if word.isalnum() and word.islower():
            return word.decode()
    raise AssertionError
