package recorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloom/agentloom/fault"
)

const (
	versionKey = "_version"
	toolsKey   = "_tools"
)

// contents is a recording as it stands in the file: each key's JSON as it was
// written, but for the two keys that are ours.
type contents struct {
	keys  []string
	raw   map[string]json.RawMessage
	tools []toolResult
}

// toolResult is one element of `_tools`, encoded.
type toolResult struct {
	step string
	raw  []byte
}

// own is what this run recorded.
type own struct {
	keys  []string // in the order of their first record
	turns map[string][]turn
	tools []toolResult
	fresh map[string]bool // the steps recorded anew: what the file has of them goes
	size  int64           // of all records
}

type turn struct {
	seq     uint64 // of the call
	attempt int    // of the step; 0: there are none
	raw     []byte
}

func (o *own) addTurn(key string, t turn) {
	if len(o.turns[key]) == 0 {
		o.keys = append(o.keys, key)
		o.fresh[key] = true
	}
	list := o.turns[key]
	switch {
	case len(list) == 0 || list[0].attempt == t.attempt:
	case list[0].attempt > t.attempt:
		return // a call of an attempt that was given up
	default: // a replay makes the last attempt only
		for _, old := range list {
			o.size -= int64(len(old.raw))
		}
		list = nil
	}
	at := len(list)
	for at > 0 && list[at-1].seq > t.seq {
		at--
	}
	o.turns[key] = slices.Insert(list, at, t)
}

func (o *own) addTool(t toolResult) {
	o.tools = append(o.tools, t)
	o.fresh[t.step] = true
}

// parse reads a recording; src may be empty.
func parse(src []byte, file string) (contents, error) {
	c := contents{raw: map[string]json.RawMessage{}}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if len(src) == 0 {
		return c, nil
	}
	bad := func(why string) error {
		return fault.New(fault.Invalid, fmt.Sprintf("%s is no recording: %s", file, why), nil)
	}
	d := json.NewDecoder(bytes.NewReader(src))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return c, bad("it must be a JSON object, keyed by step id")
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return c, bad(err.Error())
		}
		key := t.(string) // the decoder lets nothing else stand here
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return c, bad(err.Error())
		}
		switch key {
		case versionKey:
			var n float64
			if json.Unmarshal(raw, &n) != nil || n > Version {
				return c, bad(fmt.Sprintf("its _version is %.20s, and this program writes %d", raw, Version))
			}
		case toolsKey:
			if c.tools, err = parseTools(raw); err != nil {
				return c, bad(err.Error())
			}
		default:
			if _, twice := c.raw[key]; !twice {
				c.keys = append(c.keys, key)
			}
			c.raw[key] = raw
		}
	}
	if _, err := d.Token(); err != nil {
		return c, bad(err.Error())
	}
	return c, nil
}

func parseTools(raw json.RawMessage) ([]toolResult, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, errors.New("_tools must be a list of results")
	}
	out := make([]toolResult, len(list))
	for i, one := range list {
		var head struct {
			StepID *string `json:"step_id"`
		}
		if json.Unmarshal(one, &head) != nil || head.StepID == nil {
			return nil, fmt.Errorf("result %d of _tools has no step_id", i+1)
		}
		out[i] = toolResult{*head.StepID, one}
	}
	return out, nil
}

// merge is the file to write: what it has, with what was recorded anew in its
// place, as pieces of bytes.
func merge(base contents, o *own) [][]byte {
	p := pieces{list: [][]byte{[]byte("{\n")}}
	p.add([]byte(fmt.Sprintf("%q: %d", versionKey, Version)))
	for _, key := range base.keys {
		if turns := o.turns[key]; len(turns) > 0 {
			p.addTurns(key, turns)
			continue
		}
		p.add(quoted(key), base.raw[key])
	}
	for _, key := range o.keys {
		if _, there := base.raw[key]; !there {
			p.addTurns(key, o.turns[key])
		}
	}
	var tools [][]byte
	for _, t := range base.tools {
		if !o.fresh[t.step] {
			tools = append(tools, t.raw)
		}
	}
	for _, t := range o.tools {
		tools = append(tools, t.raw)
	}
	if len(tools) > 0 {
		p.addList(toolsKey, tools)
	}
	p.list = append(p.list, []byte("\n}\n"))
	return p.list
}

// pieces builds the members of an object, one to a line.
type pieces struct {
	list  [][]byte
	comma bool
}

func (p *pieces) add(parts ...[]byte) {
	if p.comma {
		p.list = append(p.list, []byte(",\n"))
	}
	p.comma = true
	p.list = append(p.list, []byte("  "))
	p.list = append(p.list, parts...)
}

func (p *pieces) addTurns(key string, turns []turn) {
	if len(turns) == 1 {
		p.add(quoted(key), turns[0].raw)
		return
	}
	raws := make([][]byte, len(turns))
	for i, t := range turns {
		raws[i] = t.raw
	}
	p.addList(key, raws)
}

func (p *pieces) addList(key string, raws [][]byte) {
	p.add(quoted(key), []byte("[\n    "))
	for i, raw := range raws {
		if i > 0 {
			p.list = append(p.list, []byte(",\n    "))
		}
		p.list = append(p.list, raw)
	}
	p.list = append(p.list, []byte("\n  ]"))
}

// quoted is a key and its colon.
func quoted(key string) []byte {
	b, _ := encode(strings.ToValidUTF8(key, "\ufffd")) // a string always has a form
	return append(b, ": "...)
}
