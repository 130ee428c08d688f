package google

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"google.golang.org/genai"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
)

// call is a request in the SDK's terms.
type call struct {
	model  string
	config *genai.GenerateContentConfig
}

// request makes the SDK's request of ours. Three parts of the body are put in
// as they are, past the SDK, whose maps would sort the keys of schemas and
// arguments and round their numbers: the conversation, the tools, and the
// answer's schema.
func (p *Provider) request(req *model.Request) (*call, error) {
	if req.Model == "" || len(req.Messages) == 0 {
		return nil, p.refuse("a call to %s needs a model and at least one message", p.Name())
	}
	name, err := p.modelName(req.Model)
	if err != nil {
		return nil, err
	}
	kind := kindOf(name)
	contents, err := p.contents(req.Messages, kind)
	if err != nil {
		return nil, err
	}
	body := map[string]json.RawMessage{}
	if body["contents"], err = p.encode("the conversation", contents); err != nil {
		return nil, err
	}
	never := false
	config := &genai.GenerateContentConfig{
		AutomaticContinuation: &never, // it would bill calls that nobody asked for
		ThinkingConfig:        thinking(kind, req.Thinking),
	}
	if req.System != "" {
		config.SystemInstruction = genai.NewContentFromText(req.System, genai.RoleUser)
	}
	if t := req.Temperature; t != nil {
		if math.IsNaN(*t) || math.IsInf(*t, 0) {
			return nil, p.refuse("a call to %s has the temperature %v, which is no number", p.Name(), *t)
		}
		config.Temperature = genai.Ptr(float32(*t))
	}
	if req.MaxTokens != nil {
		config.MaxOutputTokens = clamp32(*req.MaxTokens)
	}
	if len(req.Tools) > 0 {
		if body["tools"], err = p.tools(req.Tools); err != nil {
			return nil, err
		}
		config.ToolConfig = toolConfig(req.ToolChoice)
	}
	var schema json.RawMessage
	// Models before Gemini 3 refuse a schema together with tools, so there the
	// caller's check has to do.
	if req.Schema != nil && (len(req.Tools) == 0 || !kind.old) {
		if schema, err = p.encode("the answer's schema", req.Schema); err != nil {
			return nil, err
		}
		config.ResponseMIMEType = "application/json"
	}
	config.HTTPOptions = &genai.HTTPOptions{ExtrasRequestProvider: func(out map[string]any) map[string]any {
		for key, raw := range body {
			out[key] = raw
		}
		if generation, ok := out["generationConfig"].(map[string]any); ok && schema != nil {
			generation["responseJsonSchema"] = schema
		}
		return out
	}}
	return &call{model: name, config: config}, nil
}

// encode writes a part of the request.
func (p *Provider) encode(what string, v any) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, p.refuse("%s for %s can't be written as JSON: %v", what, p.Name(), err)
	}
	return b, nil
}

func (p *Provider) refuse(format string, args ...any) error {
	return fault.New(fault.Permanent, fmt.Sprintf(format, args...), nil)
}

// modelName checks that a model's name can stand in a URL and leads nowhere
// else.
func (p *Provider) modelName(name string) (string, error) {
	for part := range strings.SplitSeq(name, "/") {
		if strings.Trim(part, ".") == "" || strings.Contains(part, "..") || strings.ContainsFunc(part, notInName) {
			return "", p.refuse("%s can't have a model called %q: a name holds letters, digits and the characters - _ . : @ /", p.Name(), name)
		}
	}
	return name, nil
}

func notInName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_.:@", r)
}

func (p *Provider) tools(specs []model.ToolSpec) (json.RawMessage, error) {
	tool := &genai.Tool{}
	for _, s := range specs {
		f := &genai.FunctionDeclaration{Name: s.Name, Description: s.Description}
		if s.Parameters != nil {
			f.ParametersJsonSchema = s.Parameters
		}
		tool.FunctionDeclarations = append(tool.FunctionDeclarations, f)
	}
	return p.encode("the tools", []*genai.Tool{tool})
}

// toolConfig is nil for no choice: the service's default is that the model
// decides.
func toolConfig(c *model.ToolChoice) *genai.ToolConfig {
	if c == nil {
		return nil
	}
	calling := &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAuto}
	switch c.Mode {
	case model.RequireTools:
		calling.Mode = genai.FunctionCallingConfigModeAny
	case model.NoTools:
		calling.Mode = genai.FunctionCallingConfigModeNone
	case model.NamedTool:
		calling.Mode = genai.FunctionCallingConfigModeAny
		calling.AllowedFunctionNames = []string{c.Name}
	}
	return &genai.ToolConfig{FunctionCallingConfig: calling}
}

func clamp32(n int64) int32 {
	return int32(min(max(n, math.MinInt32), math.MaxInt32))
}
