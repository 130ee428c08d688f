package mock

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

const (
	// DefaultDimensions is the length of a made-up vector when the request
	// does not say one.
	DefaultDimensions = 256
	// MaxDimensions is the longest made-up vector.
	MaxDimensions = 16384
)

// Embed answers with the recorded embeddings of the call's canned response,
// whatever dimensions the request asks for, else with vectors made up from the
// texts; see Vector. A recording that has another number of vectors than the
// request has inputs is a permanent fault.
func (p *Provider) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	if req.Model == "" || len(req.Inputs) == 0 {
		return nil, fault.New(fault.Permanent, fmt.Sprintf("a call to %s needs a model and at least one text", p.name), nil)
	}
	canned, _, err := p.find(req.StepID, func() string { return HashEmbed(req) })
	if err != nil {
		return nil, err
	}
	sum := func() [sha256.Size]byte { return embedSum(req) }
	if err := wait(ctx, p.name, p.latency.of(canned, sum)); err != nil {
		return nil, err
	}
	r := canned.response(p.name, req.Model)
	out := &model.EmbedResponse{Model: r.Model, Provider: r.Provider, Usage: r.Usage, CostUSD: r.CostUSD}
	if canned.embeddings == nil {
		vectors, err := makeUp(req)
		out.Vectors = vectors
		return out, err
	}
	if have, want := len(canned.embeddings), len(req.Inputs); have != want {
		text := fmt.Sprintf("the canned response for step %q has %d embeddings, but the call has %d texts", req.StepID, have, want)
		return nil, fault.New(fault.Permanent, text, nil)
	}
	for _, v := range canned.embeddings {
		out.Vectors = append(out.Vectors, slices.Clone(v))
	}
	return out, nil
}

func makeUp(req *model.EmbedRequest) ([][]float64, error) {
	n := int64(DefaultDimensions)
	if req.Dimensions != nil {
		n = *req.Dimensions
	}
	if n < 1 || n > MaxDimensions {
		return nil, fault.New(fault.Permanent, fmt.Sprintf("a made-up vector has 1 to %d dimensions, not %d", MaxDimensions, n), nil)
	}
	out := make([][]float64, len(req.Inputs))
	for i, text := range req.Inputs {
		out[i] = Vector(text, int(n))
	}
	return out, nil
}

// Vector makes up the vector of a text: n numbers, 1 to MaxDimensions, of unit
// length, bit for bit the same on every machine. Block j, from 0, is the
// SHA-256 of the text's SHA-256 and j as four bytes, big-endian. Each two bytes
// of the blocks, read as a big-endian integer k from -32768 to 32767, give one
// component: 2k+1 divided by the length of the whole.
func Vector(text string, n int) []float64 {
	seed := sha256.Sum256([]byte(text))
	// Odd numbers are never 0, so neither is the length; and integers keep the
	// sum of the squares exact, so that no machine rounds it its own way.
	ints := make([]int64, 0, n)
	var squares int64
	for j := uint32(0); len(ints) < n; j++ {
		block := sha256.Sum256(binary.BigEndian.AppendUint32(seed[:sha256.Size:sha256.Size], j))
		for i := 0; i < len(block) && len(ints) < n; i += 2 {
			k := 2*int64(int16(binary.BigEndian.Uint16(block[i:]))) + 1
			ints = append(ints, k)
			squares += k * k
		}
	}
	// A square root and a division: both are rounded correctly everywhere.
	length := math.Sqrt(float64(squares))
	out := make([]float64, n)
	for i, k := range ints {
		out[i] = float64(k) / length
	}
	return out
}
