"""Writes oracle.jsonl: what CPython 3.11 makes of many expressions.

Run in internal/expr:  python3 testdata/oracle.py

The first line is the state. Each other line is {e: expression} with either
{v: repr of the value, t: its type} or {x: exception, m: its message}. Python
itself evaluates everything but the three rules that are the language's own: an
attribute of a dict is its key, a missing key of a state's dict is None, and so
is all of a step that did not succeed.
"""
import ast
import itertools
import json
import random
import warnings

warnings.simplefilter("ignore")

STATE = {
    "category": "billing", "priority": 3, "zero": 0, "empty": "", "none": None, "yes": True, "no": False,
    "score": 0.75, "one": 1, "onef": 1.0, "big": 2 ** 70, "neg": -5, "huge": 1e300,
    "text": "  Hello, Wörld!\tTabs\n", "umlaut": "äöü", "emoji": "a😀b", "sigma": "ΑΣ ΟΔΥΣΣΕΥΣ",
    "subject": "RE: re: Invoice", "lines": "one\ntwo\r\nthree\u2028four", "number": " 42 ", "csv": "a,b,,c",
    "items": [1, 2.5, "three", None, [4, 5], {"six": 6}], "nothing": [], "words": ["to", "be", "or"],
    "nums": [3, 1, 2], "user": {"name": "Ada", "tags": ["x", "y"], "address": {"city": "London", "zip": None}},
    "order": {"items": ["pen"], "get": 1, "total": 9.99}, "void": {}, "with space": "spaced", "é": "accent",
}
STEPS = {"classify": {"output": {"label": "spam", "p": 0.9}, "status": "success"},
         "draft-2": {"output": "text", "status": "success"}, "gone": None}

Dict = type("dict", (dict,), {})  # a dict of the state, named as Python names its own


def model(v):
    if isinstance(v, dict):
        return Dict((k, model(e)) for k, e in v.items())
    return [model(e) for e in v] if isinstance(v, list) else v


def attr(o, name):
    return o.get(name) if isinstance(o, dict) else getattr(o, name)


def item(o, key):
    return o.get(key) if isinstance(o, Dict) else o[key]


def step_part(o, name):
    return None if o is None else o.get(name)


class Rules(ast.NodeTransformer):
    def visit_Call(self, n):
        if isinstance(n.func, ast.Attribute):
            n.func.value = self.visit(n.func.value)
        n.args = [self.visit(a) for a in n.args]
        for k in n.keywords:
            k.value = self.visit(k.value)
        return n

    def visit_Attribute(self, n):
        return self.read("_attr", n, ast.Constant(n.attr))

    def visit_Subscript(self, n):
        if isinstance(n.slice, ast.Slice):
            n.value = self.visit(n.value)
            return n
        return self.read("_item", n, n.slice)

    def read(self, fn, n, key):
        below = n.value
        if isinstance(below, (ast.Attribute, ast.Subscript)) and isinstance(below.value, ast.Name) \
                and below.value.id == "steps" and isinstance(key, ast.Constant) and key.value in ("output", "status"):
            fn = "_step"
        return ast.Call(ast.Name(fn, ast.Load()), [self.visit(below), key], [])


def run(e):
    tree = ast.fix_missing_locations(Rules().visit(ast.parse(e.strip(), mode="eval")))
    steps = Dict((k, model(v)) for k, v in STEPS.items() if v)
    scope = {"state": model(STATE), "steps": steps, "_attr": attr, "_item": item, "_step": step_part}
    try:
        v = eval(compile(tree, "e", "eval"), scope)
        return {"e": e, "v": repr(v), "t": type(v).__name__}
    except Exception as x:
        m = repr(x.args[0]) if isinstance(x, KeyError) else str(x)
        return {"e": e, "x": type(x).__name__, "m": m}


OPERANDS = ["None", "True", "0", "1", "-7", "1.0", "0.5", "-0.0", "2**0 and 18446744073709551616", "1e400",
            "float('nan')", "''", "'a'", "'abc'", "'B'", "'ä'", "[]", "[1]", "['a', 2]", "()", "(1,)", "('a', 2)",
            "{}", "{'a': 1}", "{1: 'x'}", "state.missing", "state.user", "state.items", "state.nums", "state.text",
            "state.user.keys()", "state.void.items()"]
OPERANDS = [o.replace("2**0 and ", "") for o in OPERANDS]
STRINGS = ["''", "'a'", "'abc'", "'  x y  '", "'ABC def'", "'aXbXc'", "state.text", "state.umlaut", "state.emoji",
           "state.sigma", "'ß ŉ ǆ ﬁ İ'", "'123'", "'²½'", "'٣'", "'\\x00\\x1f\\n'", "'-12'", "'x\\ty\\tz'",
           "'They\\'re Bill\\'s'", "'ǅ'", "'_a1'", "'aaaa'", "state.lines", "'\\x85\\u3000 '"]
NO_ARGS = ["capitalize", "casefold", "lower", "upper", "swapcase", "title", "isalnum", "isalpha", "isascii",
           "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle",
           "isupper", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "expandtabs"]
CALLS = ["strip('xa ')", "lstrip('a')", "rstrip('c ')", "strip(None)", "strip(1)", "strip('a', 'b')", "split('X')",
         "split(None, 1)", "split(' ', 1)", "rsplit('X', 1)", "rsplit(None, 1)", "rsplit(' ')", "split('')",
         "split(1)", "split(sep='X', maxsplit=1)", "split(maxsplit=0)", "split('a', -1)", "split('a', 'b')",
         "split(x=1)", "rsplit('a', 2, 3)", "splitlines(True)", "splitlines(keepends=True)", "splitlines('x')",
         "partition('X')", "rpartition('X')", "partition('')", "partition(1)", "partition()", "join(['a', 'b'])",
         "join('xyz')", "join([])", "join([1])", "join(1)", "join(None)", "join(state.user)", "join(('p', 'q'))",
         "join(state.user.keys())", "join()", "replace('a', 'bb')", "replace('', '-')", "replace('a', '', 1)",
         "replace('', '.', 2)", "replace('a', 'b', -1)", "replace('a')", "replace(1, 'a')", "replace('a', 1)",
         "replace('a', 'b', 'c')", "replace('a', 'b', 0)", "startswith('a')", "startswith(('x', 'a'))",
         "startswith('', 1)", "startswith('b', 1)", "startswith('b', 1, 1)", "startswith(1)", "startswith(('a', 1))",
         "startswith(())", "startswith('a', None, None)", "startswith('a', 'b')", "startswith()", "endswith('c')",
         "endswith(('c', 'a'), 0, -1)", "endswith('')", "endswith('', 5)", "endswith('b', -2, -1)", "find('b')",
         "find('')", "find('', 3)", "find('', 4)", "find('a', 1)", "find('a', -2, 99)", "find(1)", "find()",
         "find('a', 1, 2, 3)", "find('a', '1')", "rfind('a')", "rfind('')", "rfind('a', 0, 1)", "index('b')",
         "index('zz')", "rindex('a')", "rindex('q')", "count('a')", "count('')", "count('', 9)", "count('aa')",
         "count('a', 1)", "count('', 1, 2)", "count(1)", "zfill(5)", "zfill(-1)", "zfill(True)", "zfill('5')",
         "zfill(5.0)", "zfill()", "ljust(6)", "ljust(6, '*')", "ljust(6, '**')", "ljust(6, '')", "ljust(6, 1)",
         "ljust('6')", "ljust()", "ljust(1, 2, 3)", "rjust(7, 'é')", "center(7)", "center(8, '-')", "center(-1)",
         "expandtabs(4)", "expandtabs(0)", "expandtabs(-3)", "expandtabs(tabsize=2)", "expandtabs('a')",
         "expandtabs(1, 2)", "removeprefix('a')", "removeprefix('')", "removesuffix('c')", "removesuffix(1)",
         "removeprefix()", "lower(1)", "lower(x=1)", "isdigit(1)", "bit_length()", "get('a')"]
NUMBERS = ["0", "1", "-7", "255", "True", "False", "18446744073709551616", "-36893488147419103232", "0.0", "-0.0",
           "1.5", "-2.75", "1e22", "1e-320", "5e-324", "1.7976931348623157e308", "float('inf')", "-float('inf')",
           "float('nan')", "0.1", "123456789.123", "1e16", "9999999999999998.0", "1e-4", "0.00001"]
NUMBER_USES = ["({}).real", "({}).imag", "({}).conjugate()", "({}).as_integer_ratio()", "abs({})", "-({})", "+({})",
               "not {}", "int({})", "float({})", "str({})", "bool({})", "({}) + 1", "({}) - 1", "({}) + 0.5",
               "({}) == 1", "({}) < 2", "isinstance({}, int)", "isinstance({}, (str, float))", "[{}]", "{{{}: 1}}",
               "({}) + True", "({}) - 9223372036854775807", "({}) + 9223372036854775807", "len({})", "({}).strip()"]
INT_USES = ["({}).bit_length()", "({}).bit_count()", "({}).numerator", "({}).denominator"]
FLOAT_USES = ["({}).is_integer()", "({}).hex()", "({}).bit_length()"]
INT_TEXTS = ["'12'", "' 12\\n'", "'+5'", "'-5'", "'- 5'", "'1_000'", "'1__0'", "'_1'", "'1_'", "''", "' '", "'abc'",
             "'0x1f'", "'0b11'", "'0o17'", "'010'", "'٣٤'", "'１２'", "'1.5'", "'1e5'", "'½'", "'0'", "'00'", "'-0'",
             "'0x'", "'0x_1f'", "'0_0'", "'z'", "'Z9'", "'++1'", "'9' 'x'", "'\\x00'", "'ä'", "'1\\u00a0'"]
FLOAT_TEXTS = INT_TEXTS + ["'1.'", "'.5'", "'.'", "'1e'", "'1e+5'", "'1E-5'", "'e5'", "'inf'", "'-Infinity'", "'NaN'",
                           "'+nan'", "'infinit'", "'1_0.0_1'", "'1_.5'", "'1._5'", "'1e1_0'", "'1e_5'", "'1e999'",
                           "'-1e-999'", "'0x1p3'", "'1.5.2'", "'--1'", "'1 2'", "'1e5.0'"]
SLICES = [f"[{a}:{b}:{c}]" for a in ("", "1", "-2", "9", "-9") for b in ("", "2", "-1", "99")
          for c in ("", "1", "-1", "2", "-3")]
LITERALS = ["0", "00", "0_0", "1_000", "0x_ff", "0XFF", "0o17", "0b1_0", "1.", ".5", "1e5", "1E+5", "1_0.5e-1_0",
            "0.1", "007.5", "0e0", "1e309", "123456789012345678901234567890", "'a' 'b'", "'a' \"b\" '''c'''", "r'a\\n'",
            "R'\\''", "u'x'", "'\\x41'", "'\\u00e9'", "'\\U0001F600'", "'\\101'", "'\\0'", "'\\12a'", "'\\777'", "'\\q'",
            "'\\\n'", "'''a\nb'''", "\"it's\"", "'\"'", "'\\'\"'", "'\\a\\b\\f\\n\\r\\t\\v\\\\'", "'é'", "'\u200b'",
            "'\U000e0001'", "'\u0378'", "[1, 2,]", "(1,)", "()", "(1)", "1,", "1, 2", "{}", "{'a': 1,}",
            "{1: 'a', 1.0: 'b', True: 'c'}", "{(1, 2): 3}", "{None: 0}", "{[]: 1}", "{{}: 1}", "{(1, []): 1}",
            "{'a': 1, 'a': 2}", "[[1, [2]], (3, (4,)), {'k': [5]}]", "(\n1\n+\n2\n)", "1 + \\\n 2", "[1, # one\n 2]",
            "1 # end", "  1  ", "\n1\n", "1if True else 2", "0x1for 2", "1 if 0 else 2 if 0 else 3", "...  if 0 else 1"]
HAND = """
state.category == 'billing'
state.priority is not None and state.priority >= 3
state.missing
state['user']['name']
state.user.name
state['user'].name
state.items[0]
state.items[-1]
state.items[-1].six
state.items[6]
state.items[-7]
state.items['a']
state.items[1.0]
state.items[None]
state.items[True]
state.items[99999999999999999999]
state.user[0]
state.user[None]
state.user[[]]
state.missing.sub
state.missing['x']
state.missing[0]
state.missing[1:2]
state.user.missing.sub
state.user[1:2]
state.category.missing
state.category.upper().missing
state.priority.missing
state.items.missing
state.priority > 3
state.missing > 3
state.missing >= 3
3 < state.missing
state.missing + 1
1 + state.missing
-state.missing
+state.category
-state.items
state.category + 1
1 + state.category
state.items + 1
(1,) + [1]
[1] + (1,)
state.nums + [4]
(1, 2) + (3,)
state.words + state.words == ['to', 'be', 'or', 'to', 'be', 'or']
'a' - 'b'
[1] - [1]
len(state.items[1:3])
state.category.strip().lower() == 'billing'
state.subject.startswith('RE:')
state['with space']
state['é']
state.é
state.order.items
state.order.items()
state.order.get
state.order.get('total')
state.order.get('nope')
state.order.get('nope', 5)
state.order.keys()
state.order.values()
state.order.keys
state.order.count
state.user.items()
state.void.keys()
len(state.user.keys())
len(state.user.items())
'name' in state.user.keys()
'Ada' in state.user.values()
('name', 'Ada') in state.user.items()
('name',) in state.user.items()
'name' in state.user.items()
[] in state.user.keys()
[] in state.user
[] in state.user.values()
['x', 'y'] in state.user.values()
state.user.keys() == state.user.keys()
state.user.values() == state.user.values()
state.user.items() == state.user.items()
state.user.keys() == ['name', 'tags', 'address']
state.user.keys() < state.user.keys()
state.user.keys() <= state.user.keys()
state.void.keys() < state.user.keys()
state.user.keys() > state.void.keys()
state.void.keys() >= state.user.keys()
state.user.values() < state.user.values()
{state.user.values(): 1}
{[1]: 2, 'a': None + 1}
'a'.find(1, 'x')
'a'.count(None, 'x')
int(None, 1)
int(None, 2)
'a'.replace(None, 'b')
'a'.removeprefix(None)
state.user.keys()[0]
state.user.keys().count(1)
min(state.user.keys())
max(state.user)
max(state.order.keys())
','.join(state.user.keys())
','.join(state.user.items())
str(state.user.keys())
str(state.user.items())
str(state.user.values())
bool(state.void.keys())
bool(state.user.items())
{'a': 1}.keys() == {'a': 2}.keys()
{'a': 1}.items() == {'a': 1.0}.items()
{'a': 1}['a']
{'a': 1}['b']
{1: 2}[1.0]
{1: 2}[True]
{1: 2}[3]
{(1, 2): 3}[1, 2]
{(1, 2): 3}[(1, 2)]
{'a': 1}[[]]
{'a': 1}.get('a')
{'a': 1}.get([])
{'a': 1}.get()
{'a': 1}.get(1, 2, 3)
{'a': 1}.keys(1)
{'a': 1}.get(key='a')
{'a': 1} == {'a': True}
{'a': 1, 'b': 2} == {'b': 2, 'a': 1}
{'a': 1} == {'a': 1, 'b': 2}
{1: 'a'} == {True: 'a'}
state.user == {'name': 'Ada', 'tags': ['x', 'y'], 'address': {'city': 'London', 'zip': None}}
state.user.address == {'city': 'London'}
state.items[4] == [4.0, 5]
state.items[4] == (4, 5)
state.nums.count(1)
state.nums.index(2)
state.nums.index(9)
state.nums.index(1, 2)
state.nums.index(1, -2)
state.nums.index(1, 0, 99)
state.nums.index(1, None)
state.nums.index('x')
state.nums.index()
state.nums.count()
state.nums.count(1, 2)
(1, 2, 1).count(1)
(1, 2).index(3)
[1, True, 1.0].count(1)
[[1], [1]].count([1])
[].index([])
state.nothing == []
state.nothing is state.nothing
[] is []
() is ()
state.items is state.items
state.user is state.user
state.none is None
state.missing is None
state.yes is True
state.one is True
1 is 1.0
None is not None
state.steps
steps.classify.output
steps.classify.output.label == 'spam'
steps.classify.status
steps.classify.status == 'success'
steps['classify']['output']['p']
steps['draft-2'].output
steps['draft-2'].status
steps.gone
steps.gone is None
steps.gone.output
steps.gone.status
steps.gone['status']
steps['gone']['output']
steps['gone'].status == 'success'
steps.gone.other
steps.gone.output.label
steps.gone['other']
steps.gone[0]
steps.never.status is None
len(steps)
'classify' in steps
'gone' in steps
steps.classify
steps.get('gone')
steps.get('classify').status
steps.keys() == {'classify': 1, 'draft-2': 2}.keys()
'category' in state
'nope' in state
len(state)
state.get('category')
state.get('nope', 7)
state['nope']
state[0]
state.user['nope']
state.user['address']['zip']
0 < state.priority < 5
0 < state.priority < 2 < 1
1 == 1.0 == True
1 < 2 > 1 != 3
1 < 'a' < 2
2 < 1 < 'a'
'a' < 'b' in 'abc'
1 in [1] == True
not 1 == 2
not state.missing
not not 'a'
- - 1
-+-1
not 1 in [1]
1 not in [1]
'x' not in state.user.tags
'el' in 'hello'
'' in 'hello'
1 in 'hello'
None in 'hello'
1 in 1
1 in None
1 in True
None in [None]
1.0 in [1]
True in [1]
[1] in [[1]]
'a' in {'a': 1}
1 in {1.0: 2}
state.missing or 'default'
state.category or 'default'
'' or 0 or [] or None
1 and 2 and 3
1 and 0 and state.missing.sub
0 or False
1 or state.missing.sub
None and 1
'a' if state.yes else 'b'
'a' if state.no else 'b'
state.missing.sub if state.no else 'safe'
(state.user or {}).name
(state.missing or {}).get('name')
len('')
len('äöü')
len(state.emoji)
len(1)
len(None)
len(True)
len()
len('a', 'b')
len(obj='a')
len({'a': 1})
len((1, 2))
str()
str(None)
str(True)
str(1.0)
str('x')
str([1, 'a', None])
str({'a': [1, 'x']})
str((1,))
str(object=1)
str('a', 'utf-8')
str(1, 'utf-8')
str(1, 2, 3, 4)
str(1, x=2)
str(1e16)
str(-0.0)
str(1e-5)
str(state.big)
str(state.user)
int()
int(3.9)
int(-3.9)
int(1e22)
int(True)
int(None)
int([])
int({})
int('12', 10)
int('ff', 16)
int('0xff', 16)
int('0xff', 0)
int('z', 36)
int('12', 2)
int('010', 0)
int('0', 0)
int('-0b101', 0)
int('12', base=8)
int('12', 1)
int('12', 37)
int('12', -1)
int('12', 99999999999999999999)
int('12', '10')
int('12', 10.0)
int(12, 10)
int(12.0, base=10)
int(base=10)
int('1', 2, 3)
int(x='1')
int('1', foo=2)
int(float('inf'))
int(float('nan'))
int(state.number)
int(state.items[1:2])
float()
float('1.5')
float(None)
float([])
float(1, 2)
float(x=1)
float(state.big)
float(True)
bool()
bool('')
bool('False')
bool([])
bool([0])
bool(0.0)
bool(float('nan'))
bool(1, 2)
bool(x=1)
abs(-5)
abs(-0.5)
abs(True)
abs('a')
abs(None)
abs()
abs(1, 2)
abs(state.big - state.big - state.big)
min(1, 2)
min([3, 1, 2])
min('hello')
min(3, 1.0, True)
min(1, True)
min(True, 1)
min()
min(1)
min(None)
min([])
min([], default=5)
min((), default=None)
min(1, 2, default=3)
min([1, 'a'])
min('a', 1)
min([[1, 2], [1]])
min({'b': 1, 'a': 2})
min(x=1)
max(1, 2)
max([3, 1, 2])
max('hello')
max(1, 1.0)
max(1.0, 1)
max([])
max('')
max('', default='z')
max([None, 1])
max(1, 'a')
max((1, 2), (1, 3))
max(float('nan'), 1)
max(1, float('nan'))
max(state.nums)
max(state.nums, default=0)
max(state.missing, 1)
isinstance(1, int)
isinstance(True, int)
isinstance(True, bool)
isinstance(1, bool)
isinstance(1, float)
isinstance(1.0, float)
isinstance('a', str)
isinstance(None, str)
isinstance([], list)
isinstance({}, dict)
isinstance(state.user, dict)
isinstance((), tuple)
isinstance([], tuple)
isinstance(1, (str, int))
isinstance(1, (str, (float, int)))
isinstance(1, ())
isinstance(state.big, int)
isinstance(state.missing, (str, int, float, bool, list, dict, tuple))
isinstance(1, 2)
isinstance(1, 'int')
isinstance(1, None)
isinstance(1)
isinstance()
state.big + 1
state.big - 1
state.big - state.big
state.big == 1180591620717411303424.0
state.big < 1180591620717411303425
state.big + 0.5
9007199254740993 == 9007199254740992.0
9007199254740993 > 9007199254740992.0
9223372036854775807 + 1
-9223372036854775808 - 1
-(-9223372036854775808)
-9223372036854775808 < 9223372036854775808
0.1 + 0.2
1e308 + 1e308
float('inf') - float('inf')
float('nan') == float('nan')
float('nan') != float('nan')
float('nan') < 1
1 > float('nan')
10 - 3 - 2
1 - -1
1 + + 1
True + True
True - 1.5
None + None
{} + {}
{1: 2} - {1: 2}
[1, 2] < [1, 3]
[1, 2] < [1, 2, 0]
[1, 'a'] < [1, 2]
[1, 'a'] < [2, 2]
(1, 2) < (1, 2)
(1, 2) <= (1, 2)
() < (1,)
[1] < (1,)
{} < {}
[None] < [None]
[None] < [1]
'a' < 'B'
'a' < 'ab'
'\ud7ff' < '\U00010000'
'\uffff' < '\U00010000'
'a'.upper().lower().title()
'a,b'.split(',')[1]
'a,b'.split(',')[-1].upper()
state.csv.split(',')
state.csv.split(',', 2)
state.text.strip().split()
state.lines.splitlines()
' '.join(state.words).title()
'-'.join('abc')[::-1]
'abc'[0]
'abc'[-1]
'abc'[3]
'abc'['a']
'abc'[1.0]
'abc'[None]
'äöü'[1]
'a😀b'[1]
'a😀b'[::-1]
'a😀b'.find('b')
'abc'[::0]
'abc'['a':]
'abc'[None:2]
'abc'[True:]
'abc'[1.5:]
[1, 2][::0]
1[0]
None[0]
True[0]
1.5[0]
1['a']
1[1:2]
(1, 2)[5]
(1, 2)['a']
(1, 2)[0:1]
(1, 2)[-1]
[1, 2, 3][99999999999999999999:]
[1, 2, 3][:99999999999999999999]
[1, 2, 3][::99999999999999999999]
[1, 2, 3][::-99999999999999999999]
'x'.ljust(99999999999999999999)
'x'.split(None, 99999999999999999999)
1 .real
1..real
(1).bit_length()
1.5.is_integer()
2.0.is_integer()
True.bit_length()
(1).upper()
None.upper()
[].upper()
{}.upper()
().get(1)
'a'.get('b')
'a'.keys()
state.user.upper()
state.order.get.upper()
'%s'
'a' 'b'.upper()
('a' 'b').upper()
'it\\'s'
""".strip("\n").split("\n")


def expressions():
    pairs = [f"{a} {op} {b}" for a, b in itertools.product(OPERANDS, OPERANDS) for op in ("==", "<", "in", "+")]
    yield from random.sample(pairs, 2000)
    for a, b in itertools.product(OPERANDS[:24], OPERANDS[:24]):
        yield random.choice([f"{a} - {b}", f"{a} != {b}", f"{a} >= {b}", f"{a} and {b}", f"{a} or {b}",
                             f"{a} not in {b}", f"[{a}] <= [{b}]", f"max({a}, {b})", f"[{a}] == [{b}]"])
    for o in OPERANDS:
        for f in ("len({})", "str({})", "int({})", "float({})", "bool({})", "abs({})", "min({})", "max({})",
                  "not {}", "-({})", "({})[0]", "({})[0:1]", "({}) is None", "isinstance({}, (int, list))"):
            yield f.format(o)
    for s in STRINGS:
        for m in NO_ARGS:
            yield f"{s}.{m}()"
        for c in random.sample(CALLS, 36):
            yield f"{s}.{c}"
    for c in CALLS:
        yield f"'abcabc'.{c}"
    for n in NUMBERS:
        for u in NUMBER_USES:
            yield u.format(n)
        for u in (FLOAT_USES if set(n) & set(".") or n[:2] in ("1e", "5e", "fl", "-f") else INT_USES):
            yield u.format(n)
    for t in INT_TEXTS:
        for base in ("", ", 0", ", 2", ", 16", ", 36"):
            yield f"int({t}{base})"
    for t in FLOAT_TEXTS:
        yield f"float({t})"
    for s in random.sample(SLICES, 60):
        for o in ("'abcde'", "[0, 1, 2, 3]", "(0, 1)", "state.emoji"):
            yield o + s
    yield from LITERALS
    yield from HAND


# Where the language differs from CPython 3.11 on purpose.
SKIP = ("...",)


def main():
    random.seed(1)
    seen = set()
    with open("testdata/oracle.jsonl", "w", encoding="utf-8") as out:
        print(json.dumps({"state": STATE, "steps": {k: v for k, v in STEPS.items() if v}}), file=out)
        for e in expressions():
            if e in seen or e.startswith(SKIP):
                continue
            seen.add(e)
            print(json.dumps(run(e), ensure_ascii=True), file=out)


main()
