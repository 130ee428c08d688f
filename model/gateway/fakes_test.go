package gateway_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/gateway"
)

// fake is a provider that does what its function says.
type fake struct {
	name     string
	complete func(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error)
	embed    func(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error)
	calls    atomic.Int64
}

func (f *fake) Name() string { return f.name }

func (f *fake) Complete(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Response, error) {
	f.calls.Add(1)
	return f.complete(ctx, req, stream)
}

func (f *fake) Embed(ctx context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
	f.calls.Add(1)
	return f.embed(ctx, req)
}

// answers is a provider that answers with its name and the model it was told.
func answers(name string) *fake {
	return &fake{
		name: name,
		complete: func(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Response, error) {
			return &model.Response{Text: name + " " + req.Model, Provider: name, Model: req.Model}, nil
		},
		embed: func(_ context.Context, req *model.EmbedRequest) (*model.EmbedResponse, error) {
			return &model.EmbedResponse{Vectors: [][]float64{{1}}, Provider: name, Model: req.Model}, nil
		},
	}
}

// fails is a provider whose calls end with an error.
func fails(name string, err error) *fake {
	return &fake{
		name: name,
		complete: func(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
			return nil, err
		},
		embed: func(context.Context, *model.EmbedRequest) (*model.EmbedResponse, error) { return nil, err },
	}
}

// status is an error as an adapter makes it of a status.
func status(kind fault.Kind, code int, message string) *fault.Error {
	return &fault.Error{Kind: kind, Message: message, Status: code}
}

func unavailable(name string) *fault.Error {
	return status(fault.Transient, 503, name+" answered 503 Service Unavailable")
}

func ask() *model.Request {
	return &model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}
}

func open(t testing.TB, opts gateway.Options, entries ...gateway.Entry) *gateway.Gateway {
	t.Helper()
	g, err := gateway.NewWith(opts, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func to(modelName string) gateway.Selection {
	return gateway.Selection{WorkflowProvider: "openai", Model: modelName}
}

func ptr[T any](v T) *T { return &v }
