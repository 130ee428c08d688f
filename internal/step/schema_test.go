package step_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/internal/step"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/value"
	"github.com/agentloom/agentloom/workflow"
)

// answerWith asks for an answer that fits a schema, of a model that gives the
// same one each time.
func answerWith(t *testing.T, schema, answer string) (out any, asked []model.Request, err error) {
	t.Helper()
	v, err := value.DecodeJSON([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	m := &script{turns: []any{says(answer)}}
	var r runner
	res, err := r.run(t.Context(), step.LLM{Models: m}, llmStep(workflow.LLMCallFields{OutputSchema: v.(*value.Map)}))
	return res.Write, m.asked, err
}

func TestSchemasThatNoValidatorComesBackFrom(t *testing.T) {
	chain := `{"$ref":"#/$defs/s0","$defs":{`
	for i := range 300 {
		chain += fmt.Sprintf(`"s%d":{"$ref":"#/$defs/s%d"},`, i, i+1)
	}
	chain += `"s300":{}}}`
	for name, c := range map[string][2]string{
		"a reference to itself":          {`{"$ref":"#"}`, "leads back to itself"},
		"two that refer to each other":   {`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "leads back to itself"},
		"by an anchor":                   {`{"$ref":"#x","$defs":{"a":{"$anchor":"x","if":{"$ref":"#x"}}}}`, "leads back to itself"},
		"by a dynamic anchor":            {`{"$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}]}`, "leads back to itself"},
		"by an identity":                 {`{"$id":"https://example.com/a","$defs":{"b":{"$id":"b","anyOf":[{"$ref":"/a"}]}},"$ref":"b"}`, "leads back to itself"},
		"inside of a dependent schema":   {`{"properties":{"a":{"dependentSchemas":{"b":{"$ref":"#/properties/a"}}}}}`, "leads back to itself"},
		"in a part that nobody uses":     {`{"$defs":{"a/b":{"oneOf":[{"$ref":"#/$defs/a~1b"}]}}}`, "leads back to itself"},
		"a long chain":                   {chain, "more than 200 schemas in a row"},
		"a type that is none":            {`{"properties":{"a":{"type":"strnig"}}}`, `"strnig" is no type`},
		"a type that is none, in a list": {`{"items":{"type":["string","int"]}}`, `"int" is no type`},
		"a schema on another machine":    {`{"$ref":"http://127.0.0.1:1/schema.json"}`, "remote"},
		"a schema in a file":             {`{"$ref":"file:///etc/passwd"}`, "remote"},
		"a huge pattern":                 {`{"pattern":"((a{1000}){1000}){1000}"}`, "repeat"},
	} {
		t.Run(name, func(t *testing.T) {
			_, asked, err := answerWith(t, c[0], `{"a":{"b":1}}`)
			if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), "output_schema cannot be used") ||
				!strings.Contains(err.Error(), c[1]) || len(asked) > 0 {
				t.Errorf("after %d calls: %v", len(asked), err)
			}
		})
	}
}

func TestRecursiveSchemasAreFollowed(t *testing.T) {
	for name, schema := range map[string]string{
		"a pointer":        `{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","required":["v"],"properties":{"next":{"$ref":"#/$defs/node"}}}}}`,
		"an anchor":        `{"$ref":"#n","$defs":{"node":{"$anchor":"n","type":"object","required":["v"],"properties":{"next":{"$ref":"#n"}}}}}`,
		"a dynamic anchor": `{"$dynamicAnchor":"n","type":"object","required":["v"],"properties":{"next":{"$dynamicRef":"#n"}}}`,
		"an identity":      `{"$id":"https://example.com/n","type":"object","required":["v"],"properties":{"next":{"$ref":"n"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := answerWith(t, schema, `{"v":1,"next":{"v":2,"next":{"v":3}}}`); err != nil {
				t.Error(err)
			}
			if _, _, err := answerWith(t, schema, `{"v":1,"next":{"v":2,"next":{}}}`); err == nil {
				t.Error("a node without v fits")
			}
		})
	}
}

func TestAnswersThatWouldTakeYearsToValidate(t *testing.T) {
	tree := `{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/n"}}},{"properties":{"a":{"$ref":"#/$defs/n"}}}]}}}`
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	double := `{"$ref":"#/$defs/s0","$defs":{`
	for i := range 60 {
		double += fmt.Sprintf(`"s%d":{"allOf":[{"$ref":"#/$defs/s%d"},{"$ref":"#/$defs/s%d"}]},`, i, i+1, i+1)
	}
	double += `"s60":{}}}`
	for name, c := range map[string][3]string{
		"a value in each of two alternatives": {tree, deep, "checking the answer would take too long"},
		"the same value again and again":      {double, `{}`, "checking the answer would take too long"},
		"a value that is nested too deep":     {`{"items":{"allOf":[{"allOf":[{"$ref":"#"}]}]}}`, strings.Repeat("[", 900) + strings.Repeat("]", 900), "nested too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			_, asked, err := answerWith(t, c[0], c[1])
			if fault.KindOf(err) != fault.Permanent || !strings.Contains(err.Error(), c[2]) || len(asked) != 3 {
				t.Errorf("after %d calls: %v", len(asked), err)
			}
		})
	}
	if out, _, err := answerWith(t, tree, `{"a":{"a":{"a":{"a":5}}}}`); err != nil || out == nil {
		t.Errorf("a small value: %v", err)
	}
}

func TestTheFirstValueThatFitsIsTaken(t *testing.T) {
	schema := `{"type":"object","required":["n"]}`
	for name, text := range map[string]string{
		"brackets before it":    `As [you] asked in [1]: {"n":1}`,
		"another object before": `Given {"a":5} I answer {"n":1}.`,
		"braces before it":      `The set {x} gives {"n":1}`,
		"a fence of another":    "Input:\n```json\n{\"a\":2}\n```\nOutput: {\"n\":1}",
		"an open one before":    `{"n": is what you want: {"n":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			out, asked, err := answerWith(t, schema, text)
			got, _ := value.EncodeJSON(out)
			if err != nil || string(got) != `{"n":1}` || len(asked) != 1 {
				t.Errorf("%s after %d calls, %v", got, len(asked), err)
			}
		})
	}
	many := strings.Repeat("[", 1<<20)
	start := time.Now()
	if _, _, err := answerWith(t, schema, many); err == nil || time.Since(start) > 20*time.Second {
		t.Errorf("a million brackets took %s: %v", time.Since(start), err)
	}
}

func TestAMismatchIsToldInFewWords(t *testing.T) {
	_, asked, err := answerWith(t, `{"type":"object"}`, `["`+strings.Repeat("é", 100_000)+`"]`)
	if err == nil || len(err.Error()) > 3000 {
		t.Errorf("%d bytes of error", len(err.Error()))
	}
	if said := asked[1].Messages[2].Text; len(said) > 3000 || strings.Contains(said, "\ufffd") {
		t.Errorf("the model is told %d bytes", len(said))
	}
}
