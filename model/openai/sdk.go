package openai

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// newRequest has the vendor's SDK make a request to one of the service's paths,
// with its address and headers, and stops the SDK before it sends it.
func newRequest(cfg Config, base *url.URL, path string) (*http.Request, error) {
	var made *http.Request
	stop := errors.New("not sent")
	// Not made by the SDK's own function, the client takes nothing from the
	// environment.
	client := sdk.Client{Options: []option.RequestOption{
		option.WithBaseURL(base.String()),
		option.WithAPIKey(cfg.APIKey),
		option.WithMaxRetries(0),
		option.WithMiddleware(func(req *http.Request, _ option.MiddlewareNext) (*http.Response, error) {
			made = req
			return nil, stop
		}),
	}}
	var none *http.Response
	if err := client.Post(context.Background(), path, []byte("{}"), &none); made == nil {
		return nil, err
	}
	for name := range made.Header {
		if strings.HasPrefix(name, "X-Stainless-") { // they tell of the machine
			delete(made.Header, name)
		}
	}
	return made, nil
}
