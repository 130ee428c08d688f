package builtin_test

import (
	"context"
	"fmt"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/builtin"
	"github.com/agentloom/agentloom/value"
)

func ExampleRegister() {
	registry := tool.NewRegistry(tool.RegistryOptions{})
	if err := builtin.Register(registry, builtin.Options{}); err != nil {
		fmt.Println(err)
		return
	}
	shell, _ := registry.Get("shell_command")
	result, err := tool.Invoke(context.Background(), shell, value.MapOf("command", "echo hello; exit 3"))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := value.EncodeJSON(result)
	fmt.Println(string(text), err)
	// Output:
	// {"returncode":3,"stdout":"hello\n","stderr":""} <nil>
}
