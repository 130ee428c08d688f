package test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpServer is a program of the scripts: an MCP server over stdio with an
// echo, a tool that always fails, and one that ends the server.
func mcpServer() {
	type text struct {
		Text string `json:"text"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "scripted", Version: "1"}, nil)
	fmt.Fprintln(os.Stderr, "the scripted server is up")
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Say it again."},
		func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
			return nil, map[string]any{"said": in.Text, "length": len(in.Text)}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New("out of paper")
		})
	mcp.AddTool(s, &mcp.Tool{Name: "die"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			os.Exit(3)
			return nil, nil, nil
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}
