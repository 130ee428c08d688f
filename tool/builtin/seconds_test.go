package builtin

import (
	"math"
	"testing"
	"time"
)

func TestSeconds(t *testing.T) {
	number := func(f float64) *float64 { return &f }
	for _, tt := range []struct {
		arg  *float64
		want time.Duration
	}{
		{nil, 30 * time.Second}, // left out, of either tool
		{number(5), 5 * time.Second},
		{number(0.25), 250 * time.Millisecond},
		{number(1e-300), 1},
		{number(1e300), math.MaxInt64},
	} {
		if got, err := seconds(tt.arg); err != nil || got != tt.want {
			t.Errorf("got %v, %v; want %v", got, err, tt.want)
		}
	}
	for _, wrong := range []float64{0, -1, math.Inf(-1), math.NaN()} {
		if got, err := seconds(&wrong); err == nil {
			t.Errorf("%v passes as %v", wrong, got)
		}
	}
}
