//go:build !offline

package vendors

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// google speaks generateContent. It gives its calls no ids, and signs the
// first call of a turn, as Gemini does.
type google struct{}

func (google) name() string       { return "google" }
func (google) streamType() string { return "text/event-stream" }

func (google) tail() int           { return 1 }
func (google) early(u usage) int64 { return u.Prompt }

func (google) environ(url string) []string {
	return []string{"GOOGLE_BASE_URL=" + url, "GOOGLE_API_KEY=" + canary}
}

// unthinking signs a turn that shows no thoughts.
const unthinking = "Rmlyc3QgY2FsbA=="

type googlePart struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature string `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string            `json:"id"`
		Name     string            `json:"name"`
		Response map[string]string `json:"response"`
	} `json:"functionResponse"`
}

type googleContent struct {
	Role  string       `json:"role"`
	Parts []googlePart `json:"parts"`
}

type googleRequest struct {
	System   *googleContent  `json:"systemInstruction"`
	Contents []googleContent `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	ToolConfig struct {
		Calling struct {
			Mode    string   `json:"mode"`
			Allowed []string `json:"allowedFunctionNames"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	Generation struct {
		MaxTokens   int64           `json:"maxOutputTokens"`
		Temperature float64         `json:"temperature"`
		MIMEType    string          `json:"responseMimeType"`
		Schema      json.RawMessage `json:"responseJsonSchema"`
		Thinking    struct {
			Include bool `json:"includeThoughts"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

func (google) read(r *http.Request, body []byte) (q question, err error) {
	path, verb, _ := strings.Cut(r.URL.Path, ":")
	if err := needs(r, r.URL.Path, "X-Goog-Api-Key", canary); err != nil {
		return q, err
	}
	q.Model = strings.TrimPrefix(path, "/v1beta/models/")
	switch {
	case q.Model == path:
		return q, fmt.Errorf("the path is %s", r.URL.Path)
	case verb == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse":
		q.Stream = true
	case verb != "generateContent":
		return q, fmt.Errorf("the method is %q", verb)
	case strings.Contains(r.URL.RawQuery, "key"):
		return q, fmt.Errorf("the query is %q", r.URL.RawQuery)
	}
	var in googleRequest
	if err := decode(body, &in); err != nil {
		return q, err
	}
	g := in.Generation
	q.MaxTokens, q.Temperature, q.Thinking = g.MaxTokens, g.Temperature, g.Thinking.Include
	if q.Schema = canonical(g.Schema); q.Schema != "" && g.MIMEType != "application/json" {
		return q, fmt.Errorf("a schema with the type %q", g.MIMEType)
	}
	if in.System != nil {
		for _, p := range in.System.Parts {
			q.System += p.Text
		}
	}
	for _, c := range in.Contents {
		t, err := c.turn()
		if err != nil {
			return q, err
		}
		q.Turns = append(q.Turns, t)
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			q.Tools = append(q.Tools, toolSpec{f.Name, f.Description, canonical(f.Parameters)})
		}
	}
	switch c := in.ToolConfig.Calling; {
	case len(c.Allowed) > 0:
		q.Choice = c.Allowed[0]
	default:
		q.Choice = map[string]string{"AUTO": "auto", "ANY": "required", "NONE": "none"}[c.Mode]
	}
	return q, nil
}

func (c googleContent) turn() (t turn, err error) {
	t.Role = c.Role
	for _, p := range c.Parts {
		switch {
		case p.Thought:
			return t, fmt.Errorf("a thought comes back")
		case p.Call != nil && c.Role == "model":
			if want := len(t.Calls) == 0; want != (p.Signature != "") {
				return t, fmt.Errorf("call %d is signed %q", len(t.Calls), p.Signature)
			}
			switch p.Signature {
			case signature:
				t.Trace = trace
			case "", unthinking:
			default:
				return t, fmt.Errorf("a call is signed %q", p.Signature)
			}
			t.Calls = append(t.Calls, call{p.Call.ID, p.Call.Name, canonical(p.Call.Args)})
		case p.Response != nil && c.Role == "user":
			t.Role = "tool"
			out := result{ID: p.Response.ID, Name: p.Response.Name, Text: p.Response.Response["result"]}
			if words, ok := p.Response.Response["error"]; ok {
				out.Text, _ = failure(words)
				out.Failed = true
			}
			t.Results = append(t.Results, out)
		case p.Call == nil && p.Response == nil:
			t.Text += p.Text
		default:
			return t, fmt.Errorf("a part of the %s is %+v", c.Role, p)
		}
	}
	if len(c.Parts) == 0 || t.Role != "user" && t.Role != "model" && t.Role != "tool" {
		return t, fmt.Errorf("a content of the role %q with %d parts", c.Role, len(c.Parts))
	}
	return t, nil
}

func (google) document(q question, parts []any, finish string, u usage) object {
	candidate := object{"content": object{"parts": parts, "role": "model"}, "index": 0}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	meta := object{"promptTokenCount": u.Prompt, "candidatesTokenCount": u.Completion - u.Reasoning, "totalTokenCount": u.Prompt + u.Completion}
	if u.Cached > 0 {
		meta["cachedContentTokenCount"] = u.Cached
	}
	if u.Reasoning > 0 {
		meta["thoughtsTokenCount"] = u.Reasoning
	}
	return object{"candidates": []any{candidate}, "usageMetadata": meta, "modelVersion": q.Model, "responseId": "r-1"}
}

func (google) calls(a answer) (parts []any) {
	for i, c := range a.Calls {
		p := object{"functionCall": object{"name": c.Name, "args": json.RawMessage(c.Args)}}
		if i == 0 {
			if p["thoughtSignature"] = unthinking; a.Trace != "" {
				p["thoughtSignature"] = signature
			}
		}
		parts = append(parts, p)
	}
	return parts
}

func (d google) whole(q question, a answer) string {
	parts := []any{}
	if a.Trace != "" {
		parts = append(parts, object{"text": a.Trace, "thought": true})
	}
	if a.Text != "" {
		parts = append(parts, object{"text": a.Text})
	}
	return mustJSON(d.document(q, append(parts, d.calls(a)...), "STOP", a.Usage))
}

func (d google) events(q question, a answer) (out []string) {
	grown := usage{Prompt: a.Usage.Prompt, Cached: a.Usage.Cached}
	add := func(part any) {
		grown.Completion = min(grown.Completion+1, a.Usage.Completion-a.Usage.Reasoning)
		out = append(out, sse("", d.document(q, []any{part}, "", grown)))
	}
	if a.Trace != "" {
		for _, p := range split(a.Trace, 5) {
			add(object{"text": p, "thought": true})
		}
	}
	if a.Text != "" {
		for _, p := range split(a.Text, 5) {
			add(object{"text": p})
		}
	}
	for _, p := range d.calls(a) {
		add(p)
	}
	return append(out, sse("", d.document(q, []any{object{"text": ""}}, "STOP", a.Usage)))
}

func (google) unknown() []string {
	return []string{
		": a comment\n\n",
		"data: {\"somethingNew\": {\"text\": 7}}\n\n",
		"event: something_new\ndata: {\"candidates\": [{\"content\": {\"parts\": [{\"hologram\": [1]}], \"role\": \"model\"}, \"index\": 0}]}\n\n",
	}
}

func (d google) empty(stream bool) string {
	doc := d.document(question{Model: "fake-model"}, nil, "", usage{Prompt: 100})
	doc["candidates"] = []any{}
	if !stream {
		return mustJSON(doc)
	}
	return sse("", doc)
}

func (google) failure(status int, words string) string {
	kind := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}[status]
	return mustJSON(object{"error": object{"code": status, "message": words, "status": kind}})
}

func (d google) broken(words string) string { return sse("", json.RawMessage(d.failure(500, words))) }

func (google) embed(r *http.Request, body []byte) (string, error) {
	if !strings.HasSuffix(r.URL.Path, ":batchEmbedContents") {
		return "", nil
	}
	var in struct {
		Requests []struct {
			Model      string        `json:"model"`
			Content    googleContent `json:"content"`
			Dimensions int           `json:"outputDimensionality"`
		} `json:"requests"`
	}
	if err := needs(r, "/v1beta/models/fake-embed:batchEmbedContents", "X-Goog-Api-Key", canary); err != nil {
		return "", err
	}
	if err := decode(body, &in); err != nil {
		return "", err
	}
	var out []any
	for _, q := range in.Requests {
		if q.Model != "models/fake-embed" || len(q.Content.Parts) != 1 {
			return "", fmt.Errorf("a request for vectors is %+v", q)
		}
		out = append(out, object{"values": vector(q.Content.Parts[0].Text, q.Dimensions)})
	}
	return mustJSON(object{"embeddings": out, "usageMetadata": object{"promptTokenCount": 9}}), nil
}
