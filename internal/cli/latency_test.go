package cli

import (
	"math"
	"testing"

	"github.com/agentloom/agentloom/model/mock"
	"github.com/agentloom/agentloom/workflow"
)

// What validate says of the latency settings is what the mock provider says.
func TestValidateKnowsTheMockProvidersLatencies(t *testing.T) {
	for _, latencyModel := range []string{"", "constant", "normal", "replay", "slow"} {
		for _, ms := range []float64{math.NaN(), -1, 0, 1, mock.MaxLatencyMS, mock.MaxLatencyMS + 1, 1e12, math.Inf(1)} {
			given := &ms
			if math.IsNaN(ms) {
				given = nil // not set
			}
			def := &workflow.Definition{Name: "w", Config: workflow.DefaultConfig(), Steps: []workflow.Step{workflow.LLM("a", "hi")}}
			def.Steps[0].Retry = workflow.DefaultRetry(3)
			def.Config.LatencyModel, def.Config.LatencyMS = latencyModel, given
			_, err := mock.New(mock.Config{LatencyModel: latencyModel, LatencyMS: given})
			if ds := workflow.Validate(def); (ds.Err() == nil) != (err == nil) {
				t.Errorf("model %q, %v ms: validate says %v, the provider %v", latencyModel, ms, ds, err)
			}
		}
	}
}
