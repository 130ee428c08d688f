package sandbox

import (
	"net/url"
	"os"
	"slices"
	"testing"

	"github.com/agentloom/agentloom/workflow"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestIntersect is the table of subworkflows and the list below it.
func TestIntersect(t *testing.T) {
	dir := layout(t, "a/b/c/", "d/", "link -> a/b")
	number := func(n int64) *int64 { return &n }
	block := func(change func(*workflow.Sandbox)) *workflow.Sandbox {
		s := &workflow.Sandbox{Enabled: true, AllowNetwork: true}
		change(s)
		return s
	}
	disabled := func(change func(*workflow.Sandbox)) *workflow.Sandbox {
		s := block(change)
		s.Enabled = false
		return s
	}
	domains := func(list ...string) *workflow.Sandbox {
		return block(func(s *workflow.Sandbox) { s.AllowedDomains = list })
	}
	schemes := func(list ...string) *workflow.Sandbox {
		return block(func(s *workflow.Sandbox) { s.AllowedSchemes = list })
	}
	commands := func(list ...string) func(*workflow.Sandbox) {
		return func(s *workflow.Sandbox) { s.AllowedCommands = list }
	}
	paths := func(allowed, readable, writable []string) *workflow.Sandbox {
		return block(func(s *workflow.Sandbox) {
			s.AllowedPaths, s.ReadablePaths, s.WritablePaths = allowed, readable, writable
		})
	}
	list := func(entries ...string) []string { return entries }
	cases := []struct {
		name                string
		parent, child, want *workflow.Sandbox
	}{
		{"both disabled: the child's own", disabled(commands("ls")), disabled(commands("rm")), disabled(commands("rm"))},
		{"the child disabled: the parent's", block(commands("ls")), disabled(commands("rm")), block(commands("ls"))},
		{"the child without a block: the parent's", block(commands("ls")), nil, block(commands("ls"))},
		{"the parent disabled: the child's own", disabled(commands("ls")), block(commands("rm")), block(commands("rm"))},
		{"the parent without a block: the child's own", nil, block(commands("rm")), block(commands("rm"))},
		{"a command must be on both lists", block(commands("ls", "grep", "cp")), block(commands("cp", "rm", "ls", "LS")), block(commands("cp", "ls"))},
		{"no command is on one that is empty", block(commands("ls")), block(commands()), block(commands())},
		{"a danger_opt_in entry too",
			block(func(s *workflow.Sandbox) { s.DangerOptIn = list("sh", "env") }),
			block(func(s *workflow.Sandbox) { s.DangerOptIn = list("env", "awk") }),
			block(func(s *workflow.Sandbox) { s.DangerOptIn = list("env") })},
		{"the deeper directory applies", paths(list("a", "d"), nil, nil), paths(list("a/b/c", "."), nil, nil),
			paths(list(dir+"/a/b/c", dir+"/a", dir+"/d"), nil, nil)},
		{"links are resolved before", paths(list("link"), nil, nil), paths(list("a"), nil, nil), paths(list(dir+"/a/b"), nil, nil)},
		{"a directory must be readable under both", paths(nil, list("a"), nil), paths(nil, nil, list("a")), paths(nil, nil, nil)},
		{"readable under both", paths(list("a"), nil, nil), paths(nil, list("a/b"), nil), paths(nil, list(dir+"/a/b"), nil)},
		{"writable under both", paths(nil, nil, list("a/b")), paths(list("a"), nil, nil), paths(nil, nil, list(dir+"/a/b"))},
		{"readable here and writable there", paths(nil, list("a"), list("a/b")), paths(list("a"), nil, nil), paths(nil, list(dir+"/a"), list(dir+"/a/b"))},
		{"nothing in common", paths(list("a"), nil, nil), paths(list("d"), nil, nil), paths(nil, nil, nil)},
		{"domains share entries, in any case", domains("A.example", "b.example"), domains("c.example", "a.EXAMPLE"), domains("a.EXAMPLE")},
		{"and in Unicode", domains("xn--bcher-kva.example"), domains("bücher.example"), domains("bücher.example")},
		{"domains with nothing in common", domains("a.example"), domains("b.example"), domains("")},
		{"domains of the child only: internal hosts are denied", domains(), domains("a.example"),
			block(func(s *workflow.Sandbox) { s.AllowedDomains, s.DenyInternalHosts = list("a.example"), true })},
		{"domains of the parent only", domains("a.example"), domains(),
			block(func(s *workflow.Sandbox) { s.AllowedDomains, s.DenyInternalHosts = list("a.example"), true })},
		{"no domains", domains(), domains(), domains()},
		{"the parent's deny_internal_hosts holds", block(func(s *workflow.Sandbox) { s.DenyInternalHosts = true }), domains(),
			block(func(s *workflow.Sandbox) { s.DenyInternalHosts = true })},
		{"schemes share entries", schemes("http", "https"), schemes("HTTPS"), schemes("HTTPS")},
		{"schemes of one", schemes(), schemes("https"), schemes("https")},
		{"schemes with nothing in common", schemes("http"), schemes("https"), schemes("")},
		{"the network must be on in both", block(func(s *workflow.Sandbox) { s.AllowNetwork = false }), domains(),
			block(func(s *workflow.Sandbox) { s.AllowNetwork = false })},
		{"internal webhooks must be allowed in both", block(func(s *workflow.Sandbox) { s.AllowInternalWebhookTargets = true }), domains(), domains()},
		{"allowed in both",
			block(func(s *workflow.Sandbox) { s.AllowInternalWebhookTargets = true }),
			block(func(s *workflow.Sandbox) { s.AllowInternalWebhookTargets = true }),
			block(func(s *workflow.Sandbox) { s.AllowInternalWebhookTargets = true })},
		{"the smaller limits",
			block(func(s *workflow.Sandbox) { s.MaxWriteBytes, s.MaxReadBytes = number(10), nil }),
			block(func(s *workflow.Sandbox) { s.MaxWriteBytes, s.MaxReadBytes = number(20), number(5) }),
			block(func(s *workflow.Sandbox) { s.MaxWriteBytes, s.MaxReadBytes = number(10), number(5) })},
		{"the stricter kernel",
			block(func(s *workflow.Sandbox) { s.Kernel = "require" }),
			block(func(s *workflow.Sandbox) { s.Kernel = "off" }),
			block(func(s *workflow.Sandbox) { s.Kernel = "require" })},
		{"strict is stricter than nothing said", domains(),
			block(func(s *workflow.Sandbox) { s.Kernel = "strict" }),
			block(func(s *workflow.Sandbox) { s.Kernel = "strict" })},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Intersect(c.parent, c.child, dir)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(*c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestIntersectErrors(t *testing.T) {
	dir := layout(t, "loop -> loop")
	ok, bad := enabledBlock(nil), enabledBlock(func(s *workflow.Sandbox) { s.AllowedPaths = []string{"loop"} })
	for _, pair := range [][2]*workflow.Sandbox{{ok, bad}, {bad, ok}} {
		if _, err := Intersect(pair[0], pair[1], dir); err == nil {
			t.Error("no error")
		}
	}
}

// TestNothingInCommonRefusesEveryRequest, schemeless URLs too.
func TestNothingInCommonRefusesEveryRequest(t *testing.T) {
	both := func(change func(*workflow.Sandbox, string)) *Policy {
		one := func(n string) *workflow.Sandbox {
			return enabledBlock(func(s *workflow.Sandbox) { change(s, n) })
		}
		p, err := New(one("1"), PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if p, err = p.Child(one("2")); err != nil {
			t.Fatal(err)
		}
		return p
	}
	hosts := both(func(s *workflow.Sandbox, n string) { s.AllowedDomains = []string{"192.0.32." + n} })
	schemes := both(func(s *workflow.Sandbox, n string) {
		s.AllowedSchemes = []string{map[string]string{"1": "http", "2": "https"}[n]}
	})
	for _, u := range []string{"http://192.0.32.1/", "https://192.0.32.2/", "//192.0.32.1/", "http:///", "https:", "", "x"} {
		wantRefusal(t, hosts.CheckURL(t.Context(), u))
		wantRefusal(t, schemes.CheckURL(t.Context(), u))
	}
}

// TestChildKeepsTheParentsDirectories: as they were when the parent started.
func TestChildKeepsTheParentsDirectories(t *testing.T) {
	dir := layout(t, "work/d/f", "secret/f", "child.yaml", "parent.yaml")
	block := enabledBlock(func(s *workflow.Sandbox) { s.AllowedPaths = []string{"work/d", "."} })
	own := *block
	own.AllowedPaths = []string{"work/d"}
	p, err := New(&own, PolicyOptions{Dir: dir, Protected: []string{"parent.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+"/work/d", dir+"/moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret", dir+"/work/d"); err != nil {
		t.Fatal(err)
	}
	for _, child := range []*workflow.Sandbox{nil, block, sandboxOf(nil)} {
		c, err := p.As("tool").Child(child, "child.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"work/d/f", "secret/f"} {
			wantRefusal(t, c.CheckPath(path, false), "Sandbox violation (tool)")
		}
	}
}

func TestChildProtects(t *testing.T) {
	dir := layout(t, "child.yaml", "parent.yaml", "f")
	open := enabledBlock(func(s *workflow.Sandbox) { s.AllowedPaths = []string{"."} })
	for _, pair := range [][2]*workflow.Sandbox{{open, nil}, {open, open}, {nil, open}} {
		p, err := New(pair[0], PolicyOptions{Dir: dir, Protected: []string{"parent.yaml"}})
		if err != nil {
			t.Fatal(err)
		}
		if p, err = p.Child(pair[1], "child.yaml"); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"child.yaml", "parent.yaml", ".agentloom/x"} {
			wantRefusal(t, p.CheckPath(path, true), "tools can't write")
		}
		if err := p.CheckPath("f", true); err != nil {
			t.Error(err)
		}
	}
}

// drawBlock draws an enabled block over the tree of TestIntersectionIsNarrower.
func drawBlock(t *rapid.T, name string) *workflow.Sandbox {
	some := func(key string, of ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, 3, rapid.ID[string]).Draw(t, name+"."+key)
	}
	dirs := []string{".", "a", "a/b", "a/b/c", "d", "d/e", "link", "a/up", "none", "/"}
	flag := func(key string) bool { return rapid.Bool().Draw(t, name+"."+key) }
	s := &workflow.Sandbox{
		Enabled:         true,
		AllowedCommands: some("commands", "ls", "grep", "env", "sh", "LS"), DangerOptIn: some("opt", "env", "sh"),
		AllowedPaths: some("allowed", dirs...), ReadablePaths: some("readable", dirs...), WritablePaths: some("writable", dirs...),
		AllowNetwork:   rapid.SampledFrom([]bool{true, true, false}).Draw(t, name+".network"),
		AllowedDomains: some("domains", "a.example", "A.example", "127.0.0.1", "localhost", "b.example"), AllowedSchemes: some("schemes", "http", "https", "HTTPS", "ftp"),
		AllowInternalWebhookTargets: flag("webhooks"), DenyInternalHosts: flag("deny"),
	}
	if flag("limited") {
		n := rapid.Int64Range(0, 20).Draw(t, name+".most")
		s.MaxWriteBytes = &n
	}
	return s
}

// TestIntersectionIsNarrower: what both allow, and of paths and URLs all of it.
func TestIntersectionIsNarrower(t *testing.T) {
	dir := layout(t, "bin/ls!", "bin/grep!", "bin/env!", "bin/sh!", "a/b/c/f", "a/f", "d/e/f", "f", "link -> a/b", "a/up -> ../d", "d/in -> ../a/b/c/f")
	paths := []string{"f", "a", "a/f", "a/b/f", "a/b/c/f", "d/f", "d/e/new", "link/c/f", "a/up/e/f", "d/in", "none/x", "/etc/passwd", "a/../f", ".agentloom/x"}
	urls := []string{"http://a.example/", "https://A.EXAMPLE/", "https://b.example", "http://127.0.0.1/", "http://localhost", "https://127.1/", "ftp://a.example", "//a.example", "https://other.example"}
	args := append(slices.Clone(paths), "x", "--f=a/b", "-fa/b", "in", "..", ".", "if=../f", "")
	rapid.Check(t, func(t *rapid.T) {
		make := func(block *workflow.Sandbox) *Policy {
			p, err := New(block, PolicyOptions{Dir: dir, Path: dir + "/bin"})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		block := drawBlock(t, "child")
		parent, own := make(drawBlock(t, "parent")), make(block)
		both, err := parent.Child(block)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			for what, check := range map[string]func(*Policy) error{
				"read":  func(p *Policy) error { return p.CheckPath(path, false) },
				"write": func(p *Policy) error { _, err := p.WritePath(path, 10); return err },
			} {
				if a, b, c := check(parent), check(own), check(both); (a == nil && b == nil) != (c == nil) {
					t.Fatalf("%s %s: the parent says %v, the child's own block %v, both %v", what, path, a, b, c)
				}
			}
		}
		for _, text := range urls {
			u, err := url.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range []func(*Policy) Network{(*Policy).Request, (*Policy).Attachment, (*Policy).Webhook} {
				a, b, c := of(parent).CheckURL(u), of(own).CheckURL(u), of(both).CheckURL(u)
				if (a == nil && b == nil) != (c == nil) {
					t.Fatalf("%s %s: the parent says %v, the child's own block %v, both %v", of(both).Use, text, a, b, c)
				}
			}
		}
		for range 20 {
			command := rapid.SampledFrom([]string{"ls", "grep", "env", "sh", "../bin/ls", "rm"}).Draw(t, "program") + " " + rapid.SampledFrom(args).Draw(t, "argument")
			cwd := rapid.SampledFrom([]string{".", "a", "a/b", "d", "link", "a/up"}).Draw(t, "cwd")
			if err := both.CheckCommand(command, cwd); err == nil {
				if a, b := parent.CheckCommand(command, cwd), own.CheckCommand(command, cwd); a != nil || b != nil {
					t.Fatalf("%q in %s: the parent says %v, the child's own block %v", command, cwd, a, b)
				}
			}
		}
	})
}
