package workdir_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/tool/workdir"
	"github.com/agentloom/agentloom/value"
)

func TestDefaultWorkdirIsShared(t *testing.T) {
	dir, err := workdir.DefaultWorkdir()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if again, _ := workdir.DefaultWorkdir(); again != dir {
		t.Errorf("first %s, then %s", dir, again)
	}
	if filepath.Dir(dir) != filepath.Clean(os.TempDir()) || !strings.HasPrefix(filepath.Base(dir), "agentloom_agent_") {
		t.Errorf("it is %s", dir)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	run(t, workdir.Write("", workdir.WriteOptions{}), "path", "note", "content", "hello")
	want(t, run(t, workdir.Read("", workdir.ReadOptions{}), "path", "note"), "     1\thello")
	want(t, run(t, workdir.Bash("", workdir.BashOptions{}), "command", "cat note"), "$ cat note\n[exit=0]\n--- stdout ---\nhello")
	want(t, run(t, workdir.Filesystem("")[3], "pattern", "hel"), "note:1: hello")
}

func TestFilesystemIsTheSixFileTools(t *testing.T) {
	var names, destructive []string
	r := tool.NewRegistry(tool.RegistryOptions{})
	for _, tl := range workdir.Filesystem(t.TempDir()) {
		s := tl.Spec()
		names = append(names, s.Name)
		if s.Destructive {
			destructive = append(destructive, s.Name)
		}
		if s.Description == "" || s.Parameters.Len() == 0 {
			t.Errorf("%s says nothing of itself", s.Name)
		}
		if err := r.Register(tl); err != nil {
			t.Error(err)
		}
	}
	want(t, strings.Join(names, " "), "read write edit grep find ls")
	want(t, strings.Join(destructive, " "), "write edit")
}

func TestNamesCanBeChosen(t *testing.T) {
	dir := t.TempDir()
	for _, tl := range []tool.Tool{
		workdir.Read(dir, workdir.ReadOptions{Name: "mine"}), workdir.Write(dir, workdir.WriteOptions{Name: "mine"}),
		workdir.Edit(dir, workdir.EditOptions{Name: "mine"}), workdir.Grep(dir, workdir.GrepOptions{Name: "mine"}),
		workdir.Find(dir, workdir.FindOptions{Name: "mine"}), workdir.Ls(dir, workdir.LsOptions{Name: "mine"}),
		workdir.Bash(dir, workdir.BashOptions{Name: "mine"}), workdir.WebSearch(workdir.WebSearchOptions{Name: "mine"}),
	} {
		if n := tl.Spec().Name; n != "mine" {
			t.Errorf("it is called %s", n)
		}
	}
}

func TestADirectoryThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", "")
	for _, tl := range append(workdir.Filesystem(filepath.Join(dir, "file")), workdir.Bash(filepath.Join(dir, "file"), workdir.BashOptions{})) {
		got := run(t, tl, map[string][]any{
			"read": {"path", "x"}, "write": {"path", "x", "content", ""}, "edit": {"path", "x", "old_string", "a", "new_string", "b"},
			"grep": {"pattern", "x"}, "find": {"glob", "x"}, "ls": {}, "bash": {"command", "true"},
		}[tl.Spec().Name]...)
		wantError(t, got, "the working directory")
	}
}

func TestAnEndedContextIsAGoError(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "f", "text")
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("stopped")
	cancel(why)
	for _, tl := range workdir.Filesystem(dir)[1:4] {
		got, err := tl.Call(ctx, value.MapOf(map[string][]any{
			"write": {"path", "x", "content", ""}, "edit": {"path", "f", "old_string", "t", "new_string", "b", "replace_all", true}, "grep": {"pattern", "x"},
		}[tl.Spec().Name]...))
		if !errors.Is(err, why) {
			t.Errorf("%s: %v, %v", tl.Spec().Name, got, err)
		}
	}
	want(t, names(t, dir), ". f")
}
