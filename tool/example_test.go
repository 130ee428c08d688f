package tool_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

func ExampleFunc() {
	count := tool.Func("word_count", "Count the words in a text.",
		func(_ context.Context, in struct {
			Text string `json:"text" jsonschema:"The text."`
		}) (any, error) {
			return map[string]any{"words": len(strings.Fields(in.Text))}, nil
		})

	registry := tool.NewRegistry(tool.RegistryOptions{})
	if err := registry.Register(count); err != nil {
		fmt.Println(err)
		return
	}
	t, _ := registry.Get("word_count")
	result, err := tool.Invoke(context.Background(), t, value.MapOf("text", "to be or not to be"))
	words, _ := result.(*value.Map).Get("words")
	fmt.Println(words, err)
	_, err = tool.Invoke(context.Background(), t, value.MapOf("txt", "to be"))
	fmt.Println(err)
	// Output:
	// 6 <nil>
	// argument "txt" is unknown; the known ones are text
}
