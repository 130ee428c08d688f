package wfyaml

import (
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// FuzzLoad wants no panic, no second lost, positions inside the file, a
// definition exactly when there is no error, nothing but values in its data,
// and the semantic rules to agree with themselves.
func FuzzLoad(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		start := time.Now()
		def, ds := Load("f", src)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("took %v", d)
		}
		if (def == nil) != (len(ds.Errors()) > 0) {
			t.Fatalf("def %v beside %v", def, ds)
		}
		for _, d := range ds {
			if d.Line < 0 || d.Line > len(src)+1 || d.Column < 0 || d.Column > len(src)+1 || (d.Line == 0) != (d.Column == 0) {
				t.Errorf("no position of a file of %d bytes: %v", len(src), d)
			}
		}
		if def == nil {
			return
		}
		if errs := workflow.Validate(def).Errors(); len(errs) > 0 {
			t.Errorf("loaded, but %v", errs)
		}
		onlyValues(t, def.State)
		onlyValues(t, def.StateSchema)
		for _, s := range def.Steps {
			if s.Tool != nil {
				onlyValues(t, s.Tool.ToolArgs)
			}
		}
	})
}

// FuzzDecodeValue wants the same of any document.
func FuzzDecodeValue(f *testing.F) {
	seed(f)
	f.Add([]byte(`{"a": "\ud83d\ude00", "b": [1e400, -0, 1.0]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		v, ds := DecodeValue("f", src)
		if len(ds.Errors()) > 0 {
			if v != nil {
				t.Fatalf("%v beside %v", v, ds)
			}
			return
		}
		onlyValues(t, v)
	})
}

func seed(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archives {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range a.Files {
			if filepath.Ext(e.Name) == ".yaml" {
				f.Add(e.Data)
			}
		}
	}
	full, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
}

func onlyValues(t *testing.T, v any) {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
	case *big.Int:
		if v.IsInt64() {
			t.Errorf("%v is an int64", v)
		}
	case []any:
		for _, e := range v {
			onlyValues(t, e)
		}
	case *value.Map:
		for _, e := range v.All() {
			onlyValues(t, e)
		}
	default:
		t.Errorf("a %T is no value", v)
	}
}
