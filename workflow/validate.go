package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentloom/agentloom/internal/graph"
)

// Validate checks the rules that a definition must obey to run, whether it was
// loaded from a file or built in Go, and returns all that is wrong, in path
// order. The errors make it unfit to run (see Diagnostics.Err); the few
// warnings are of what is certain to fail later. It reads nothing but def,
// changes nothing, and takes time linear in the definition's size, near
// enough.
func Validate(def *Definition) Diagnostics {
	c := newChecker(def)
	c.validate()
	return c.diagnostics()
}

// Lint returns warnings of what is allowed but can only go wrong later, in
// path order. It does not repeat what Validate says, and is made for
// definitions that Validate accepts; of others it says what it still can.
func Lint(def *Definition) Diagnostics {
	c := newChecker(def)
	c.lint()
	return c.diagnostics()
}

// Check is Validate and Lint in one, in path order.
func Check(def *Definition) Diagnostics {
	c := newChecker(def)
	c.validate()
	c.lint()
	return c.diagnostics()
}

// checker holds a definition and what the rules need to know about all of it.
type checker struct {
	report
	def   *Definition
	ids   []string     // of the steps
	graph *graph.Graph // node i is step i; self-dependencies left out
	// unique: no id stands twice, so that ids and steps are the same thing.
	unique  bool
	agents  map[string]bool // names
	servers map[string]bool // names of MCP servers
	sets    *setKeys        // made when first needed
	// faultless are the lists and mappings of arguments that lint found nothing
	// wrong with: *value.Map or extent.
	faultless map[any]bool
}

func newChecker(def *Definition) *checker {
	if def == nil {
		def = &Definition{}
	}
	c := &checker{
		def:     def,
		ids:     make([]string, len(def.Steps)),
		agents:  make(map[string]bool, len(def.Agents)),
		servers: make(map[string]bool, len(def.MCPServers)),
	}
	for i := range def.Agents {
		c.agents[def.Agents[i].Name] = true
	}
	for i := range def.MCPServers {
		c.servers[def.MCPServers[i].Name] = true
	}
	deps := make([][]string, len(def.Steps))
	seen := make(map[string]bool, len(def.Steps))
	for i := range def.Steps {
		s := &def.Steps[i]
		c.ids[i] = s.ID
		seen[s.ID] = true
		deps[i] = s.DependsOn
		if slices.Contains(s.DependsOn, s.ID) {
			deps[i] = slices.DeleteFunc(slices.Clone(s.DependsOn), func(d string) bool { return d == s.ID })
		}
	}
	c.unique = len(seen) == len(def.Steps)
	c.graph = graph.New(c.ids, deps)
	return c
}

// name is how a message calls step i: by its id, or by its number where the id
// is missing.
func (c *checker) name(i int) fmt.Stringer {
	if c.ids[i] == "" {
		return stepAt(i)
	}
	return quoted(c.ids[i])
}

// ordered reports whether the steps form a graph that questions can be asked
// of: unique ids and no cycle.
func (c *checker) ordered() bool { return c.unique && c.graph.Acyclic() }

func (c *checker) validate() {
	c.checkTop()
	c.checkConfig()
	c.checkValues(wholeFile().key("state"), c.def.State)
	c.checkAgents()
	c.checkServers()
	c.checkIDs()
	for i := range c.def.Steps {
		c.checkStep(i, &c.def.Steps[i])
	}
	c.checkCycles()
	c.checkConversations()
	if c.def.Config.StrictOutputs {
		c.checkParallelWrites(SeverityError)
	}
	c.checkUnsupported()
}

func (c *checker) lint() {
	c.lintSandbox()
	c.lintAgents()
	for i := range c.def.Steps {
		c.lintStep(i, &c.def.Steps[i])
	}
	c.lintNeverRuns()
	if !c.def.Config.StrictOutputs {
		c.checkParallelWrites(SeverityWarning)
	}
}

func (c *checker) checkTop() {
	if strings.TrimSpace(c.def.Name) == "" {
		c.errorf(place{name: "name"}, "missing_key", "give the workflow a name", "name is required")
	}
	if len(c.def.Steps) == 0 {
		c.errorf(allSteps(), "no_steps", "add a step", "a workflow needs at least one step")
	}
}

// diagnostics returns what was found, in path order: sections in the order of
// the docs, steps by number, and within a step in the order of the rules.
func (c *checker) diagnostics() Diagnostics {
	type ranked struct {
		section, item int
		d             Diagnostic
	}
	all := c.result()
	order := make([]ranked, len(all))
	for i, d := range all {
		section, item := rank(d.Path)
		order[i] = ranked{section, item, d}
	}
	slices.SortStableFunc(order, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.item, b.item))
	})
	for i, r := range order {
		all[i] = r.d
	}
	return all
}

func sections() []string {
	return []string{"name", "config", "state", "state_schema", "agents", "mcp_servers", "steps", ""}
}

// rank returns a path's section and, for `steps[3].…`, its number.
func rank(path string) (section, item int) {
	if rest, ok := strings.CutPrefix(path, "steps["); ok {
		number, _, _ := strings.Cut(rest, "]")
		if n, err := strconv.Atoi(number); err == nil {
			return slices.Index(sections(), "steps"), n
		}
	}
	if end := strings.IndexAny(path, ".["); end >= 0 {
		path = path[:end]
	}
	return slices.Index(sections(), path), -1
}
