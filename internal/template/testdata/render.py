"""Writes render.jsonl: what CPython's str.format makes of templates.

Run with CPython 3.11: python3 render.py > render.jsonl

The first line is {"state": …, "steps": …, "extra": …}; each further line is
[template, ok, answer, missing]: whether str.format succeeded, its result or
"Class: message", and whether a field was missing.

The values are wrapped so that str.format sees what templates promise: keys as
attributes, indexes from the end, nothing for what is missing, bare names that
stay as written, and no names that start with "_".
"""

import json
import random

rng = random.Random(7)

STATE = {
    "name": "Ada", "text": "naïve 日本 😀", "empty": "", "quote": "it's \"so\"\n", "n": 42, "neg": -7, "big": 10**30,
    "pi": 3.14159, "one": 1.0, "yes": True, "no": False, "none": None, "width": 12, "prec": 2, "fill": "*^9",
    "spec": ">{width}", "user": {"name": "Bo", "tags": ["x", "y's", None], "a b": 1, "items": [1], "get": "G"},
    "items": [{"name": "first"}, {"name": "last", "n": [1, 2.5, True]}], "matrix": [[1, 2], [3, 4]], "list": [],
    "keys": "K", "X-Id": "id-7", "ключ": "значение",
}
STEPS = {"draft": {"output": "A draft.", "status": "success"},
         "fetch-2": {"output": {"status_code": 200, "body": "ok"}, "status": "success"}}
EXTRA = {"run_id": "r1", "name2": "extra", "n": 43}


class Refused(Exception):
    pass


def check(key):
    if isinstance(key, str) and key.startswith("_"):
        raise Refused(key)


class Nothing(str):
    """A missing value, or what a conversion makes of one."""

    def __getattribute__(self, key):
        check(key)
        return self

    def __getitem__(self, key):
        check(key)
        return self

    def __format__(self, spec):
        global misses
        misses += 1
        return ""

    def __str__(self):
        return Nothing()

    __repr__ = __str__


class Bare(str):
    """A missing bare name: prints as it was written."""

    def __getattribute__(self, key):
        check(key)
        return Bare(str.__str__(self) + "." + key)

    def __getitem__(self, key):
        check(key)
        return Bare(str.__str__(self) + f"[{key}]")

    def __format__(self, spec):
        global bares  # an empty spec has no colon here, so that {x:} can't be told from {x}
        bares += not spec
        return "{" + str.__str__(self) + (":" + spec if spec else "") + "}"

    def __str__(self):
        return Bare(str.__str__(self) + "!s")

    def __repr__(self):
        return Bare(str.__str__(self) + "!r")


def wrap(v):
    for kind, base in KINDS.items():
        if type(v) is base:
            return kind(v)
    return v


def missing_attr(self, key):
    check(key)
    return Nothing()


def make(base, getitem, getattribute=missing_attr):
    return type(base.__name__, (base,), {"__getitem__": getitem, "__getattribute__": getattribute})


def at_key(self, key):
    check(key)
    return wrap(dict.__getitem__(self, str(key))) if str(key) in dict.keys(self) else Nothing()


def at_index(base):
    def get(self, key):
        check(key)
        if isinstance(key, str):
            if not (key.startswith("-") and key[1:].isdecimal()):
                return Nothing()
            key = int(key)
        try:
            return wrap(base.__getitem__(self, key))
        except IndexError:
            return Nothing()

    return get


KINDS = {make(dict, at_key, at_key): dict, make(list, at_index(list)): list, make(str, at_index(str)): str,
         make(int, missing_attr): int, make(float, missing_attr): float}


# bool and NoneType have no subclasses, so that their lack of attributes shows.
UNWRAPPED = ("AttributeError: ", "TypeError: 'bool' object is not sub", "TypeError: 'NoneType' object is not sub")


class Names:
    def __getitem__(self, key):
        check(key)
        if key == "state":
            return wrap(STATE)
        if key == "steps":
            return wrap(STEPS)
        if key in EXTRA:
            return wrap(EXTRA[key])
        return wrap(STATE[key]) if key in STATE else Bare(key)


def render(template):
    global misses, bares
    misses = bares = 0
    try:
        return True, template.format_map(Names())
    except Exception as e:
        return False, f"{type(e).__name__}: {e}"


ROOTS = ["state", "state", "state", "state", "steps", "steps.draft", "steps.fetch-2", "steps.gone", "steps[draft]",
         "user", "items", "name", "n", "run_id", "name2", "unknown", "also unknown", '"json"', "ключ", "keys", "_x"]
STATE_KEYS = list(STATE) + ["gone", "nope", "_secret", "__class__"]
TAILS = ["", "", "", "", ".name", ".output", ".status", ".output.status_code", ".output.body", "[0]", "[1]", "[-1]",
         "[-2]", "[9]", "[-9]", "[0].name", "[1].n", "[1].n[1]", "[-1].n[-1]", "[name]", "[a b]", ".tags", ".tags[1]",
         ".items", ".items[0]", ".get", ".upper", ".__class__", "[__class__]", "._x", ".x.y.z", "[x][y]", "[0][1]"]
CONVS = ["", "", "", "", "!r", "!s", "!a", "!q", "!", "!rx"]
SPECS = ["", "", "", "", ":", ":>8", ":<8", ":^9", ":*^9", ":08", ":.2f", ":,", ":d", ":x", ":.3", ":10.2", ":>{state.width}",
         ":{state.fill}", ":{state.width}.{state.prec}f", ":{width}", ":>{n}", ":{state.gone}", ":{state.gone}>{width}",
         ":{state._x}", ":{_x}", ":{state.n:{width}}", ":{", ":}}", ":{{}}", ":{0}", ":{}", ":{state.user.name!r}", ":q"]
TEXTS = ["", "", "Hello ", "\n", "{{", "}}", "{{literal}}", ": ", "é", "{", "}", "}}}", "{{{", "\t日本", "a.b[0]", "!r", "$", "'"]
ODD = ["{}", "{0}", "{1}", "{0.x}", "{:>8}", "{!r}", "{.x}", "{[0]}", "{ }", "{state", "{state.", "{state.}", "{state..x}",
       "{state[}", "{state[]}", "{state[0]x}", "{state[name}", "{state{name}", "{state[name]]}", "{state.user[tags][0]}",
       "{state.user[tags][99999999999999999999]}", "{state!}", "{state!r:}", "{state.name!!r}", "{state.name!r!s}",
       "{}{0}", "{state.name}}", "{{state.name}", "{{{state.name}}}", "{{{{state.name}}}}", "{state.n:{state.width}.{state.gone}}",
       "{state.name:{state.width}}", "{state.n:{state.width:{state.n}}}", '{"a": 1}', '{"a": [1, 2]}', '{"a.b": "c"}',
       '{"a": "{{x}}"}', '{"a": {"b": 1}', "{state}", "{steps}", "{state.items}", "{state.user}", "{state.user.tags}",
       "{state.user!r}", "{state.user:>5}", "{state.none:>5}", "{state.none}", "{state.yes} {state.no:d}", "{state.list[0]}",
       "{state[X-Id]}", "{state.X-Id}", "{state['name']}", "{state.text[-1]}", "{state.text[6]}", "{state.name[0]}", "{٣}",
       "{state.items[٠].name}", "", "plain", "{{}}", "}{", "{{}", "{}}", "{state.quote!r}", "{state.text!a}", "{state.quote}"]


def field():
    root = rng.choice(ROOTS)
    key = ""
    if root == "state":
        key = rng.choice(STATE_KEYS)
        key = f"[{key}]" if rng.random() < 0.2 else "." + key
    bare = root in ("unknown", "also unknown", '"json"')
    conv = rng.choice(CONVS[:6] if bare else CONVS) if rng.random() < 0.4 else ""
    spec = rng.choice(SPECS if not bare else SPECS[:4] + SPECS[5:16]) if rng.random() < 0.5 else ""
    return "{" + root + key + rng.choice(TAILS) + conv + spec + "}"


def template():
    out = "".join(rng.choice(TEXTS[:9] + TEXTS[13:] if rng.random() < 0.95 else TEXTS) + field()
                  for _ in range(rng.choice([1, 1, 1, 2, 3])))
    if rng.random() < 0.1:  # break something
        i = rng.randrange(len(out))
        out = out[:i] + rng.choice(["", "{", "}", "[", "]", "!", ":", "."]) + out[i + rng.choice([0, 1]):]
    return out


def main():
    dump = lambda x: print(json.dumps(x, ensure_ascii=False))
    dump({"state": STATE, "steps": STEPS, "extra": EXTRA})
    for t in ODD + [template() for _ in range(4000)]:
        ok, answer = render(t)
        if not answer.startswith(UNWRAPPED) and "<class" not in answer and not (":}" in t and bares):
            dump([t, ok, answer, ok and misses > 0])


main()
