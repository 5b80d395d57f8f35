"""Normal forms of texts: NFC, NFKC, and "plain", which makes texts that look alike equal.

The forms follow Unicode 14.0, the version of the oldest supported Python. The data of the running
Python, whose Unicode may be newer, can be used for the characters of 14.0: their normal forms and
case folding are the same in all later versions
(https://www.unicode.org/policies/stability_policy.html). Newer characters stay unchanged.
Categories may change between versions, so punctuation is a list here.
"""

import unicodedata
from functools import cache, partial
from typing import Any

from sparsemaps._loops import text as _text
from sparsemaps._tools import _checks

FORMS = ("nfc", "nfkc", "plain")

_CHANGING = """
41-5a a0-24e 2b0-376 37a-37f 384-38a 38c 38e-3a1 3a3-52e 531-556 587 591-5c7 610-678 6c0-6ed
711-74a 7eb-7f3 7fd-82d 859-85b 898-95f 9bc 9cb-9cd 9dc-9dd 9df 9fe a33 a36 a3c a4d a59-a5b
a5e abc acd b3c b48 b4b-b4d b5c-b5d b94 bca-bcd c3c c48 c4d c55-c56 cbc-cc0 cc7-cc8 cca-ccd
d3b-d3c d4a-d4d dca dda-dde e33-e3a e48-e4b eb3-eba ec8-ecb edc-edd f0c-f43 f4d-f69 f71-f93
f9d-fb9 fc6 1026-103a 108d-10c5 10c7 10cd 10fc 135d-135f 13f8-13fd 1714-1715 1734 17d2-17dd
18a9 1939-193b 1a17-1a18 1a60-1a7c 1a7f 1ab0-1ace 1b06-1b44 1b6b-1b73 1baa-1bf3 1c37
1c80-1c88 1c90-1cba 1cbd-1cbf 1cd0-1cf9 1d2c-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57
1f59 1f5b 1f5d 1f5f-1f7d 1f80-1fb4 1fb6-1fc4 1fc6-1fd3 1fd6-1fdb 1fdd-1fef 1ff2-1ff4
1ff6-1ffe 2000-205f 2070-2071 2074-208e 2090-209c 20a8 20d0-20f0 2100-2189 219a-232a
2460-24ea 2a0c 2a74-2a76 2adc 2c00-2cf2 2d6f 2d7f 2de0-2dff 2e9f 2ef3 2f00-2fd5 3000-303a
304c-3094 3099-30ff 3131-318e 3192-319f 3200-321e 3220-33ff a640-a69f a6f0-a6f1 a722-a7c9
a7d0 a7d6-a7d8 a7f2-a82c a8c4 a8e0-a953 a9b3-a9c0 aab0-aac1 aaf6 ab5c-ab69 ab70-abed
f900-fa6d fa70-fad9 fb00-fb06 fb13-fb17 fb1d-fb36 fb38-fb3c fb3e fb40-fb41 fb43-fb44
fb46-fbb1 fbd3-fd8f fd92-fdc7 fdf0-fe19 fe20-fe52 fe54-fe66 fe68-fe6b fe70-fe74 fe76-fefc
ff01-ffbe ffc2-ffc7 ffca-ffcf ffd2-ffd7 ffda-ffdc ffe0-ffe6 ffe8-ffee 101fd 102e0
10376-1037a 10400-10427 104b0-104d3 10570-1057a 1057c-1058a 1058c-10592 10594-10595
10781-10785 10787-107b0 107b2-107ba 10a0d-10a0f 10a38-10a3a 10a3f 10ae5-10ae6 10c80-10cb2
10d24-10d27 10eab-10eac 10f46-10f50 10f82-10f85 11046 11070 1107f-110ba 11100-11134 11173
111c0-111ca 11235-11236 112e9-112ea 1133b-1133c 1134b-1134d 11366-1136c 11370-11374
11442-11446 1145e 114bb-114c3 115ba-115c0 1163f 116b6-116b7 1172b 11839-1183a 118a0-118bf
11938 1193d-11943 119e0 11a34-11a47 11a99 11c3f 11d42-11d45 11d97 16af0-16af4 16b30-16b36
16e40-16e5f 16ff0-16ff1 1bc9e 1d15e-1d1c0 1d242-1d244 1d400-1d454 1d456-1d49c 1d49e-1d49f
1d4a2 1d4a5-1d4a6 1d4a9-1d4ac 1d4ae-1d4b9 1d4bb 1d4bd-1d4c3 1d4c5-1d505 1d507-1d50a
1d50d-1d514 1d516-1d51c 1d51e-1d539 1d53b-1d53e 1d540-1d544 1d546 1d54a-1d550 1d552-1d6a5
1d6a8-1d7cb 1d7ce-1d7ff 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a
1e130-1e136 1e2ae 1e2ec-1e2ef 1e8d0-1e8d6 1e900-1e94a 1ee00-1ee03 1ee05-1ee1f 1ee21-1ee22
1ee24 1ee27 1ee29-1ee32 1ee34-1ee37 1ee39 1ee3b 1ee42 1ee47 1ee49 1ee4b 1ee4d-1ee4f
1ee51-1ee52 1ee54 1ee57 1ee59 1ee5b 1ee5d 1ee5f 1ee61-1ee62 1ee64 1ee67-1ee6a 1ee6c-1ee72
1ee74-1ee77 1ee79-1ee7c 1ee7e 1ee80-1ee89 1ee8b-1ee9b 1eea1-1eea3 1eea5-1eea9 1eeab-1eebb
1f100-1f190 1f200-1f202 1f210-1f23b 1f240-1f248 1f250-1f251 1fbf0-1fbf9 2f800-2fa1d
"""
"""Ranges that include all characters of Unicode 14.0 that a form or case folding changes, and all
combining marks, except Hangul."""

_PUNCTUATION = """
21-23 25-2a 2c-2f 3a-3b 3f-40 5b-5d 5f 7b 7d a1 a7 ab b6-b7 bb bf 37e 387 55a-55f 589-58a
5be 5c0 5c3 5c6 5f3-5f4 609-60a 60c-60d 61b 61d-61f 66a-66d 6d4 700-70d 7f7-7f9 830-83e 85e
964-965 970 9fd a76 af0 c77 c84 df4 e4f e5a-e5b f04-f12 f14 f3a-f3d f85 fd0-fd4 fd9-fda
104a-104f 10fb 1360-1368 1400 166e 169b-169c 16eb-16ed 1735-1736 17d4-17d6 17d8-17da
1800-180a 1944-1945 1a1e-1a1f 1aa0-1aa6 1aa8-1aad 1b5a-1b60 1b7d-1b7e 1bfc-1bff 1c3b-1c3f
1c7e-1c7f 1cc0-1cc7 1cd3 2010-2027 2030-2043 2045-2051 2053-205e 207d-207e 208d-208e
2308-230b 2329-232a 2768-2775 27c5-27c6 27e6-27ef 2983-2998 29d8-29db 29fc-29fd 2cf9-2cfc
2cfe-2cff 2d70 2e00-2e2e 2e30-2e4f 2e52-2e5d 3001-3003 3008-3011 3014-301f 3030 303d 30a0
30fb a4fe-a4ff a60d-a60f a673 a67e a6f2-a6f7 a874-a877 a8ce-a8cf a8f8-a8fa a8fc a92e-a92f
a95f a9c1-a9cd a9de-a9df aa5c-aa5f aade-aadf aaf0-aaf1 abeb fd3e-fd3f fe10-fe19 fe30-fe52
fe54-fe61 fe63 fe68 fe6a-fe6b ff01-ff03 ff05-ff0a ff0c-ff0f ff1a-ff1b ff1f-ff20 ff3b-ff3d
ff3f ff5b ff5d ff5f-ff65 10100-10102 1039f 103d0 1056f 10857 1091f 1093f 10a50-10a58 10a7f
10af0-10af6 10b39-10b3f 10b99-10b9c 10ead 10f55-10f59 10f86-10f89 11047-1104d 110bb-110bc
110be-110c1 11140-11143 11174-11175 111c5-111c8 111cd 111db 111dd-111df 11238-1123d 112a9
1144b-1144f 1145a-1145b 1145d 114c6 115c1-115d7 11641-11643 11660-1166c 116b9 1173c-1173e
1183b 11944-11946 119e2 11a3f-11a46 11a9a-11a9c 11a9e-11aa2 11c41-11c45 11c70-11c71
11ef7-11ef8 11fff 12470-12474 12ff1-12ff2 16a6e-16a6f 16af5 16b37-16b3b 16b44 16e97-16e9a
16fe2 1bc9f 1da87-1da8b 1e95e-1e95f
"""
"""Ranges of the characters of category P (punctuation) in Unicode 14.0."""

_SPACES = """
9-d 1c-20 85 a0 1680 2000-200a 2028-2029 202f 205f 3000
"""
"""Ranges of the characters for which `str.isspace` is true."""


_IGNORABLE = """
ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e 2060-206f 3164 fe00-fe0f feff ffa0
fff0-fff8 1bca0-1bca3 1d173-1d17a e0000-e0fff
"""
"""Ranges of the characters with the property Default_Ignorable_Code_Point in Unicode 14.0
(DerivedCoreProperties.txt): 4,174 invisible characters."""


def normalize(text: str, form: str = "plain") -> str:
    """Return the normal form of a text, in time linear in its length.

    Parameters
    ----------
    text : str
    form : {"nfc", "nfkc", "plain"}, default="plain"
        "nfc" is Unicode's normal form NFC, which composes characters and their marks if possible.
        "nfkc" is NFKC, which also replaces variants of characters (other widths, ligatures) by
        plain characters. "plain" is NFKC with case folded; it removes Unicode's default-ignorable
        characters (soft hyphens, joiners, direction marks, variation selectors), as NFKC_Casefold
        does, and replaces each run of punctuation and whitespace by one space.

    Returns
    -------
    text : str

    Raises
    ------
    ValueError
        If `form` is not allowed.

    Notes
    -----
    Forms follow Unicode 14.0 for any version of Python. Newer characters stay unchanged.

    References
    ----------
    Unicode Standard Annex 15, "Unicode normalization forms". The Unicode Standard, 3.13, "Default
    case algorithms": NFKC_Casefold.

    Examples
    --------
    >>> from sparsemaps.text import normalize
    >>> normalize("\u201cCafe\u0301\u201d, no.\u00a0\uff15: ﬁne")
    ' café no 5 fine'
    >>> normalize("Cafe\u0301", "nfc")
    'Café'
    """
    _checks.check_choice("form", form, FORMS)
    if form != "plain" and text.isascii():
        return text
    return _normalizer(form)(text)


@cache
def _normalizer(form: str) -> Any:
    """Return the compiled normalizer with its tables."""
    changing = _characters(_CHANGING)
    blanks: frozenset[str] = frozenset()
    dropped = blanks
    if form == "plain":
        blanks = _characters(_PUNCTUATION) | _characters(_SPACES)
        dropped = _characters(_IGNORABLE)
    decomposed: Any = "NFD" if form == "nfc" else "NFKD"
    composed: Any = "NFC" if form == "nfc" else "NFKC"

    def decompose(character: str) -> tuple[str, str]:
        """Return the decomposition of a character, and its normal form if no mark follows."""
        if character in dropped:
            return "", ""
        if character not in changing:
            return character, character
        parts = unicodedata.normalize(decomposed, character)
        if form != "plain":
            return parts, unicodedata.normalize(composed, character)
        folded = "".join(c if c == _IOTA_BELOW else c.casefold() for c in parts)
        alone = unicodedata.normalize(composed, parts.casefold())
        return unicodedata.normalize(decomposed, folded), alone

    pairs = {}
    for character in changing:
        pair = unicodedata.decomposition(character).split()
        if len(pair) == 2 and not pair[0].startswith("<"):
            first, second = (chr(int(code, 16)) for code in pair)
            if unicodedata.normalize("NFC", first + second) == character:
                pairs[first, second] = character
    return _text.Normalizer(
        decompose=decompose,
        special=changing | blanks | dropped,
        pairs=pairs,
        combining_class=lambda c: unicodedata.combining(c) if c in changing else 0,
        is_blank=blanks.__contains__,
        folds=form == "plain",
    )


_IOTA_BELOW = "\u0345"
"""The only mark that case folding turns into a letter. It stays a mark until marks have been
ordered."""


def _characters(ranges: str) -> frozenset[str]:
    found: set[str] = set()
    for item in ranges.split():
        first, _, last = item.partition("-")
        found.update(map(chr, range(int(first, 16), int(last or first, 16) + 1)))
    return frozenset(found)


# ---- accents -------------------------------------------------------------------------------------


class _Bare(dict[int, str]):
    """A map from the code of a character to its letters without accents.

    scikit-learn decomposes a text, orders its marks, which takes quadratic time, and drops the
    marks. Decomposing each character alone gives the same letters in the same order.
    """

    def __init__(self, is_ascii: bool) -> None:
        super().__init__()
        self._is_ascii = is_ascii

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFKD", chr(code))
        if self._is_ascii:
            bare = parts.encode("ascii", "ignore").decode()
        else:
            bare = "".join(part for part in parts if not unicodedata.combining(part))
        self[code] = bare
        return bare


def _without_accents(text: str, bare: _Bare) -> str:
    return text if text.isascii() else text.translate(bare)


ACCENTS = {
    name: partial(_without_accents, bare=_Bare(is_ascii=name == "ascii"))
    for name in ("ascii", "unicode")
}
"""Functions that remove accents like scikit-learn's, but in linear time."""
