package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDotenvErrorsNameTheLineOnly(t *testing.T) {
	for _, tt := range []struct {
		name, src, line string
	}{
		{"a space in the name", "A=1\nMY KEY=canary\n", ".env:2:"},
		{"no equals sign", "A=1\n\n# note\ncanary\nB=2\n", ".env:4:"},
		{"no equals sign on the last line", "A=1\ncanary", ".env:2:"},
		{"no name", "A=1\n=canary\n", ".env:2:"},
		{"an open quote", "A='1\n2'\nB=\"canary\nC=3\n", ".env:3:"},
		{"an open quote after a whole statement of several lines", "A=\"1\n2\n3\"\nB='canary", ".env:4:"},
		{"CRLF", "A=1\r\ncan ary\r\n", ".env:2:"},
		{"a byte order mark", "\ufeffA=1\nb-canary=1\n", ".env:2:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseDotenv([]byte(tt.src))
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), tt.line) || strings.Contains(err.Error(), "canary") {
				t.Errorf("error is %q, want it to start with %s and to quote nothing", err, tt.line)
			}
		})
	}
}

func TestDotenvNeverOverrides(t *testing.T) {
	dir := t.TempDir()
	src := "SET=from-file\nEMPTY=from-file\nNEW=\"two\nlines\"\n"
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &program{Process: Process{Dir: dir, Environ: []string{"SET=from-environment", "EMPTY="}}}
	env, err := p.environment()
	if err != nil {
		t.Fatal(err)
	}
	want := environment{
		vars:   map[string]string{"SET": "from-environment", "EMPTY": "", "NEW": "two\nlines"},
		dotenv: []string{"NEW"},
		file:   true,
	}
	if diff := cmp.Diff(want, env, cmp.AllowUnexported(environment{}), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestUserConfigDir(t *testing.T) {
	for _, tt := range []struct {
		goos string
		vars map[string]string
		want string
	}{
		{"linux", map[string]string{"HOME": "/h"}, "/h/.config"},
		{"linux", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x"},
		{"linux", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, "/h/.config"},
		{"linux", nil, ""},
		{"darwin", map[string]string{"HOME": "/h"}, "/h/Library/Application Support"},
		{"windows", map[string]string{"AppData": `C:\x`}, `C:\x`},
	} {
		if got := (environment{vars: tt.vars}).userConfigDir(tt.goos); got != tt.want {
			t.Errorf("%s %v: %q, want %q", tt.goos, tt.vars, got, tt.want)
		}
	}
}

func FuzzDotenv(f *testing.F) {
	for _, s := range []string{"A=1", "export A='x\ny'\n#c\nB: \"$A\"", "A B=1", "=", "export", "A='", "\ufeffA=${B", "a\x00=\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		const canary = "zqcanaryzq"
		vars, err := parseDotenv([]byte(src + canary))
		if err != nil && strings.Contains(err.Error(), canary) {
			t.Fatalf("the error quotes the file: %v", err)
		}
		if _, nameless := vars[""]; nameless {
			t.Fatal("a variable without a name")
		}
	})
}
