package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/workflow"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// commandTree is a tree with programs, lists and links, and its policy.
func commandTree(t testing.TB) (string, *Policy) {
	dir := layout(t, "bin/ls!", "bin/grep!", "bin/cp!", "bin/env!", "bin/python3!", "bin/find!", "bin/plain", "bin/sub/",
		"work/f", "work/d/f", "work/grep!", "read/f", "write/f", "secret/f", "out -> secret",
		"work/inside -> d/f", "work/outside -> ../secret/f", "work/up -> ..", "work/link -> ../read", "work/loop -> loop", "work/mygrep -> ../bin/grep")
	return dir, policyAt(t, dir, func(s *workflow.Sandbox) {
		s.AllowedCommands = []string{"ls", "grep", "cp", "env", "python3", "export", "missing", "plain", "sub", "eval", ".", "A=b"}
		s.DangerOptIn = []string{"python3", "find"}
		s.AllowedPaths, s.ReadablePaths, s.WritablePaths = []string{"work"}, []string{"read"}, []string{"write"}
	})
}

// TestCommandRefusals is a table of rules and checks, in their order.
func TestCommandRefusals(t *testing.T) {
	dir, p := commandTree(t)
	cases := []struct{ name, command, cwd, want string }{
		// 1. The directory.
		{"the run's directory is not covered", "ls", ".", `directory "." is not under allowed_paths or readable_paths`},
		{"nor when left out", "ls", "", `directory "." is not under`},
		{"writable_paths are not enough", "ls", "write", `directory "write" is not under`},
		{"outside", "ls", "secret", `directory "secret" is not under`},
		{"through ..", "ls", "work/../secret", "is not under"},
		{"through a link", "ls", "work/up", "is not under"},
		{"by its absolute path", "ls", dir + "/secret", "is not under"},
		{"a longer name is another directory", "ls", "work2", "is not under"},
		{"links in a circle", "ls", "work/loop", "can't be resolved"},
		{"NUL", "ls", "work\x00", "can't be resolved"},
		{"first of all", "ls | $x", "secret", `directory "secret" is not under`},

		// 2. Shell operators.
		{"a pipe", "ls | grep x", "work", `shell operator or line break "|"`},
		{"a sequence", "ls; ls", "work", `";"`},
		{"the background", "ls &", "work", `"&"`},
		{"and", "ls && ls", "work", `"&"`},
		{"a backtick", "ls `x`", "work", "\"`\""},
		{"input", "grep x <f", "work", `"<"`},
		{"output", "ls >f", "work", `">"`},
		{"a substitution", "ls $(x)", "work", `"$("`},
		{"a process to read", "ls <(x)", "work", `"<"`},
		{"a process to write", "ls >(x)", "work", `">"`},
		{"a line feed", "ls\nls", "work", `"\n"`},
		{"a carriage return", "ls\rls", "work", `"\r"`},
		{"a line separator", "ls\u2028ls", "work", `"\u2028"`},
		{"a paragraph separator", "ls\u2029ls", "work", `"\u2029"`},
		{"a next line", "ls\u0085ls", "work", `"\u0085"`},
		{"in double quotes", `grep "a|b" f`, "work", `"|"`},
		{"in single quotes", `grep 'a;b' f`, "work", `";"`},
		{"behind a backslash", `grep a\&b f`, "work", `"&"`},
		{"a line break in quotes", "grep 'a\nb' f", "work", `"\n"`},
		{"before expansion", "ls *;", "work", "shell operator"},

		// 3. Shell expansion.
		{"a variable", "ls $HOME", "work", `shell expansion "$"`},
		{"in quotes", "grep '$5' f", "work", `"$"`},
		{"a star", "ls *.log", "work", `"*"`},
		{"in double quotes", `ls "*.log"`, "work", `"*"`},
		{"a question mark", "ls ?", "work", `"?"`},
		{"a bracket", `grep "[a]" f`, "work", `"["`},
		{"a list in braces", "ls {a,b}", "work", `"{…}"`},
		{"a range in braces", "ls {1..3}", "work", `"{…}"`},
		{"nested", "ls {a{b}c,d}", "work", `"{…}"`},
		{"in quotes", "grep 'x{1,3}' f", "work", `"{…}"`},
		{"quotes in the list", `ls {"a b",c}`, "work", `"{…}"`},
		{"home", "ls ~", "work", `"~"`},
		{"another's home", "ls ~root/x", "work", `"~"`},
		{"home in quotes", `ls "~/x"`, "work", `"~"`},
		{"home in a quoted word", `grep 'a ~b' f`, "work", `"~"`},
		{"home behind =", "cp --to=~/x f", "work", `"~"`},
		{"home behind :", "ls a:~/x", "work", `"~"`},
		{"home behind a backslash", `ls \~`, "work", `"~"`},
		{"as the program", "~/ls", "work", `"~"`},
		{"before the program", "nothing *", "work", "shell expansion"},

		// What can't be read two ways.
		{"nothing", "", "work", "it is empty"},
		{"blanks", " \t ", "work", "it is empty"},
		{"an open quote", "ls 'a", "work", "' is not closed"},
		{"an open double quote", `ls "a`, "work", `" is not closed`},
		{"an escaped end", `ls "a\"`, "work", `" is not closed`},
		{"a backslash at the end", `ls a\`, "work", `ends in a \`},
		{"a subshell", "(ls)", "work", "shell syntax"},
		{"a function", "ls() f", "work", "shell syntax"},
		{"a comment", "ls #x", "work", "starts a comment"},
		{"NUL", "ls a\x00b", "work", "U+0000"},
		{"NUL in quotes", "ls 'a\x00b'", "work", "U+0000"},
		{"an escape code", "ls 'a\x1bb'", "work", "U+001B"},
		{"a direction", "ls '\u202e'", "work", "U+202E"},
		{"invalid UTF-8", "ls \xff", "work", "no valid UTF-8"},
		{"a no-break space", "ls\u00a0f", "work", "U+00A0"},
		{"an ideographic space", "ls\u3000f", "work", "U+3000"},
		{"no space at all", "ls\u200bf", "work", "U+200B"},
		{"a joiner", "ls 👩\u200d👩", "work", "U+200D"},
		{"a byte order mark", "\ufeffls", "work", "U+FEFF"},
		{"more than a shell takes", "ls " + strings.Repeat("x", 128<<10), "work", "bytes, more than"},

		// 4. The program.
		{"another program", "rm f", "work", `program "rm" is not in allowed_commands`},
		{"another case", "LS", "work", `program "LS" is not in allowed_commands`},
		{"another name of it", "./mygrep x f", "work", `program "./mygrep" is not in allowed_commands`},
		{"another file of the name", "./grep x f", "work", `program "./grep" is not the file that "grep" is in PATH`},
		{"by an absolute path", dir + "/work/grep x f", "work", "is not the file"},
		{"a path when PATH has none", "./missing", "work", "is not the file"},
		{"no program", `"" f`, "work", `program "" is not in allowed_commands`},
		{"a directory's name", "ls/", "work", `program "ls/" is not in allowed_commands`},
		{"a variable before it", "A=b ls", "work", `program "A=b" is an assignment`},
		{"a variable that is added to", "PATH+=/x ls", "work", "is an assignment"},
		{"before interpreters", "./env ls", "work", "is not the file"},
		{"before arguments", "rm ../secret/f", "work", "is not in allowed_commands"},

		// 5. Interpreters.
		{"an interpreter", "env ls", "work", `program "env" can run any other, so danger_opt_in must list it too`},
		{"by its path", dir + "/bin/env", "work", "danger_opt_in"},
		{"the opt-in alone", "find .", "work", `program "find" is not in allowed_commands`},
		{"a builtin that runs all", "eval ls", "work", "danger_opt_in"},
		{"the dot", ". f", "work", "danger_opt_in"},
		{"before arguments", "env ../secret/f", "work", "danger_opt_in"},

		// 6. Path arguments.
		{"the directory above", "ls ..", "work", `argument ".." leads out of`},
		{"a path out", "grep x ../secret/f", "work", `argument "../secret/f" leads out of`},
		{"in quotes", `grep x "../sec"ret/f`, "work", `argument "../secret/f" leads out of`},
		{"by its absolute path", "cp /etc/passwd f", "work", `argument "/etc/passwd" leads out of`},
		{"the root", "ls /", "work", `argument "/" leads out of`},
		{"a longer name", "ls ../work2/f", "work", "leads out of"},
		{"a long flag's value", "grep --file=../secret/f", "work", `argument "--file=../secret/f" leads out of`},
		{"a long flag's absolute value", "grep --file=/secret/f", "work", "leads out of"},
		{"a long flag's directory", "grep --dir=..", "work", "leads out of"},
		{"a long flag with it attached", "grep --file/etc/passwd", "work", "leads out of"},
		{"a key's value", "ls if=/etc/passwd", "work", `argument "if=/etc/passwd" leads out of`},
		{"a value in a value", "ls --mount=type=bind,src=/etc", "work", "leads out of"},
		{"more values than are looked at", "ls " + strings.Repeat("a=", 17) + "b/c", "work", "more than 16 values"},
		{"attached to a short flag", "grep -f/etc/passwd x", "work", "leads out of"},
		{"from the first /", "grep -finclude/list x", "work", `argument "-finclude/list" leads out of`},
		{"also behind =", "grep -o=d/f", "work", "leads out of"},
		{"the directory above a short flag", "ls -C..", "work", "leads out of"},
		{"the flag's link", "grep -foutside x", "work", `argument "-foutside" leads out of`},
		{"a link's bare name", "ls outside", "work", `argument "outside" leads out of`},
		{"a key with a link", "ls if=outside", "work", "leads out of"},
		{"a way through a link", "ls up/secret/f", "work", "leads out of"},
		{"out by a link's ..", "ls link/../secret/f", "work", "leads out of"},
		{"links in a circle", "ls loop", "work", "can't be resolved"},
		{"through what is missing", "ls missing/../../secret/f", "work", "leads out of"},
		{"the process's own links", "ls /proc/self/root/etc/passwd", "work", "leads out of"},
		{"an open file", "ls /dev/fd/0", "work", "leads out of"},
		{"longer than a path can be", "ls a/" + strings.Repeat("b", 5000), "work", "can't be resolved"},
		{"after --", "ls -- /etc", "work", "leads out of"},

		// Not a rule of the lists: nothing to execute.
		{"a builtin", "export A=b", "work", `program "export" is no executable file in PATH`},
		{"not installed", "missing", "work", "is no executable file"},
		{"not executable", "plain", "work", "is no executable file"},
		{"a directory in PATH", "sub", "work", "is no executable file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			argv, err := p.Command(c.command, c.cwd)
			wantRefusal(t, err, "Sandbox violation (shell_command): ", c.want)
			if d := cmp.Diff(Argv{}, argv); d != "" {
				t.Error(d)
			}
			if err := p.CheckCommand(c.command, c.cwd); fault.KindOf(err) != fault.Refused {
				t.Errorf("CheckCommand: %v", err)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	dir, p := commandTree(t)
	bin := dir + "/bin/"
	cases := []struct {
		name, command, cwd string
		path               string
		args               []string
	}{
		{"a program", "ls", "work", "ls", []string{"ls"}},
		{"in a readable directory", "ls", "read", "ls", []string{"ls"}},
		{"in a directory below", "ls .", "work/d", "ls", []string{"ls", "."}},
		{"through a link that stays", "ls ..", "work/../work/d", "ls", []string{"ls", ".."}},
		{"by its path", bin + "ls -l", "work", "ls", []string{bin + "ls", "-l"}},
		{"by a relative path", "../bin/ls", "work", "ls", []string{"../bin/ls"}},
		{"an interpreter with the opt-in", "python3 f", "work", "python3", []string{"python3", "f"}},
		{"words", " ls\t-l  a ", "work", "ls", []string{"ls", "-l", "a"}},
		{"quotes", `grep 'a "b" \' "c 'd' \e \\ \"" f\ g\\`, "work", "grep", []string{"grep", `a "b" \`, `c 'd' \e \ "`, `f g\`}},
		{"quotes in words", `l"s" -'l'a""`, "work", "ls", []string{"ls", "-la"}},
		{"empty words", `grep "" ''`, "work", "grep", []string{"grep", "", ""}},
		{"the quoted comment", "grep '#x' a#b f", "work", "grep", []string{"grep", "#x", "a#b", "f"}},
		{"parentheses in quotes", "grep '(a)' f", "work", "grep", []string{"grep", "(a)", "f"}},
		{"spaces of other kinds in quotes", "ls 'a\u00a0b\u3000c'", "work", "ls", []string{"ls", "a\u00a0b\u3000c"}},
		{"other scripts", "ls grün 日本 👩 '👩\u200d👩'", "work", "ls", []string{"ls", "grün", "日本", "👩", "👩\u200d👩"}},
		{"commas", "ls -f1,2", "work", "ls", []string{"ls", "-f1,2"}},
		{"braces without a list", "grep {a} {1.5} a,b {", "work", "grep", []string{"grep", "{a}", "{1.5}", "a,b", "{"}},
		{"a tilde inside a word", "ls f~ a~b HEAD~1", "work", "ls", []string{"ls", "f~", "a~b", "HEAD~1"}},
		{"signs that are none of the shell's", "ls ! } % ^ @ + -", "work", "ls", []string{"ls", "!", "}", "%", "^", "@", "+", "-"}},
		{"paths under each list", "cp d/f ../read/f ../write/new", "work", "cp", []string{"cp", "d/f", "../read/f", "../write/new"}},
		{"to write under readable_paths, for it can't be seen", "cp f ../read/f", "work", "cp", []string{"cp", "f", "../read/f"}},
		{"a link that stays inside", "ls inside link link/f", "work", "ls", []string{"ls", "inside", "link", "link/f"}},
		{"a flag's value inside", "grep --file=d/f -f d/f if=d/f --x=1 -e=2", "work", "grep", []string{"grep", "--file=d/f", "-f", "d/f", "if=d/f", "--x=1", "-e=2"}},
		{"an absolute path inside", "ls " + dir + "/work/f -f" + dir + "/work/f", "work", "ls", []string{"ls", dir + "/work/f", "-f" + dir + "/work/f"}},
		{"a URL is taken for a relative path", "grep file:///etc/passwd", "work", "grep", []string{"grep", "file:///etc/passwd"}},
		{"many signs that separate", "grep " + strings.Repeat("=", 60), "work", "grep", []string{"grep", strings.Repeat("=", 60)}},
		{"text longer than a name", "grep " + strings.Repeat("x", 5000), "work", "grep", []string{"grep", strings.Repeat("x", 5000)}},
		{"an assignment as an argument", "ls A=b", "work", "ls", []string{"ls", "A=b"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := p.Command(c.command, c.cwd)
			want := Argv{Path: bin + c.path, Args: c.args, Dir: filepath.Join(dir, c.cwd)}
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Error(err, d)
			}
			if err := p.CheckCommand(c.command, c.cwd); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestInterpreters: the whole list, and no name besides.
func TestInterpreters(t *testing.T) {
	names := strings.Fields("sh bash zsh fish ksh dash env xargs find exec eval source . python python3 node perl ruby php lua awk nc ncat socat ssh")
	others := strings.Fields("rsh gawk python2 make tar bas")
	var programs []string
	for _, name := range slices.Concat(names, others) {
		if name != "." {
			programs = append(programs, "bin/"+name+"!")
		}
	}
	dir := layout(t, append(programs, "work/")...)
	allowed := func(s *workflow.Sandbox) {
		s.AllowedCommands, s.AllowedPaths = slices.Concat(names, others), []string{"work"}
	}
	p := policyAt(t, dir, allowed)
	for _, name := range names {
		wantRefusal(t, p.CheckCommand(name, "work"), "danger_opt_in")
		one := policyAt(t, dir, func(s *workflow.Sandbox) { allowed(s); s.DangerOptIn = []string{name} })
		if err := one.CheckCommand(name, "work"); err != nil && name != "." {
			t.Errorf("%s, opted in: %v", name, err)
		}
		next := names[(slices.Index(names, name)+1)%len(names)]
		wantRefusal(t, one.CheckCommand(next, "work"), "danger_opt_in")
	}
	for _, name := range others {
		if err := p.CheckCommand(name, "work"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMissingProgramHasItsCause(t *testing.T) {
	_, p := commandTree(t)
	if err := p.CheckCommand("missing", "work"); !errors.Is(err, ErrNoProgram) {
		t.Error(err)
	}
	if err := p.CheckCommand("rm", "work"); errors.Is(err, ErrNoProgram) {
		t.Error(err)
	}
}

// TestMissingDirectoryIsNoRefusal: the call was allowed, it can't succeed.
func TestMissingDirectoryIsNoRefusal(t *testing.T) {
	_, p := commandTree(t)
	for cwd, want := range map[string]string{"work/none": "no such file or directory", "work/f": "is not a directory"} {
		err := p.CheckCommand("ls", cwd)
		if err == nil || fault.KindOf(err) == fault.Refused || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", cwd, err)
		}
		wantRefusal(t, p.CheckCommand("rm", cwd))
	}
}

// TestProgramIsThatOfPATH: the first in PATH, found when the command is checked.
func TestProgramIsThatOfPATH(t *testing.T) {
	dir := layout(t, "one/ls", "two/ls!", "three/ls!", "work/")
	p, err := New(enabledBlock(func(s *workflow.Sandbox) { s.AllowedCommands, s.AllowedPaths = []string{"ls"}, []string{"work"} }),
		PolicyOptions{Dir: dir, Path: dir + "/none:" + dir + "/one:" + dir + "/two/:" + dir + "/three"})
	if err != nil {
		t.Fatal(err)
	}
	argv, err := p.Command("ls", "work")
	if err != nil || argv.Path != dir+"/two/ls" {
		t.Errorf("%q, %v", argv.Path, err)
	}
	wantRefusal(t, p.CheckCommand(dir+"/three/ls", "work"), "is not the file")
}

// TestDisabledIsTheShell: with the sandbox disabled any command runs, by sh -c.
func TestDisabledIsTheShell(t *testing.T) {
	dir := layout(t, "d/f")
	p, err := New(nil, PolicyOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	argv, err := p.Command("-x; cd .. && ls *", "d")
	want := Argv{Path: "/bin/sh", Args: []string{"sh", "-c", "--", "-x; cd .. && ls *"}, Dir: dir + "/d"}
	if d := cmp.Diff(want, argv); d != "" || err != nil {
		t.Error(err, d)
	}
	for _, c := range []struct{ command, cwd string }{{"ls", "none"}, {"ls", "d/f"}, {"l\x00s", ""}, {"ls", "\x00"}} {
		if _, err := p.Command(c.command, c.cwd); err == nil || fault.KindOf(err) == fault.Refused {
			t.Errorf("%q in %q: %v", c.command, c.cwd, err)
		}
	}
}

// TestWordsAreThoseOfTheShell: what the checks read is what sh reads.
func TestWordsAreThoseOfTheShell(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no shell to ask")
	}
	piece := rapid.SampledFrom([]string{
		" ", "\t", "'", `"`, `\`, "a", "b c", "#", "~", "=", ":", "-", "--", "{", "}", ",", "..", "/", "!", "%", "é", "\u00a0", "日", "A=b", "(", ")", "'x'", `"y"`, `\"`, `\\`, `\'`,
	})
	deadline := time.Now().Add(5 * time.Second) // each question starts a shell
	rapid.Check(t, func(t *rapid.T) {
		command := strings.Join(rapid.SliceOfN(piece, 1, 12).Draw(t, "pieces"), "")
		if findOperator(command) != "" || findExpansion(command) != "" || time.Now().After(deadline) {
			return
		}
		words, err := splitWords(command)
		if err != nil {
			return
		}
		out, err := exec.Command("/bin/sh", "-c", "printf '%s\\n' "+command).Output()
		if want := strings.Join(words, "\n") + "\n"; err != nil || string(out) != want {
			t.Fatalf("%q: we read %q, sh %q, %v", command, want, out, err)
		}
	})
}
