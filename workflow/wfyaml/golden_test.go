package wfyaml

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the wanted diagnostics in testdata")

// TestDiagnostics prints the diagnostics of every NAME.yaml in the archives of
// testdata and compares them with the NAME.want that follows it.
func TestDiagnostics(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out []txtar.File
			for _, f := range a.Files {
				name, ok := strings.CutSuffix(f.Name, ".yaml")
				if !ok {
					continue
				}
				got := printed(f.Name, f.Data)
				out = append(out, f, txtar.File{Name: name + ".want", Data: []byte(got)})
				if *update {
					continue
				}
				if diff := cmp.Diff(wanted(a, name+".want"), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
			if a.Files = out; *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func wanted(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return "no such file in the archive"
}

// printed loads a file and prints its diagnostics as the command line does.
func printed(name string, src []byte) string {
	def, ds := Load(name, src)
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(d.String() + "\n")
	}
	if (def == nil) != (len(ds.Errors()) > 0) {
		b.WriteString("BUG: a definition and errors, or neither\n")
	}
	if def != nil {
		b.WriteString("loaded\n")
	}
	return b.String()
}
