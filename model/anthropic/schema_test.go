package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
)

func schemaOf(t *testing.T, text string) *value.Map {
	t.Helper()
	v, err := value.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v.(*value.Map)
}

// TestSchemas checks which schemas are sent, and how: "" is one that is left to
// the caller.
func TestSchemas(t *testing.T) {
	object := func(property string) string {
		return `{"type":"object","properties":{"x":` + property + `},"required":["x"],"additionalProperties":false}`
	}
	closed := `{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":false}`
	tests := map[string]struct{ schema, want string }{
		"closed":             {closed, closed},
		"says nothing":       {`{"type":"object","properties":{"x":{"type":"string"}}}`, closed},
		"dialect":            {`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","type":"object","properties":{"x":{"type":"string"}}}`, closed},
		"open":               {`{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":true}`, ""},
		"open, by a schema":  {`{"type":"object","properties":{"x":{"type":"string"}},"additionalProperties":{"type":"string"}}`, ""},
		"any object":         {`{"type":"object"}`, ""},
		"no object":          {`{"type":"array","items":{"type":"string"}}`, ""},
		"no type":            {`{"properties":{"x":{"type":"string"}}}`, ""},
		"limits dropped":     {object(`{"type":"string","minLength":2,"maxLength":9,"pattern":"^a","description":"d"}`), object(`{"description":"d","type":"string"}`)},
		"ranges dropped":     {object(`{"type":"integer","minimum":1,"multipleOf":2,"default":4}`), object(`{"type":"integer"}`)},
		"format":             {object(`{"type":"string","format":"date"}`), object(`{"type":"string","format":"date"}`)},
		"unknown format":     {object(`{"type":"string","format":"isbn"}`), object(`{"type":"string"}`)},
		"list":               {object(`{"type":"array","items":{"type":"number"},"minItems":1,"maxItems":5,"uniqueItems":true}`), object(`{"type":"array","items":{"type":"number"},"minItems":1}`)},
		"long list":          {object(`{"type":"array","items":{"type":"number"},"minItems":3}`), object(`{"type":"array","items":{"type":"number"}}`)},
		"list of anything":   {object(`{"type":"array"}`), ""},
		"tuple":              {object(`{"type":"array","prefixItems":[{"type":"number"}]}`), ""},
		"enum":               {object(`{"type":"string","enum":["a","b",1,null]}`), object(`{"enum":["a","b",1,null]}`)},
		"enum of lists":      {object(`{"enum":[["a"]]}`), ""},
		"const":              {object(`{"const":"a"}`), object(`{"const":"a"}`)},
		"const object":       {object(`{"const":{}}`), ""},
		"or null":            {object(`{"type":["string","null"]}`), object(`{"type":["string","null"]}`)},
		"or object":          {object(`{"type":["string","object"]}`), ""},
		"union":              {object(`{"anyOf":[{"type":"string"},{"type":"null"}]}`), object(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)},
		"one of":             {object(`{"oneOf":[{"type":"string"},{"type":"null"}]}`), object(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)},
		"union of anything":  {object(`{"anyOf":[{"type":"string"},{}]}`), ""},
		"empty union":        {object(`{"anyOf":[]}`), ""},
		"union at the top":   {`{"type":"object","anyOf":[` + closed + `]}`, ""},
		"all of":             {object(`{"allOf":[{"type":"string"}]}`), ""},
		"anything":           {object(`true`), ""},
		"anything, as {}":    {object(`{}`), ""},
		"odd type":           {object(`{"type":"text"}`), ""},
		"required elsewhere": {`{"type":"object","properties":{"x":{"type":"string"}},"required":["y"]}`, ""},
		"odd required":       {`{"type":"object","properties":{"x":{"type":"string"}},"required":"x"}`, ""},
		"by pattern":         {`{"type":"object","properties":{"x":{"type":"string"}},"patternProperties":{"^a":{}}}`, ""},
		"definition": {
			`{"$defs":{"n":{"type":"integer","minimum":0}},"type":"object","properties":{"x":{"$ref":"#/$defs/n","description":"d"}},"required":["x"]}`,
			`{"$defs":{"n":{"type":"integer"}},"type":"object","properties":{"x":{"$ref":"#/$defs/n"}},"required":["x"],"additionalProperties":false}`,
		},
		"recursive":         {`{"$defs":{"n":` + object(`{"$ref":"#/$defs/n"}`) + `},"type":"object","properties":{"x":{"$ref":"#/$defs/n"}}}`, ""},
		"refers to all":     {object(`{"$ref":"#"}`), ""},
		"refers to none":    {object(`{"$ref":"#/$defs/n"}`), ""},
		"refers far":        {object(`{"$ref":"https://example.com/x"}`), ""},
		"odd definitions":   {`{"$defs":[],"type":"object","properties":{"x":{"type":"string"}}}`, ""},
		"too many optional": {`{"type":"object","properties":{` + strings.TrimSuffix(strings.Repeat(`"%":{"type":"string"},`, 25), ",") + `}}`, ""},
		"too deep":          {strings.Repeat(`{"type":"object","properties":{"x":`, 60) + `{"type":"string"}` + strings.Repeat("}}", 60), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for i := 0; strings.Contains(test.schema, `"%"`); i++ {
				test.schema = strings.Replace(test.schema, `"%"`, fmt.Sprintf(`"p%d"`, i), 1)
			}
			req := ask()
			req.Schema = schemaOf(t, test.schema)
			wire, _, _ := wireOf(t, req)
			var want, got any
			if test.want != "" {
				if err := json.Unmarshal([]byte(test.want), &want); err != nil {
					t.Fatal(err)
				}
			}
			if wire.OutputConfig.Format != nil {
				got = wire.OutputConfig.Format.Schema
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
		})
	}
}

// TestManyReferences checks that the search for recursion stays fast.
func TestManyReferences(t *testing.T) {
	defs := value.NewMap(0)
	for i := range 60 {
		next := value.MapOf("$ref", fmt.Sprintf("#/$defs/d%d", i+1))
		defs.Put(fmt.Sprintf("d%d", i), value.MapOf("type", "object", "properties", value.MapOf("a", next, "b", next), "required", []any{"a", "b"}))
	}
	defs.Put("d60", value.MapOf("type", "string"))
	req := ask()
	req.Schema = value.MapOf("type", "object", "properties", value.MapOf("x", value.MapOf("$ref", "#/$defs/d0")), "required", []any{"x"}, "$defs", defs)
	if wire, _, _ := wireOf(t, req); wire.OutputConfig.Format == nil {
		t.Error("the schema was not sent")
	}
}

// TestSchemaSupport checks that only models with structured output get a
// schema.
func TestSchemaSupport(t *testing.T) {
	for name, want := range map[string]bool{
		"claude-sonnet-4-20250514": false, "claude-3-5-haiku-latest": false, "claude-opus-4-1": false,
		"claude-haiku-4-5": true, "claude-opus-5-5": true, "claude-mythos-preview": true,
	} {
		req := ask()
		req.Model, req.Schema = name, value.MapOf("type", "object", "properties", value.MapOf("x", value.MapOf("type", "string")))
		req.Thinking = &model.Thinking{Level: "low"}
		wire, _, _ := wireOf(t, req)
		if got := wire.OutputConfig.Format != nil; got != want {
			t.Errorf("%s: schema sent: %v", name, got)
		}
	}
}
