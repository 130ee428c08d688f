package python

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"strconv"

	"github.com/agentloom/agentloom/value"
)

// A Dict is a dict whose keys may be any hashable value, as a dict display in
// an expression makes it. Keys that are equal in Python (1, 1.0 and True) are
// one key: the first spelling stays, the last value wins. Build it with
// NewDict and Put; then it is only read.
type Dict struct {
	keys  []any
	vals  []any
	index map[hashKey]int
}

// NewDict returns an empty dict with room for n entries.
func NewDict(n int) *Dict {
	return &Dict{index: make(map[hashKey]int, n)}
}

// Put sets a key. It fails with a TypeError when the key is not hashable.
func (d *Dict) Put(key, val any) error {
	h, err := hash(key)
	if err != nil {
		return err
	}
	if i, ok := d.index[h]; ok && h.kind != hashNaN {
		d.vals[i] = val
		return nil
	}
	d.index[h] = len(d.keys)
	d.keys = append(d.keys, key)
	d.vals = append(d.vals, val)
	return nil
}

// Get returns the value of a key and whether the dict has it. It fails with a
// TypeError when the key is not hashable.
func (d *Dict) Get(key any) (any, bool, error) {
	h, err := hash(key)
	if err != nil {
		return nil, false, err
	}
	if i, ok := d.index[h]; ok && h.kind != hashNaN {
		return d.vals[i], true, nil
	}
	return nil, false, nil
}

// Len returns the number of entries.
func (d *Dict) Len() int { return len(d.keys) }

// Pairs ranges over the entries of a *value.Map or *Dict in order; over
// anything else it is empty.
func Pairs(dict any) iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		switch d := dict.(type) {
		case *value.Map:
			for k, v := range d.All() {
				if !yield(k, v) {
					return
				}
			}
		case *Dict:
			for i, k := range d.keys {
				if !yield(k, d.vals[i]) {
					return
				}
			}
		}
	}
}

// Lookup returns the value of a key of a *value.Map or *Dict, and whether it
// is there. It fails with a TypeError when the key is not hashable.
func Lookup(dict, key any) (any, bool, error) {
	switch d := dict.(type) {
	case *value.Map:
		if s, ok := key.(string); ok {
			v, has := d.Get(s)
			return v, has, nil
		}
		_, err := hash(key)
		return nil, false, err
	case *Dict:
		return d.Get(key)
	}
	return nil, false, TypeErrorf("'%s' object is not a dict", TypeName(dict))
}

func dictLen(dict any) int {
	switch d := dict.(type) {
	case *value.Map:
		return d.Len()
	case *Dict:
		return d.Len()
	}
	return 0
}

// hashKey is the same for two hashable values exactly when Python calls them
// equal; only NaN is equal to nothing.
type hashKey struct {
	kind hashKind
	n    uint64 // an int64's or a float64's bits
	s    string // text, sign and bytes of a big int, or a tuple's encoded members
}

type hashKind byte

const (
	hashNone hashKind = iota
	hashInt
	hashBig
	hashFloat
	hashNaN
	hashStr
	hashTuple
	hashType
	hashView
)

func hash(v any) (hashKey, error) {
	switch v := v.(type) {
	case nil:
		return hashKey{kind: hashNone}, nil
	case bool:
		if v {
			return hashKey{kind: hashInt, n: 1}, nil
		}
		return hashKey{kind: hashInt}, nil
	case int64:
		return hashKey{kind: hashInt, n: uint64(v)}, nil
	case *big.Int:
		return hashBigInt(v), nil
	case float64:
		return hashFloat64(v), nil
	case string:
		return hashKey{kind: hashStr, s: v}, nil
	case Type:
		return hashKey{kind: hashType, s: string(v)}, nil
	case Tuple:
		return hashTupleOf(v)
	case *View:
		if v.kind == ValuesView { // the one view that compares by identity
			return hashKey{kind: hashView, s: fmt.Sprintf("%p", v)}, nil
		}
	}
	return hashKey{}, TypeErrorf("unhashable type: '%s'", TypeName(v))
}

func hashBigInt(x *big.Int) hashKey {
	if x.IsInt64() {
		return hashKey{kind: hashInt, n: uint64(x.Int64())}
	}
	sign := "+"
	if x.Sign() < 0 {
		sign = "-"
	}
	return hashKey{kind: hashBig, s: sign + string(x.Bytes())}
}

func hashFloat64(f float64) hashKey {
	switch {
	case math.IsNaN(f):
		return hashKey{kind: hashNaN}
	case f == math.Trunc(f) && !math.IsInf(f, 0):
		x, _ := big.NewFloat(f).Int(nil)
		return hashBigInt(x)
	}
	return hashKey{kind: hashFloat, n: math.Float64bits(f)}
}

// hashTupleOf encodes the members one after the other, each with its length,
// so that no two different tuples look alike. A tuple that holds a NaN is
// equal to nothing either.
func hashTupleOf(t Tuple) (hashKey, error) {
	var b []byte
	kind := hashTuple
	for _, e := range t {
		h, err := hash(e)
		if err != nil {
			return hashKey{}, err
		}
		if h.kind == hashNaN {
			kind = hashNaN
		}
		b = append(b, byte(h.kind))
		b = strconv.AppendUint(b, h.n, 16)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(len(h.s)), 10)
		b = append(b, ':')
		b = append(b, h.s...)
	}
	return hashKey{kind: kind, s: string(b)}, nil
}
