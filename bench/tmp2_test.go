package bench

import (
	"context"
	"testing"
	"time"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/event"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

type instant struct{ model.NoEmbeddings }

func (instant) Name() string { return "openai" }
func (instant) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	if stream != nil {
		stream(model.Delta{Text: "Hello"})
	}
	return &model.Response{Text: "Hello", Model: "m", Provider: "openai", FinishReason: "stop"}, nil
}

func BenchmarkTmpEngine(b *testing.B) {
	e, err := agentloom.New(agentloom.Config{Providers: []gateway.Entry{{Provider: instant{}, AnyModel: true}}})
	if err != nil {
		b.Fatal(err)
	}
	def := callsDefinition(1)
	var total time.Duration
	for b.Loop() {
		start := time.Now()
		first := event.ObserverFunc(func(ev event.Event) {
			if _, ok := ev.Data.(event.TextDelta); ok {
				total += time.Since(start)
			}
		})
		if _, err := e.Run(context.Background(), def, agentloom.RunOptions{Stream: true, Observer: first}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/first-token")
}
