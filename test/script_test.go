// Package test holds the tests that go through the front door: scripts that
// run the real command line on real files, one behaviour a script.
package test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentloom/agentloom/internal/cli"
	"github.com/agentloom/agentloom/internal/confine"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"scripted-mcp": mcpServer,
		"agentloom": func() {
			os.Exit(cli.Main(context.Background(), cli.Process{
				Args:    os.Args[1:],
				Stdin:   os.Stdin,
				Stdout:  os.Stdout,
				Stderr:  os.Stderr,
				Environ: os.Environ(),
			}))
		},
	})
}

// TestScripts runs testdata/script/*.txtar, each in a directory of its own with
// an empty home. commands_test.go has the commands beside testscript's own.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		// [vendors]: the vendors' SDKs are part of the program. [landlock]: the
		// kernel can hold programs to files.
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "vendors":
				return vendorsBuiltIn, nil
			case "landlock":
				return confine.Kernel().Landlock > 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(env *testscript.Env) error {
			env.Values[service{}] = &fakeOpenAI{}
			env.Setenv("GORACE", "atexit_sleep_ms=10") // the default adds a second a process
			env.Setenv("HOME", env.WorkDir+"/home")
			return os.Mkdir(env.WorkDir+"/home", 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"interrupt": interrupt,
			"json":      jsonAt,
			"jsonmatch": jsonMatches,
			"nojson":    jsonMissing,
			"samestate": sameState,
			"openai":    openAI,
			"asked":     asked,
			"raw":       raw,
			"utf16":     utf16File,
			"steps":     stepsFile,
		},
	})
}
