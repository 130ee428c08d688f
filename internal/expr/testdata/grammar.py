"""Writes grammar.jsonl: what CPython 3.11's parser makes of many texts.

Run in internal/expr:  python3 testdata/grammar.py

Each line is {s: text} with {c: [ast classes in it that expressions don't have]}
when the text is Python (an empty list: all of it is allowed), or {bad: true}
when it is not. Texts are hand-written, and made from them by changing tokens.
"""
import ast
import io
import json
import random
import tokenize
import warnings

warnings.simplefilter("ignore")

ALLOWED = {"Expression", "Module", "Expr", "Constant", "Name", "Attribute", "Subscript", "Slice", "Call", "keyword",
           "BinOp", "BoolOp", "UnaryOp", "Compare", "IfExp", "List", "Tuple", "Dict", "Load", "Store", "Del", "Add",
           "Sub", "And", "Or", "Not", "UAdd", "USub", "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "In", "NotIn", "Is",
           "IsNot", "arguments", "arg", "comprehension", "alias", "FormattedValue", "withitem", "ExceptHandler"}

TEXTS = """
state.a * 2
state.a / 2
state.a // 2
state.a % 2
'%s' % state.a
state.a ** 2
2 ** -1
state.a @ state.b
state.a | state.b
state.a & state.b
state.a ^ state.b
state.a << 1
state.a >> 1
~state.a
lambda: 1
lambda x: x
lambda x, y=1, *a, z, **k: x + y
lambda *, a: a
lambda x, /, y: x
(lambda: 1)()
[x for x in state.items]
[x for x in state.items if x if x > 1]
[x for x, *y in state.items for z in y]
[x async for x in state.items]
{x for x in state.items}
{x: 1 for x in state.items}
(x for x in state.items)
len(x for x in state.items)
max(x for x in state.items)
{1, 2}
{1}
{*state.items}
{**state.user}
{'a': 1, **state.user}
[*state.items]
(*state.items, 1)
*state.items, 1
len(*state.items)
len(**state.user)
len(obj=1, **state.user)
(x := 1)
[x := 1, 2]
len(x := 1)
state[x := 'a']
f'{state.a}'
f'a' 'b'
'a' f'{state.b!r:>{10}}'
rf'{state.a}'
await state.a
(yield)
(yield 1)
(yield from state.a)
yield
yield 1, 2
import os
import os.path as p, sys
from os import path
from os.path import join as j, split
from . import x
from .. import x
from ...a import x
from os import *
from os import (path, sep)
x = 1
x = y = 1
state.a = 1
state['a'] = 1
x, y = 1, 2
[x, *y] = 1, 2
x += 1
x -= 1
x *= 2
x **= 2
x //= 2
x >>= 2
x @= 2
state.a |= 1
x: int
x: int = 1
del x
del state.a, state['b']
del (x, y)
pass
break
continue
return
return 1
raise
raise ValueError('x')
raise ValueError from None
assert state.a
assert state.a, 'msg'
global x
nonlocal x, y
if x: pass
for x in y: pass
while True: pass
with x as y: pass
def f(x): return x
class A: pass
async def f(): pass
1; 2
x = 1; y = 2
1;
state.a[1:2, 3]
state.a[...]
state.a[::]
state.a[1:2:3]
state.a[*state.b]
state.a[1,]
...
1j
b'a' b'c'
1 if 2 else 3
1 if 2 else lambda: 3
not 1
not not 1
1 not in [2]
1 is not 2
a.b.c[0]['x'](1, 2, k=3).d
len(1, 2, k=3, *[1])
(1)
()
(1,)
[]
[1, 2, ]
{}
{1: 2, }
'a' "b" '''c'''
1 < 2 <= 3 != 4 == 5 > 6 >= 7
- + - 1
1 - - 1
state.a if state.b else state.c if state.d else state.e
match
case
match.x == 1
type == 1
print
exec('1')
__import__('os')
state.__class__
().__class__.__bases__[0].__subclasses__()
state.a.format(1)
'{0}'.format(state.a)
state.a and not state.b or state.c
x if y
1 +
+ 1 +
(1
1)
[1
{1: 2
{1: }
{1 2}
{1: 2, 3}
{**a, 1}
'abc
\"abc
'''abc
1 2
a b
a.1
a.
.a
a..b
a[
a[]
a(,)
a(1 2)
a(b=1, b=2)
a(b=1, 2)
a(b.c=1)
a(**b, *c)
a(x for x in y, 1)
a(1, x for x in y)
a(x for x in y, )
x ==
== x
x = = 1
x === 1
x <> 1
x ! 1
x !== 1
not
is not 1
1 is
a and
or b
if
else
lambda
lambda x
lambda 1: 2
def
class
import
from
import 1
from x
from x import
from import x
del
del 1
del f()
1 = 2
x() = 1
x + 1 = 2
None = 1
True = 1
f(x) += 1
x, y += 1
x: int: str
assert
global
global 1
raise from x
for x in y
while
return return
pass pass
x := 1
(1 := 2)
(a.b := 2)
$
?
`x`
a $ b
\\u00e9 == 1
é == 1
x\u00b2
日本 == 1
01
1_
1__0
0x
0xg
0b2
0o8
1e
1e+
1.e
1..2
1a
0_7
1if 1 else 2
1or 2
0xfor 1
'\\x4'
'\\u12'
'\\U00110000'
'\\N{DIGIT ONE}'
'\\N{'
b'é'
'a' b'b'
r'\\'
'\\'
\\
1 \\
1 + \\ 2
True.x
None()
None.x
print 1
exec 'x'
*a
**a
*a, *b
(*a)
[*a for a in b]
{**a for a in b}
[for x in y]
[x for]
[x for x]
[x for x in]
[x for 1 in y]
[x for f() in y]
[x if y for x in z]
[x, y for x in z]
[x for x in y, z]
[x for x in lambda: y]
await
async
yield = 1
await x = 1
(yield) = 1
a.b: int
a[0]: int = 2
(a): int = 1
a, b: int
@x
not x = 1
lambda: (yield)
x = yield
x += yield 1
1 if else 2
a[1:2:3:4]
a[:,]
a[:, :]
a[1 2]
a[b:=1]
a[b=1]
()()
[](1)
{}[1]
''''''
''
# only a comment
(1 # comment
)
1 # x
a\t+\tb
a\x0cb
"""


def classes(text):
    try:
        tree = ast.parse(text.strip(" \t"))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not tree.body:
        return None
    for n in ast.walk(tree):  # what the compiler, not the parser, refuses
        if isinstance(n, ast.Call):
            names = [k.arg for k in n.keywords if k.arg]
            if len(names) != len(set(names)):
                return None
    return sorted({type(n).__name__ for n in ast.walk(tree)} - ALLOWED)


def tokens(text):
    try:
        return [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.string.strip()]
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return None


def mutated(texts):
    good = [t for t in (tokens(x) for x in texts if classes(x) is not None) if t]
    # Statements with blocks are only recognised, not read.
    words = {"def", "class", "if", "for", "while", "with", "try", "async", "finally", "except", "elif", "@", "match"}
    good = [t for t in good if t[0] not in words]
    pool = sorted({w for t in good for w in t} - {";"})
    for _ in range(2000):
        t = list(random.choice(good))
        for _ in range(random.choice((1, 1, 2))):
            i = random.randrange(len(t) + 1)
            how = random.random()
            if how < 0.4:
                t.insert(i, random.choice(pool))
            elif how < 0.7 and len(t) > 1:
                del t[i - 1]
            else:
                t[i - 1] = random.choice(pool)
        if t and t[0] not in words:
            yield " ".join(t)


def combined(texts):
    """Puts one expression in the place of an atom of another."""
    good = []
    for x in texts:
        try:
            ast.parse(x.strip(), mode="eval")
            good.append(tokens(x))
        except (SyntaxError, ValueError):
            pass
    good = [t for t in good if t]
    for _ in range(700):
        t = list(random.choice(good))
        atoms = [i for i, w in enumerate(t) if w.isalnum() and w not in
                 ("lambda", "for", "in", "if", "else", "is", "not", "and", "or", "async", "await", "yield", "from")]
        if atoms:
            i = random.choice(atoms)
            t[i:i + 1] = ["("] + random.choice(good) + [")"]
        yield " ".join(t)


def main():
    random.seed(2)
    texts = [t.replace("\\u00e9", "é") for t in TEXTS.strip("\n").split("\n")]
    seen = set()
    with open("testdata/grammar.jsonl", "w", encoding="utf-8") as out:
        for t in texts + list(mutated(texts)) + list(combined(texts)):
            if t in seen:
                continue
            seen.add(t)
            c = classes(t)
            print(json.dumps({"s": t, "bad": True} if c is None else {"s": t, "c": c}), file=out)


main()
