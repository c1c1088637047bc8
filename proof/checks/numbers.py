"""No page types a measured number: it cites a claim, or marks the number as given by someone else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from proof.book.model import Book
from proof.problem import Problem
from proof.text.documents import documents
from proof.text.markdown import CODE, MACRO, MATH

LATIN_UNIT = (
    r"[nmuµμ]s|s|secs?|seconds?|(?:milli|micro|nano)seconds?"  # time
    r"|[kKMGTP]i?B(?:/s|ps)?|[KMGT]?bps"  # size, bandwidth
    r"|[kKMGTPE](?:FLOP|OP)[Ss]?(?:/s)?|FLOP/s|FLOPS|[A-Za-z]+/s"  # rate
    r"|[kMG]Hz|k?W"  # clock, power
    r"|per[ ]?cent|percentage[ ]points?"
    r"|times(?=\s+(?:as|faster|slower|more|less|larger|smaller|higher|lower|the)\b)"
    r"|x(?=\s+(?:as|faster|slower|more|less|speed\w*|larger|smaller|the)\b)"
)
COUNTED = r"(?:two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|a[ ]hundred|a[ ]thousand)"
HAN_COUNT = "[一二两三四五六七八九十百千]+"
SPELLED = (  # a gain in words
    rf"(?:twice|thrice|half|{COUNTED}[ ]times)(?=[ ](?:as[ ](?:fast|slow|quick)|faster|slower|quicker|the[ ](?:speed|bandwidth)))"
    rf"|(?:twice|thrice|(?<=in[ ])half|(?<=takes[ ])half|{COUNTED}[ ]times)(?=[ ]the[ ]time\b)"
    rf"|{COUNTED}-?fold(?=[ ](?:faster|slower|gain|speed|improvement|increase))"
    r"|orders?[ ]of[ ]magnitude(?=[ ](?:as[ ](?:fast|slow)|faster|slower))"
    rf"|[快慢](?:了|上|出)?[ ]?(?:近|约|将近|整整)?(?:{HAN_COUNT}(?:倍|成|个?数量级)|好?几个数量级)"
    rf"|(?:提速|加速|(?:速度|性能|吞吐量?|带宽|效率)(?:提升|提高))(?:了)?{HAN_COUNT}(?:倍|成)|{HAN_COUNT}倍(?=的?(?:速度|加速|提速|带宽|收益)|[快慢])"
)
MEASURED = re.compile(
    rf"""(?<![A-Za-z0-9_.])(?P<number>\d(?:[\d,\u2009\u202f]{{0,40}}\d)?(?:\.\d+)?)
    (?: (?P<power>[eE][-−–]\d+)
      | \s?[万亿]?\s?[多余来]?\s?(?P<unit>[%‰倍㎲㎳㎱]|个百分点|[纳微毫]?秒|(?:{LATIN_UNIT})(?![A-Za-z0-9_]))
      | (?P<glued>x(?![A-Za-z0-9_]))
      | \s?(?P<times>[×✕✖](?!\s*(?:[\d({CODE}{MACRO}{MATH}]|[A-Zkmn](?![A-Za-z0-9]))))
    )
    | (?<![A-Za-z0-9_.,])(?P<small>10\s*(?:⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+|(?:\^|\*\*)\s*\{{?\s*[-−–]\s*\d+))
    | (?<![A-Za-z])(?P<spelled>(?i:{SPELLED}))
    | (?P<hundredth>百分之\s*[零〇一二两三四五六七八九十百点\d.]+)
    | (?<![\d{CODE}{MACRO}{MATH}A-Za-z)\]²³])(?:^|(?<=\s)|(?<=[\u3000-\u9fff，。：；（]))(?P<factor>[×✕✖]\d[\d.]*)
    """,
    re.VERBOSE | re.ASCII,
)
FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
EXTERNAL = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])*\](?=\(\s*<?https?:)")


def measured(line: str) -> Iterator[str]:
    """The numbers with a measured unit or form in one line of prose."""
    plain = line.translate(FULL_WIDTH)
    for match in MEASURED.finditer(plain):
        before = plain[max(0, match.start() - 40) : match.start()]
        if match["unit"] == "s" and match[0].endswith(
            match["number"] + "s"
        ):  # 0s and 1s, the 1990s, the 90s
            after_word = re.search(r"(?:\b(?:of|with|and|or|all|to|the|are|by)|,)\s$", before)
            if re.fullmatch(r"\d{4}", match["number"]) or (
                after_word and re.fullmatch(r"[01]|\d0", match["number"])
            ):
                continue
        if re.search(r"[A-Za-z][A-Za-z0-9]*-$", before) and not match[0].endswith("%"):
            continue  # a name: A100-80GB
        yield line[match.start() : match.end()].strip()


def typed(book: Book) -> Iterable[Problem]:
    """A number with a measured unit or form stands in prose."""
    for document in documents(book):
        written = document.markdown.text.split("\n")
        for number, line in document.markdown.lines():
            for cited in EXTERNAL.finditer(
                written[number - 1]
            ):  # the title of someone else's work keeps its numbers
                line = line[: cited.start()] + " " * len(cited[0]) + line[cited.end() :]
            for found in measured(line):
                yield Problem(
                    document.file,
                    document.at(number),
                    f"“{found}” is a measured number typed into prose",
                    'Cite the claim, {{ claim("…") }}; a number that is someone else\'s is {{ given("…", source="…") }}',
                )


def given_tally(book: Book) -> int:
    """How many numbers the pages mark as given, in both languages together."""
    return sum(call.name == "given" for document in documents(book) for call in document.calls)
