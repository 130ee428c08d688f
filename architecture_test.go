package agentloom_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/agentloom/agentloom"

// Rooms, from the ground up. A package may import packages of its own room's
// `may` list only; docs/architecture.md draws the same picture, and
// .golangci.yml holds it in the editor.
var rooms = []struct {
	packages []string // path in the module
	may      []string
}{
	// Pure ground: data and the product's own languages.
	{[]string{"value"}, nil},
	{[]string{"fault"}, nil},
	{[]string{"internal/graph"}, nil},
	{[]string{"internal/nearest"}, nil},
	{[]string{"internal/python"}, []string{"value", "fault"}},
	{[]string{"internal/state"}, []string{"value", "fault"}},
	{[]string{"internal/schema"}, []string{"value"}},
	{[]string{"internal/expr", "internal/template"}, []string{"value", "fault", "internal/python", "internal/state"}},
	// The domain: what the public seams say.
	{[]string{"model"}, []string{"value", "fault"}},
	{[]string{"tool"}, []string{"value", "fault"}},
	{[]string{"event"}, []string{"value", "fault", "model"}},
	{[]string{"workflow"}, []string{"value", "fault", "internal/graph", "internal/nearest", "internal/expr", "internal/template", "internal/schema"}},
	{[]string{"sandbox"}, []string{"value", "fault", "workflow"}},
	// The pure core.
	{[]string{"internal/scheduler"}, []string{"value", "fault", "event", "model", "workflow", "internal/graph"}},
	// Attempts.
	{[]string{"internal/step"}, []string{"value", "fault", "event", "model", "tool", "workflow",
		"internal/scheduler", "internal/state", "internal/expr", "internal/template", "internal/schema"}},
	// Drivers and the front door.
	{[]string{"internal/localrun"}, []string{"value", "fault", "event", "workflow",
		"internal/scheduler", "internal/state", "internal/step"}},
	{[]string{""}, []string{"value", "fault", "event", "model", "model/gateway", "tool", "workflow",
		"internal/scheduler", "internal/state", "internal/step", "internal/localrun"}},
	// Adapters: the domain and the ground only.
	{[]string{"workflow/wfyaml"}, []string{"value", "fault", "workflow", "internal/nearest"}},
	{[]string{"model/internal/httpapi"}, []string{"fault", "model"}},
	{[]string{"model/openai", "model/anthropic", "model/google", "model/ollama", "model/mock", "model/gateway"}, []string{"value", "fault", "model", "model/internal/httpapi", "internal/nearest"}},
	// A recording is written in the mock provider's format.
	{[]string{"model/recorder"}, []string{"value", "fault", "model", "model/mock"}},
	{[]string{"internal/modeltest"}, []string{"value", "fault", "model"}},
	{[]string{"internal/process", "internal/owner", "internal/confine"}, nil}, // what the operating system does, for the tools
	{[]string{"tool/mcp"}, []string{"value", "fault", "tool", "workflow"}},
	{[]string{"tool/builtin"}, []string{"value", "fault", "tool", "sandbox", "internal/process", "internal/owner", "internal/confine"}},
	{[]string{"tool/workdir"}, []string{"value", "fault", "tool", "internal/process", "internal/owner"}},
	{[]string{"attachment"}, []string{"value", "fault", "workflow", "model", "sandbox"}},
	// The command line, which wires everything.
	{[]string{"internal/cli"}, []string{"..."}},
	{[]string{"cmd/agentloom"}, []string{"internal/cli"}},
	{[]string{"bench", "test", "test/vendors"}, []string{"..."}},
	{[]string{"bench/bare"}, nil}, // what bench compares with
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("listing the packages: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range listPackages(t) {
		name := roomName(p.ImportPath)
		may, known := allowed(name)
		if !known {
			t.Errorf("package %q stands in no room: add it to the rooms here and to docs/architecture.md", name)
			continue
		}
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			if to := roomName(imp); !slices.Contains(may, to) && !slices.Contains(may, "...") {
				t.Errorf("%q imports %q, which its room may not", name, to)
			}
		}
	}
}

// TestOneAdapterImportsEachSDK keeps vendors behind our own seams.
func TestOneAdapterImportsEachSDK(t *testing.T) {
	owners := map[string]string{
		"github.com/openai/openai-go":            "model/openai",
		"github.com/anthropics/anthropic-sdk-go": "model/anthropic",
		"google.golang.org/genai":                "model/google",
		"charm.land/catwalk":                     "model/gateway",
		"github.com/sony/gobreaker":              "model/gateway",
		"github.com/modelcontextprotocol/go-sdk": "tool/mcp",
		"go.yaml.in/yaml":                        "workflow/wfyaml",
		"github.com/spf13/cobra":                 "internal/cli",
		"github.com/bmatcuk/doublestar":          "tool/workdir",
	}
	for _, p := range listPackages(t) {
		for _, imp := range p.Imports {
			for sdk, owner := range owners {
				if strings.HasPrefix(imp, sdk) && roomName(p.ImportPath) != owner {
					t.Errorf("%q imports %s; only %q does", roomName(p.ImportPath), imp, owner)
				}
			}
		}
	}
}

func roomName(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
}

func allowed(name string) (may []string, known bool) {
	for _, r := range rooms {
		if slices.Contains(r.packages, name) {
			return r.may, true
		}
	}
	return nil, false
}
