"""Writes format.jsonl: what CPython's format() answers.

Run with CPython 3.11: python3 format.py > format.jsonl

Each line is [kind, text, spec, ok, answer]: a value's type and its text, a
format spec, whether format() succeeded, and its result or "Class: message".
"""

import itertools
import json
import random

rng = random.Random(20240607)

INTS = [0, 1, -1, 7, 42, -42, 65, 255, 999, 1000, -1000, 8364, 55295, 65536, 123456, 1114111,
        1114112, 1234567, -9876543, 2**31, -2**31, 2**53 + 1, 2**63 - 1, -2**63, 2**63, 10**18,
        -10**21, 2**100, 10**40 + 7, 2**1024 - 2**970, 2**1024, -10**400, 10**4299, 10**4300, -10**4400]
FLOATS = ["0.0", "-0.0", "1.0", "-1.0", "0.5", "1.5", "2.5", "0.1", "-0.1", "3.14159265358979", "0.001",
          "-0.004", "0.0001", "0.00012345", "0.00001", "99.95", "999.9", "9999.5", "99999.5", "999999.5",
          "123456.789", "1234567.0", "-1234567.891", "1e15", "1e16", "1.5e16", "123456789012345680.0",
          "1e22", "1e23", "1e100", "-1e-7", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e308",
          "inf", "-inf", "nan", "0.125", "0.375", "1e-10", "123e-5"]
STRS = ["", "a", "abc", "hello, world", "naïve", "日本語", "😀x", "it's", "a\nb", "{}", "e\u0301"]
OTHERS = {"list": [[], [1, "x", None]], "dict": [{}, {"a": [1, 2.0]}]}

FILLS = ["", "", "", "", "*", "0", "é", "😀", "<", "=", "{", " "]
ALIGNS = ["", "", "", "<", ">", "^", "="]
SIGNS = ["", "", "", "+", "-", " "]
WIDTHS = ["", "", "1", "2", "4", "5", "6", "8", "9", "12", "13", "20", "33"]
GROUPS = ["", "", "", ",", "_"]
PRECISIONS = ["", "", "", ".0", ".1", ".2", ".3", ".6", ".17", ".25", ".400"]
KINDS = ["", "", "b", "c", "d", "e", "E", "f", "F", "g", "G", "n", "o", "s", "x", "X", "%"]


def spec():
    align = rng.choice(ALIGNS)
    fill = rng.choice(FILLS) if align else ""
    return "".join([fill, align, rng.choice(SIGNS), rng.choice(["", "", "", "", "z"]),
                    rng.choice(["", "", "", "#"]), rng.choice(["", "", "0"]), rng.choice(WIDTHS),
                    rng.choice(GROUPS), rng.choice(PRECISIONS), rng.choice(KINDS)])


ODD = ["", " ", "  ", "+", "-", "z", "#", "0", "00", "000", "010", "0=5", "=05", "<05", ">05", "^05", "<<", "<<<", "<<5",
       ".", ".f", "5.", "5.d", ",", "_", ",,", "__", ",_", "_,", "5,_", "5_,", ",.2f", "_.2f", "0,", "09,", "010,",
       "011,", "012,", "013,", "012_x", "013_b", "#012_x", "+#012_X", ",x", ",b", ",c", "_c", ",n", "_n", ",s", "_s",
       ",%", "_%", "q", "é", ",é", "\n", ">>>", "dd", "5dd", "d5", "+c", "#c", ".2c", "zd", "zc", "z.0f", "z.1f",
       "z.2e", "z", "zg", "z%", "+z.0f", " z.1f", "z+", "#.0f", "#.0e", "#.0g", "#.3g", "#g", "#", "#d", "#b", "#o",
       "#x", "#X", "#.0", "#.1", ".0", ".1", ".2", ".5", ".16", ".17", ".0%", "#.0%", ".1%", "{}", "}", "{", "!r",
       "s", "10s", ">10s", "^10s", "=10s", ".2s", ".0s", "10.2s", "010s", "010", "\u0665", "\u0663.\u0661", "5\x00",
       "*^9", "*^10", "0^10", "0>10", "0<10", "0=10", "0=10,", "x=12,", "日<7", "日=7,.1f"]


def answer(value, s):
    try:
        return True, format(value, s)
    except Exception as e:  # every class is data here
        return False, f"{type(e).__name__}: {e}"


def emit(kind, text, value, s):
    ok, out = answer(value, s)
    if not ok and "precision too big" in out:
        return
    try:
        out.encode()
    except UnicodeEncodeError:
        return  # a lone surrogate, which our strings do not have
    print(json.dumps([kind, text, s, ok, out], ensure_ascii=False))


def values():
    for i in INTS:
        yield "int", hex(i), i
    for b in (True, False):
        yield "bool", str(b), b
    for f in FLOATS:
        yield "float", f, float(f)
    for s in STRS:
        yield "str", s, s
    yield "none", "", None
    for kind, list_ in OTHERS.items():
        for v in list_:
            yield kind, json.dumps(v), v


def main():
    all_values = list(values())
    small = [v for v in all_values if v[0] != "int" or abs(v[2]) < 2**70]
    for (kind, text, v), s in itertools.product(small, ODD):
        if rng.random() < 0.6:
            emit(kind, text, v, s)
    for kind, text, v in all_values:
        if kind == "int" and abs(v) > 2**70:
            for s in ["", "d", "n", "c", "e", ",", "g", "s", "E"]:
                emit(kind, text, v, s)
    for _ in range(6000):
        emit(*rng.choice(small), spec())
    for _ in range(2000):  # floats of every size, for rounding
        f = rng.choice([rng.uniform(-1, 1), rng.uniform(-1e6, 1e6), rng.lognormvariate(0, 60),
                        round(rng.uniform(-1000, 1000), 2), rng.randrange(-10**6, 10**6) / 8])
        emit("float", repr(f), f, spec())


main()
