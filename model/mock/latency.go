package mock

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// The latency models.
const (
	Constant = "constant"
	Normal   = "normal"
	Replay   = "replay"
)

// MaxLatencyMS is the longest latency, a day.
const MaxLatencyMS = 24 * 60 * 60 * 1000

// deviation is the standard deviation of the model Normal, as a share of the
// mean.
const deviation = 0.2

type latency struct {
	model string  // "" for no wait
	ms    float64 // the setting
}

func newLatency(cfg Config) (latency, error) {
	l := latency{model: cfg.LatencyModel}
	if cfg.LatencyMS != nil {
		l.ms = *cfg.LatencyMS
		if !(l.ms >= 0 && l.ms <= MaxLatencyMS) { // also not a number
			return l, invalid("latency_ms is %v; it must be a number of milliseconds from 0 to %d", l.ms, MaxLatencyMS)
		}
	}
	switch l.model {
	case "":
		if cfg.LatencyMS != nil {
			l.model = Constant
		}
	case Constant, Normal:
		if cfg.LatencyMS == nil {
			return l, invalid("latency_model %s needs latency_ms, the milliseconds that a call takes", l.model)
		}
	case Replay:
	default:
		return l, invalid("latency_model is %q; it must be constant, normal or replay", l.model)
	}
	return l, nil
}

// of is how long a call takes; sum hashes its request.
func (l latency) of(canned response, sum func() [sha256.Size]byte) time.Duration {
	ms := l.ms
	switch l.model {
	case "":
		return 0
	case Normal:
		seed := sum()
		r := rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed[0:]), binary.BigEndian.Uint64(seed[8:])))
		ms = max(0, ms+r.NormFloat64()*ms*deviation)
	case Replay:
		if canned.latencyMS != nil {
			ms = *canned.latencyMS
		}
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// wait takes the time d of a call to the named provider, or less when ctx ends.
func wait(ctx context.Context, name string, d time.Duration) error {
	if ctx.Err() != nil {
		return httpapi.Ended(ctx, name)
	}
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return httpapi.Ended(ctx, name)
	}
}
