package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

const (
	maxName  = 64   // bytes of a tool's name, as model services demand
	maxTools = 1000 // of one server
	maxPages = 200  // of one list of tools
)

// toolName is how the rest of the product calls a server's tool. Characters
// that model services do not take become underscores.
func toolName(server, name string) string {
	return server + separator + strings.Map(func(r rune) rune {
		if wordRune(r) {
			return r
		}
		return '_'
	}, name)
}

func wordRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}

// checkServerName refuses names that could not stand in front of a tool's.
func checkServerName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("it needs a name")
	case strings.ContainsFunc(name, func(r rune) bool { return !wordRune(r) }):
		return fmt.Errorf("its name may hold only letters, digits, _ and -")
	case strings.Contains(name, separator), strings.HasSuffix(name, "_"):
		return fmt.Errorf("its name may not hold %q nor end in _, since %q ends it in the names of its tools", separator, separator)
	case len(name) > maxName-len(separator)-1:
		return fmt.Errorf("its name leaves no room for a tool's: the two and %q may have %d characters", separator, maxName)
	}
	return nil
}

// checkToolNames refuses a `tools` list whose names do not work.
func checkToolNames(server string, names []string) error {
	seen := make(map[string]string, len(names))
	for _, name := range names {
		full := toolName(server, name)
		other, twice := seen[full]
		switch {
		case name == "":
			return fmt.Errorf("its tools hold an empty name")
		case len(full) > maxName:
			return fmt.Errorf("the name of its tool %q is too long: %q has %d characters, %d are allowed", name, full, len(full), maxName)
		case twice && other == name:
			return fmt.Errorf("its tools name %q twice", name)
		case twice:
			return fmt.Errorf("its tools %q and %q would both be named %q", other, name, full)
		}
		seen[full] = name
	}
	return nil
}

// listed is a tool as a server lists it.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations struct {
		ReadOnlyHint bool `json:"readOnlyHint"`
	} `json:"annotations"`
}

// errUnchanged says that the SDK did not ask again, as the server had said how
// long its list holds.
var errUnchanged = errors.New("the list is the known one")

// list asks a server for all its tools.
func (s *server) list(ctx context.Context, session *sdk.ClientSession) ([]listed, error) {
	var all []listed
	var size int
	params := &sdk.ListToolsParams{}
	seen := map[string]bool{}
	for range maxPages {
		ex := &exchange{}
		_, err := session.ListTools(ex.in(ctx), params)
		raw := ex.answer()
		if raw == nil && err == nil {
			return nil, errUnchanged
		}
		if raw == nil {
			return nil, s.failure(ctx, ex, "listing its tools", err)
		}
		var page struct {
			Tools      []listed `json:"tools"`
			NextCursor string   `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, s.fault(fault.Permanent, "its list of tools can't be read", err)
		}
		all = append(all, page.Tools...)
		if size += len(raw); len(all) > maxTools || size > s.all.maxMessage() {
			return nil, s.fault(fault.Permanent, fmt.Sprintf("it lists too many tools: at most %d, and %d bytes, are read", maxTools, s.all.maxMessage()), nil)
		}
		if page.NextCursor == "" {
			return all, nil
		}
		if seen[page.NextCursor] {
			return nil, s.fault(fault.Permanent, "its list of tools never ends: a page points back to an earlier one", nil)
		}
		seen[page.NextCursor] = true
		params.Cursor = page.NextCursor
	}
	return nil, s.fault(fault.Permanent, fmt.Sprintf("its list of tools has more than %d pages", maxPages), nil)
}

// catalogue makes tools of what a server lists. With a `tools` list these are
// the ones it names, and each must be there and usable. Else they are all, but
// for those that no model service would take, which are warned of.
func (s *server) catalogue(all []listed) ([]*remote, error) {
	var out []*remote
	seen := map[string]string{}
	for _, l := range all {
		if len(s.def.Tools) > 0 && !slices.Contains(s.def.Tools, l.Name) {
			continue
		}
		t, err := s.remote(l)
		if err != nil {
			if len(s.def.Tools) > 0 {
				return nil, s.fault(fault.Permanent, err.Error(), nil)
			}
			s.all.opts.Logger.Warn("a tool of an MCP server was left out", "server", s.def.Name, "reason", err.Error())
			continue
		}
		if other, twice := seen[t.spec.Name]; twice {
			return nil, s.fault(fault.Permanent, fmt.Sprintf("its tools %.80q and %.80q would both be named %q", other, l.Name, t.spec.Name), nil)
		}
		seen[t.spec.Name] = l.Name
		out = append(out, t)
	}
	for _, name := range s.def.Tools {
		if seen[toolName(s.def.Name, name)] == "" {
			return nil, s.fault(fault.Permanent, fmt.Sprintf("it has no tool %q, which its tools name%s", name, offers(all)), nil)
		}
	}
	return out, nil
}

// offers says what a server lists instead.
func offers(all []listed) string {
	const most = 20
	var names []string
	for _, l := range all[:min(len(all), most)] {
		names = append(names, fmt.Sprintf("%.80q", l.Name))
	}
	switch {
	case len(all) == 0:
		return "; it has none"
	case len(all) > most:
		names = append(names, "…")
	}
	return "; it has " + strings.Join(names, ", ")
}

func (s *server) remote(l listed) (*remote, error) {
	full := toolName(s.def.Name, l.Name)
	if l.Name == "" {
		return nil, fmt.Errorf("it lists a tool without a name")
	}
	if len(full) > maxName {
		return nil, fmt.Errorf("the name of its tool %.80q is too long: with the server's, %d characters are allowed", l.Name, maxName)
	}
	schema := value.NewMap(0)
	if len(l.InputSchema) > 0 {
		v, err := value.DecodeJSON(l.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("the schema of its tool %q can't be read: %w", l.Name, err)
		}
		m, ok := v.(*value.Map)
		if !ok {
			return nil, fmt.Errorf("the schema of its tool %q is no object", l.Name)
		}
		schema = m
	}
	switch kind, ok := schema.Get("type"); {
	case !ok:
		schema = schema.With("type", "object")
	case kind != "object":
		return nil, fmt.Errorf("the schema of its tool %q describes no object", l.Name)
	}
	return &remote{server: s, name: l.Name, spec: tool.Spec{
		Name: full, Description: l.Description, Parameters: schema, Destructive: !l.Annotations.ReadOnlyHint,
	}}, nil
}

// remote is a tool of a server.
type remote struct {
	server *server
	name   string // as the server calls it
	spec   tool.Spec
}

// Spec describes the tool as its server did when it was listed.
func (t *remote) Spec() tool.Spec { return t.spec }

// Call calls the tool, and starts its server when it does not run.
func (t *remote) Call(ctx context.Context, args *value.Map) (any, error) {
	return t.server.call(ctx, t.name, args)
}

func (s *server) noSuchTool(name string, tools []*remote) error {
	all := make([]listed, len(tools))
	for i, t := range tools {
		all[i].Name = t.spec.Name
	}
	return s.fault(fault.Permanent, fmt.Sprintf("it has no tool that is named %.80q here%s", name, offers(all)), nil)
}
