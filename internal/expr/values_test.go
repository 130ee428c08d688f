package expr_test

import (
	"maps"
	"math"
	"math/big"
	"slices"

	"pgregory.net/rapid"

	"github.com/agentloom/agentloom/internal/python"
	"github.com/agentloom/agentloom/internal/state"
	"github.com/agentloom/agentloom/value"
)

var emptyState = state.State{}

// anyValue draws values of state whose repr is a literal: all but NaN and the
// infinities.
func anyValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.Int64().AsAny(),
		rapid.String().AsAny(),
		rapid.Map(rapid.Float64(), func(f float64) any {
			if math.IsInf(f, 0) {
				return 0.5
			}
			return f
		}),
		rapid.Map(rapid.StringMatching(`-?[1-9][0-9]{20,60}`), func(s string) any {
			x, _ := new(big.Int).SetString(s, 10)
			return x
		}),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	elems := rapid.SliceOfN(anyValue(depth-1), 0, 4)
	return rapid.OneOf(append(scalars,
		elems.AsAny(),
		rapid.Map(elems, func(e []any) any { return python.Tuple(e) }),
		rapid.Map(rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 4), func(m map[string]any) any {
			out := value.NewMap(len(m))
			for _, k := range slices.Sorted(maps.Keys(m)) {
				out.Put(k, m[k])
			}
			return out
		}),
	)...)
}
