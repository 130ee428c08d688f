package python

import (
	"unicode/utf8"

	"github.com/agentloom/agentloom/value"
)

// Len returns len(v): code points of a string, elements of a container. It
// fails with a TypeError for what has no length.
func Len(v any) (int, error) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), nil
	case []any:
		return len(v), nil
	case Tuple:
		return len(v), nil
	case *value.Map, *Dict:
		return dictLen(v), nil
	case *View:
		return v.Len(), nil
	}
	return 0, TypeErrorf("object of type '%s' has no len()", TypeName(v))
}

// Elems returns what iterating over v gives: a string's code points as
// strings, a dict's keys. The result may be v's own storage and must not be
// changed. It fails with a TypeError for what is not iterable.
func Elems(v any) ([]any, error) {
	switch v := v.(type) {
	case string:
		rs := Runes(v)
		out := make([]any, len(rs))
		for i := range rs {
			out[i] = Join(rs[i : i+1])
		}
		return out, nil
	case []any:
		return v, nil
	case Tuple:
		return v, nil
	case *value.Map, *Dict:
		return NewView(KeysView, v).Elems(), nil
	case *View:
		return v.Elems(), nil
	}
	return nil, TypeErrorf("'%s' object is not iterable", TypeName(v))
}

// A Range is a slice with its bounds cut to a length: from Start, Count
// elements, Step apart.
type Range struct{ Start, Step, Count int }

// SliceRange resolves the slice start:stop:step over n elements. Each bound is
// an int or None. It fails with a TypeError for another bound and with a
// ValueError for a step of zero.
func SliceRange(start, stop, step any, n int) (Range, error) {
	by, err := sliceBound(step, 1)
	if err != nil {
		return Range{}, err
	}
	if by == 0 {
		return Range{}, ValueErrorf("slice step cannot be zero")
	}
	low, high := 0, n // what bounds are cut to
	if by < 0 {
		low, high = -1, n-1
	}
	from, to := low, high
	if by < 0 {
		from, to = high, low
	}
	if start != nil {
		if from, err = sliceBound(start, 0); err != nil {
			return Range{}, err
		}
		from = cutBound(from, low, high, n)
	}
	if stop != nil {
		if to, err = sliceBound(stop, 0); err != nil {
			return Range{}, err
		}
		to = cutBound(to, low, high, n)
	}
	return Range{Start: from, Step: by, Count: rangeLen(from, to, by)}, nil
}

func rangeLen(from, to, by int) int {
	switch {
	case by > 0 && from < to:
		return (to-from-1)/by + 1
	case by < 0 && from > to:
		return (from-to-1)/-by + 1
	}
	return 0
}

func cutBound(i, low, high, n int) int {
	if i < 0 {
		i += n
	}
	return max(low, min(i, high))
}

// Bounds resolves the optional positions that methods such as str.find take:
// each an int or None, from the end when negative, cut to 0…n. start may lie
// beyond n. It fails with a TypeError for anything else.
func Bounds(start, stop any, n int) (from, to int, err error) {
	if from, err = sliceBound(start, 0); err != nil {
		return 0, 0, err
	}
	if to, err = sliceBound(stop, n); err != nil {
		return 0, 0, err
	}
	if from < 0 {
		from = max(0, from+n)
	}
	if to < 0 {
		to = max(0, to+n)
	}
	return from, min(to, n), nil
}

// farAway is larger than any length, and its sums do not overflow.
const farAway = 1 << 62

func sliceBound(v any, none int) (int, error) {
	if v == nil {
		return none, nil
	}
	x, ok := BigInt(v)
	if !ok {
		return 0, TypeErrorf("slice indices must be integers or None or have an __index__ method")
	}
	if x.BitLen() < 62 {
		return int(x.Int64()), nil
	}
	return x.Sign() * farAway, nil
}

// Slice returns v[start:stop:step] of a string, list or tuple, and fails as
// SliceRange does, or with a TypeError when v can't be sliced.
func Slice(v, start, stop, step any) (any, error) {
	switch v := v.(type) {
	case string:
		return sliceString(v, start, stop, step)
	case []any:
		return sliceList(v, start, stop, step)
	case Tuple:
		out, err := sliceList(v, start, stop, step)
		return Tuple(out), err
	case *value.Map, *Dict:
		return nil, TypeErrorf("unhashable type: 'slice'")
	}
	return nil, TypeErrorf("'%s' object is not subscriptable", TypeName(v))
}

func sliceString(s string, start, stop, step any) (any, error) {
	rs := Runes(s)
	r, err := SliceRange(start, stop, step, len(rs))
	if err != nil {
		return nil, err
	}
	if r.Step == 1 {
		return Join(rs[r.Start : r.Start+r.Count]), nil
	}
	out := make([]rune, r.Count)
	for i := range out {
		out[i] = rs[r.Start+i*r.Step]
	}
	return Join(out), nil
}

func sliceList(elems []any, start, stop, step any) ([]any, error) {
	r, err := SliceRange(start, stop, step, len(elems))
	if err != nil {
		return nil, err
	}
	out := make([]any, r.Count, max(r.Count, 1)) // room for one: no two empty lists are one object
	for i := range out {
		out[i] = elems[r.Start+i*r.Step]
	}
	return out, nil
}

// Index returns v[key] of a string, list, tuple or dict. found is false when a
// dict lacks the key. It fails with an IndexError beyond the end, a TypeError
// for a key of the wrong type or a v without elements.
func Index(v, key any) (elem any, found bool, err error) {
	switch v := v.(type) {
	case *value.Map, *Dict:
		return Lookup(v, key)
	case []any:
		return at(v, key, "list")
	case Tuple:
		return at(v, key, "tuple")
	case string:
		return charAt(v, key)
	}
	return nil, false, TypeErrorf("'%s' object is not subscriptable", TypeName(v))
}

func at(elems []any, key any, typ string) (any, bool, error) {
	if _, ok := Integer(key); !ok {
		return nil, false, TypeErrorf("%s indices must be integers or slices, not %s", typ, TypeName(key))
	}
	i, err := position(key, len(elems))
	if err != nil {
		return nil, false, err
	}
	if i < 0 {
		return nil, false, Errorf("IndexError", "%s index out of range", typ)
	}
	return elems[i], true, nil
}

func charAt(s string, key any) (any, bool, error) {
	if _, ok := Integer(key); !ok {
		return nil, false, TypeErrorf("string indices must be integers, not '%s'", TypeName(key))
	}
	rs := Runes(s)
	i, err := position(key, len(rs))
	if err != nil {
		return nil, false, err
	}
	if i < 0 {
		return nil, false, Errorf("IndexError", "string index out of range")
	}
	return Join(rs[i : i+1]), true, nil
}

// position returns where an index points among n elements, -1 for nowhere.
func position(key any, n int) (int, error) {
	i, _ := Integer(key)
	k, ok := i.(int64)
	if !ok {
		return 0, Errorf("IndexError", "cannot fit 'int' into an index-sized integer")
	}
	if k < 0 {
		k += int64(n)
	}
	if k < 0 || k >= int64(n) {
		return -1, nil
	}
	return int(k), nil
}
