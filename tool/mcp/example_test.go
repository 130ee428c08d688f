package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloom/agentloom/tool/mcp"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

func Example() {
	server := sdk.NewServer(&sdk.Implementation{Name: "greeter"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "hello", Description: "Greet somebody."},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct{ Name string }) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + in.Name + "!"}}}, nil, nil
		})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer web.Close()

	servers, err := mcp.New([]workflow.MCPServer{{Name: "greeter", URL: web.URL}}, mcp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer servers.Close()
	hello, ok, err := servers.Resolve(context.Background(), "greeter__hello") // connects
	if !ok || err != nil {
		fmt.Println(ok, err)
		return
	}
	fmt.Println(hello.Spec().Description)
	fmt.Println(hello.Call(context.Background(), value.MapOf("Name", "Ada")))
	// Output:
	// Greet somebody.
	// Hello, Ada! <nil>
}
