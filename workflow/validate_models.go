package workflow

import (
	"math"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/value"
)

func (c *checker) checkAgents() {
	seen := make(map[string]bool, len(c.def.Agents))
	all := place{name: "agents"}
	for i := range c.def.Agents {
		a := &c.def.Agents[i]
		p := all.key(a.Name)
		if a.Name == "" {
			p = all.item(i)
		}
		c.checkName(p, "an agent", a.Name)
		if seen[a.Name] && a.Name != "" {
			c.errorf(p, "duplicate_name", "", "two agents are named %s", quoted(a.Name))
		}
		seen[a.Name] = true
		c.checkSampling(p, a.Temperature, a.MaxTokens, a.MaxToolIterations)
		c.checkToolNames(p.key("tools"), a.Tools)
		c.checkToolChoice(p.key("tool_choice"), a.ToolChoice, a.Tools)
		c.checkOptionalWord(p, "on_max_iterations", a.OnMaxIterations, "finish", "fail")
		c.checkThinking(p.key("thinking"), a.Thinking)
		c.checkValues(p.key("output_schema"), a.OutputSchema)
		if a.BudgetUSD != nil {
			c.checkFloat(p, "budget_usd", *a.BudgetUSD, 0, math.Inf(1))
		}
		c.checkSeconds(p, "timeout", a.Timeout)
	}
}

// checkSampling checks the numbers that model calls and agents share.
func (c *checker) checkSampling(p place, temperature *float64, maxTokens *int64, iterations *int) {
	if temperature != nil {
		c.checkFloat(p, "temperature", *temperature, 0, 2)
	}
	if maxTokens != nil {
		c.checkInt(p, "max_tokens", *maxTokens, 1, unbounded)
	}
	if iterations != nil {
		c.checkInt(p, "max_tool_iterations", int64(*iterations), 1, maxCount)
	}
}

func (c *checker) checkThinking(p place, t *Thinking) {
	if t == nil {
		return
	}
	if t.BudgetTokens != nil {
		c.checkInt(p, "budget_tokens", *t.BudgetTokens, 1, unbounded)
	}
	c.checkOptionalWord(p, "level", t.Level, "low", "medium", "high")
}

func (c *checker) checkToolNames(p place, names []string) {
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if !c.checkName(p.item(i), "a tool", name) {
			continue
		}
		if seen[name] {
			c.errorf(p.item(i), "duplicate_name", "", "tool %s is listed twice", quoted(name))
		}
		seen[name] = true
	}
}

// checkToolChoice wants nil, one of the words, or {name: one of the tools}.
func (c *checker) checkToolChoice(p place, choice any, tools []string) {
	switch choice := choice.(type) {
	case nil:
	case string:
		switch choice {
		case "auto", "none":
		case "required":
			if len(tools) == 0 {
				c.errorf(p, "no_tools", "list the tools, or leave tool_choice out", "tool_choice is \"required\", and there are no tools")
			}
		default:
			c.errorf(p, "unknown_value", c.didYouMean(choice, []string{"auto", "required", "none"}),
				"tool_choice is %s; it must be \"auto\", \"required\", \"none\" or {name: TOOL}", quoted(choice))
		}
	case *value.Map:
		v, _ := choice.Get("name")
		name, ok := v.(string)
		switch {
		case !ok || choice.Len() != 1:
			c.errorf(p, "unknown_value", "", "tool_choice must be \"auto\", \"required\", \"none\" or {name: TOOL}")
		case !slices.Contains(tools, name):
			c.errorf(p.key("name"), "unknown_tool", c.didYouMean(name, tools),
				"tool_choice names %s, which is not among the tools listed here", quoted(name))
		}
	default:
		c.errorf(p, "wrong_type", "", "tool_choice must be \"auto\", \"required\", \"none\" or {name: TOOL}")
	}
}

func (c *checker) checkServers() {
	seen := make(map[string]bool, len(c.def.MCPServers))
	all := place{name: "mcp_servers"}
	for i := range c.def.MCPServers {
		s := &c.def.MCPServers[i]
		p := all.key(s.Name)
		if s.Name == "" {
			p = all.item(i)
		}
		if c.checkName(p, "an MCP server", s.Name) && strings.Contains(s.Name, "__") {
			c.errorf(p, "invalid_name", "", "the name %s of an MCP server may not hold \"__\", which ends it in the names of its tools", quoted(s.Name))
		}
		if seen[s.Name] && s.Name != "" {
			c.errorf(p, "duplicate_name", "", "two MCP servers are named %s", quoted(s.Name))
		}
		seen[s.Name] = true
		switch {
		case s.Command == "" && s.URL == "":
			c.errorf(p, "missing_key", "", "an MCP server needs a command or a url")
		case s.Command != "" && s.URL != "":
			c.errorf(p, "misplaced_key", "", "an MCP server has either a command or a url, not both")
		}
		c.checkSeconds(p, "timeout", s.Timeout)
		c.checkValues(p.key("env"), s.Env)
		c.checkValues(p.key("headers"), s.Headers)
	}
}

// checkConversations finds steps of one conversation that would take turns at
// the same time: those in one layer, or, where a step starts as soon as its own
// dependencies are done, those of which none depends on the other.
func (c *checker) checkConversations() {
	if c.def.Config.Scheduling == Eager {
		c.checkEagerConversations()
		return
	}
	type turn struct {
		name  string
		layer int
	}
	first := map[turn]int{}
	for i := range c.def.Steps {
		name := conversation(&c.def.Steps[i])
		layer := c.graph.Layer(i)
		if name == "" || layer < 0 {
			continue
		}
		if j, taken := first[turn{name, layer}]; taken {
			c.sharedConversation(i, j, name, "are in one layer")
			continue
		}
		first[turn{name, layer}] = i
	}
}

// checkEagerConversations walks, for each conversation, from its last step to
// all that come before it: the one before the last must be among them.
func (c *checker) checkEagerConversations() {
	if !c.ordered() {
		return // which has been told
	}
	last := map[string]int{} // the step of a conversation that comes last in order
	for _, i := range c.graph.Order() {
		name := conversation(&c.def.Steps[i])
		if name == "" {
			continue
		}
		before, taken := last[name]
		last[name] = i
		if !taken {
			continue
		}
		after := false
		for a := range c.graph.Ancestors(i) {
			if after = a == before; after {
				break
			}
		}
		if !after {
			c.sharedConversation(max(i, before), min(i, before), name, "may run at the same time under eager scheduling")
		}
	}
}

func (c *checker) sharedConversation(i, j int, name, why string) {
	c.errorf(stepAt(i).key("conversation"), "shared_conversation",
		"let one of them depend on the other",
		"steps %s and %s of conversation %s %s, so their order is not settled",
		c.name(j), c.name(i), quoted(name), why)
}

func conversation(s *Step) string {
	switch {
	case s.LLM != nil:
		return s.LLM.Conversation
	case s.Agent != nil:
		return s.Agent.Conversation
	}
	return ""
}
