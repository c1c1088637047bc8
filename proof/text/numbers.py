"""The numbers of prose, in one form for both languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
MONTH = re.compile(rf"(?<=\d )(?:{'|'.join(MONTHS)})\b|\b(?:{'|'.join(MONTHS)})(?= \d)")
SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
NUMBER = re.compile(
    r"""(?<![A-Za-z_\d.])(?P<digits>\d{1,3}(?:[,\u2009\u202f]\d{3})+(?!\d)|\d+)(?P<part>(?:\.\d+)*)
    (?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\^\{?-?\d+|\*\*-?\d+|[eE][-+]?\d+(?![A-Za-z]))?
    (?:\s?(?P<large>万亿|[百千]?万|[十百千]?亿|thousand\b|million\b|billion\b|trillion\b))?""",
    re.VERBOSE,
)
LARGE = {
    "万": 10**4,
    "百万": 10**6,
    "千万": 10**7,
    "亿": 10**8,
    "十亿": 10**9,
    "百亿": 10**10,
    "千亿": 10**11,
    "万亿": 10**12,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}


def numbers(line: str) -> Iterator[str]:
    """The numbers of one line of prose in one form: 1,823 → 1823, 1.5 万 → 15000, 2³¹ → 2^31, May 5
    → 5 5.
    """
    line = line.translate(FULL_WIDTH)
    line = MONTH.sub(lambda match: str(MONTHS.index(match[0]) + 1), line)
    line = re.sub(r"^[ \t>]*\d+[.)][ \t]", "", line)  # the marker of an ordered list
    for match in NUMBER.finditer(line):
        if re.search(r"[A-Za-z][A-Za-z0-9.]*-$", line[max(0, match.start() - 40) : match.start()]):
            continue  # part of a name: Qwen2.5-7B
        digits = re.sub(r"\D", "", match["digits"])
        if match["part"].count(".") > 1:
            yield digits + match["part"]  # a version
            continue
        value = Fraction(digits + match["part"]) * LARGE.get(match["large"] or "", 1)
        text = str(value.numerator) if value.denominator == 1 else str(float(value))
        power = (match["power"] or "").translate(SUPERSCRIPT)
        yield text + re.sub(r"^(\^\{?|\*\*|(?=-?\d))", "^", power)
