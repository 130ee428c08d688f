"""Writes values.jsonl and text.json: how CPython 3.11 prints values, and its text data.

Run in internal/python:  python3 testdata/values.py

values.jsonl: {j: a JSON value, s: str, r: repr, a: ascii} a line. text.json: for
each function of one code point, the SHA-256 of its results for all of them, in
order, each followed by a zero byte.
"""
import hashlib
import json
import random
import struct
import unicodedata

random.seed(3)
ALL = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def floats():
    yield from (0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1e15, 1e16, 9999999999999998.0, 1e-4, 9.999e-5, 1e-5, 1e22, 1e23,
                5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 123456789.125, 1e100, 3.0e-10, 1e21)
    for _ in range(250):
        f = struct.unpack("<d", struct.pack("<Q", random.getrandbits(64)))[0]
        if f == f and abs(f) != float("inf"):
            yield f
    for _ in range(150):
        yield round(random.uniform(-1e6, 1e6), random.randrange(8))
        yield random.uniform(-1, 1) * 10 ** random.randrange(-8, 20)


def ints():
    yield from (0, 1, -1, 2 ** 31, 2 ** 63 - 1, 2 ** 63, -2 ** 63, -2 ** 63 - 1, 10 ** 100, -10 ** 4000)
    for _ in range(60):
        yield random.getrandbits(random.randrange(1, 300)) * random.choice((1, -1))


def strings():
    yield from ("", "a", "it's", '"', "'\"", "\\", "\\'", "a\nb\rc\td", "\x00\x01\x7f\x80\x9f\xa0\xad", "äöü", "日本",
                "😀", "\u2028\u2029", "\ufeff", "e\u0301", "\U0010ffff", "\u200b", "\u202e", "\ue000", "\u0378", "'a'\"b\"")
    by_category = {}
    for c in ALL:
        by_category.setdefault(unicodedata.category(c), []).append(c)
    for cs in by_category.values():
        yield "".join(random.sample(cs, min(len(cs), 25)))
    for _ in range(80):
        yield "".join(random.choice(ALL) if random.random() < 0.4 else chr(random.randrange(128))
                      for _ in range(random.randrange(1, 12)))


FLOATS, INTS, STRINGS = list(floats()), list(ints()), list(strings())


def nested(depth):
    kind = random.random()
    if depth == 0 or kind < 0.3:
        return random.choice([None, True, False, random.choice(INTS[:9]), random.choice(FLOATS), random.choice(STRINGS)])
    if kind < 0.65:
        return [nested(depth - 1) for _ in range(random.randrange(4))]
    return {random.choice(STRINGS): nested(depth - 1) for _ in range(random.randrange(4))}


TEXT = {
    "repr": repr, "ascii": ascii, "upper": str.upper, "lower": str.lower, "title": str.title,
    "capitalize": str.capitalize, "casefold": str.casefold, "swapcase": str.swapcase,
    "final_sigma": lambda c: ("Σ" + c + "Σ" + c + "a" + c + "Σ").lower(),
    "isalpha": str.isalpha, "islower": str.islower, "isupper": str.isupper, "isdecimal": str.isdecimal,
    "isdigit": str.isdigit, "isnumeric": str.isnumeric, "isspace": str.isspace, "isprintable": str.isprintable,
    "isidentifier": str.isidentifier, "continues": lambda c: ("a" + c).isidentifier(),
    "decimal": lambda c: str(unicodedata.decimal(c, -1)), "strip": lambda c: (c + "x" + c).strip(),
}


def digest(fn):
    h = hashlib.sha256()
    for c in ALL:
        h.update(str(fn(c)).encode("utf-8") + b"\0")
    return h.hexdigest()


def main():
    values = [None, True, False, [], {}] + INTS + FLOATS + STRINGS + [nested(4) for _ in range(250)]
    with open("testdata/values.jsonl", "w", encoding="utf-8") as out:
        for v in values:
            print(json.dumps({"j": v, "s": str(v), "r": repr(v), "a": ascii(v)}, ensure_ascii=True), file=out)
    with open("testdata/text.json", "w", encoding="utf-8") as out:
        json.dump({name: digest(fn) for name, fn in TEXT.items()}, out, indent=1)
        out.write("\n")


main()
