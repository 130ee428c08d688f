package mock

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/agentloom/agentloom/model"
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

// of is how long a call takes.
func (l latency) of(canned response, req *model.Request) time.Duration {
	ms := l.ms
	switch l.model {
	case "":
		return 0
	case Normal:
		sum := digest(req)
		r := rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[0:]), binary.BigEndian.Uint64(sum[8:])))
		ms = max(0, ms+r.NormFloat64()*ms*deviation)
	case Replay:
		if canned.latencyMS != nil {
			ms = *canned.latencyMS
		}
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// wait takes the call's time, or less when ctx ends.
func (l latency) wait(ctx context.Context, name string, canned response, req *model.Request) error {
	if ctx.Err() != nil {
		return httpapi.Ended(ctx, name)
	}
	d := l.of(canned, req)
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
