package schema_test

import (
	"strings"
	"testing"

	"github.com/agentloom/agentloom/internal/schema"
	"github.com/agentloom/agentloom/value"
)

func mapOf(t testing.TB, text string) *value.Map {
	t.Helper()
	v, err := value.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Map)
}

// Where a part of a schema lies, and what it is applied to, is known for every
// keyword: a loop through it is found where it stays at the same value, and
// none where it goes deeper.
func TestLoopsThroughEachKeyword(t *testing.T) {
	same := []string{
		`"allOf":[{"$ref":"#"}]`, `"anyOf":[{"$ref":"#"}]`, `"oneOf":[{},{"$ref":"#"}]`, `"not":{"$ref":"#"}`,
		`"if":{"$ref":"#"}`, `"then":{"$ref":"#"},"if":{}`, `"else":{"$ref":"#"},"if":{}`,
		`"dependentSchemas":{"a":{"$ref":"#"}}`, `"$ref":"#/$defs/~1","$defs":{"/":{"$ref":"#"}}`,
		`"$ref":"#/definitions/a%20b","definitions":{"a b":{"$ref":"#"}}`, `"$ref":"#/properties/a","properties":{"a":{"$ref":"#"}}`,
	}
	deeper := []string{
		`"items":{"$ref":"#"}`, `"prefixItems":[{"$ref":"#"}]`, `"contains":{"$ref":"#"}`, `"unevaluatedItems":{"$ref":"#"}`,
		`"properties":{"a":{"$ref":"#"}}`, `"patternProperties":{"a":{"$ref":"#"}}`, `"additionalProperties":{"$ref":"#"}`,
		`"unevaluatedProperties":{"$ref":"#"}`, `"propertyNames":{"$ref":"#"}`,
		`"allOf":[{"items":{"$ref":"#/allOf/0"}}]`,
	}
	for _, text := range same {
		if _, err := schema.New(mapOf(t, "{"+text+"}")); err == nil || !strings.Contains(err.Error(), "leads back to itself") {
			t.Errorf("{%s}: %v", text, err)
		}
	}
	for _, text := range deeper {
		s, err := schema.New(mapOf(t, "{"+text+"}"))
		if err != nil {
			t.Errorf("{%s}: %v", text, err)
			continue
		}
		if err := s.Check(mapOf(t, `{"a":[[{"a":{}}]],"b":[{}]}`)); err != nil {
			t.Errorf("{%s} refuses a value: %v", text, err)
		}
	}
}

// Work is counted through each keyword that goes deeper, in both drafts.
func TestWorkThroughEachKeyword(t *testing.T) {
	list := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	object := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for part, nested := range map[string]string{
		`"items":{"$ref":"#"}`: list, `"prefixItems":[{"$ref":"#"}]`: list, `"contains":{"$ref":"#"}`: list,
		`"unevaluatedItems":{"$ref":"#"}`: list, `"properties":{"a":{"$ref":"#"}}`: object,
		`"patternProperties":{"a":{"$ref":"#"}}`: object, `"additionalProperties":{"$ref":"#"}`: object,
		`"unevaluatedProperties":{"$ref":"#"}`: object,
	} {
		for _, draft := range []string{"", `"$schema":"http://json-schema.org/draft-07/schema#",`} {
			if draft != "" && (strings.HasPrefix(part, `"prefix`) || strings.HasPrefix(part, `"unev`)) {
				continue // which that draft does not have
			}
			s, err := schema.New(mapOf(t, "{"+draft+`"anyOf":[{`+part+`},{`+part+`}]}`))
			if err != nil {
				t.Errorf("%s: %v", part, err)
				continue
			}
			v, _ := value.DecodeJSON([]byte(nested))
			if err := s.Check(v); err == nil || !strings.Contains(err.Error(), "too long") {
				t.Errorf("%s%s: %v", draft, part, err)
			}
		}
	}
}

// A large value under a plain schema is no trouble.
func TestLargeValues(t *testing.T) {
	s, err := schema.New(mapOf(t, `{"type":"array","items":{"type":"object","required":["n"],
		"properties":{"n":{"type":"integer"},"tags":{"type":"array","items":{"$ref":"#/$defs/tag"}}},
		"additionalProperties":false},"$defs":{"tag":{"enum":["a","b"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Repeat(`{"n":1,"tags":["a","b","a"]},`, 100_000)
	v, err := value.DecodeJSON([]byte("[" + rows + `{"n":2}]`))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(v); err != nil {
		t.Errorf("%.200s", err)
	}
}

// Whatever the schema and the value, both calls come back.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`{"$ref":"#"}`, `{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"$dynamicAnchor":"x","items":{"$dynamicRef":"#x"}}`,
		`{"$id":"https://example.com/a","$defs":{"b":{"$id":"b","$anchor":"c"}},"anyOf":[{"$ref":"b#c"}]}`,
		`{"items":[{"$ref":"#/items/0"}],"$schema":"http://json-schema.org/draft-07/schema#","additionalItems":{}}`,
		`{"dependencies":{"a":{"$ref":"#"}},"$schema":"http://json-schema.org/draft-07/schema#"}`,
	} {
		f.Add(s, `{"a":[{"a":1}]}`)
	}
	f.Fuzz(func(t *testing.T, text, answer string) {
		m, err := value.DecodeJSON([]byte(text))
		source, ok := m.(*value.Map)
		if err != nil || !ok {
			return
		}
		s, err := schema.New(source)
		if err != nil {
			return
		}
		if v, err := value.DecodeJSON([]byte(answer)); err == nil {
			_ = s.Check(v)
		}
	})
}
