package wfyaml

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

func TestScalarsFollowTheCoreSchema(t *testing.T) {
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	twoTo64 := new(big.Int).Lsh(big.NewInt(1), 64)
	tests := []struct {
		src  string
		want any
	}{
		{"~", nil}, {"null", nil}, {"Null", nil}, {"NULL", nil}, {"", nil}, {"nULL", "nULL"}, {"nil", "nil"},
		{"true", true}, {"True", true}, {"TRUE", true}, {"tRUE", "tRUE"},
		{"false", false}, {"False", false}, {"FALSE", false},
		{"yes", "yes"}, {"No", "No"}, {"on", "on"}, {"y", "y"},
		{"0", int64(0)}, {"-0", int64(0)}, {"+12", int64(12)}, {"-12", int64(-12)}, {"0777", int64(777)}, {"08", int64(8)},
		{"0o17", int64(15)}, {"0xFf", int64(255)}, {"-0x1", "-0x1"}, {"0o8", "0o8"}, {"0x", "0x"}, {"0X1", "0X1"},
		{"0b1", "0b1"}, {"1_000", "1_000"}, {"12:30", "12:30"}, {"190:20:30", "190:20:30"},
		{"9223372036854775807", int64(math.MaxInt64)}, {"-9223372036854775808", int64(math.MinInt64)},
		{"123456789012345678901234567890", huge}, {"-123456789012345678901234567890", new(big.Int).Neg(huge)},
		{"0x10000000000000000", twoTo64},
		{"1.0", 1.0}, {"1.", 1.0}, {".5", 0.5}, {"-.5", -0.5}, {"+1.5", 1.5}, {"1e3", 1000.0}, {"1E+3", 1000.0},
		{"1.5e-3", 0.0015}, {"1e999", math.Inf(1)}, {".e3", ".e3"}, {"1e", "1e"}, {"e3", "e3"}, {".", "."}, {"+", "+"},
		{"+-5.0", "+-5.0"}, {"1.2.3", "1.2.3"}, {"1.-2", "1.-2"}, {"1e5.5", "1e5.5"}, {"0x1p4", "0x1p4"},
		{".inf", math.Inf(1)}, {"+.Inf", math.Inf(1)}, {"-.INF", math.Inf(-1)}, {"+-.inf", "+-.inf"}, {"inf", "inf"}, {".iNF", ".iNF"},
		{".nan", math.NaN()}, {".NaN", math.NaN()}, {"-.nan", "-.nan"}, {"nan", "nan"}, {"NaN", "NaN"},
		{"2020-01-01", "2020-01-01"}, {"2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"},
		{`"1"`, "1"}, {`'true'`, "true"}, {`""`, ""}, {"''", ""}, {`"~"`, "~"}, {`"\U0001F600\t"`, "😀\t"},
		{"|\n  null\n", "null\n"}, {">-\n  1\n  2\n", "1 2"},
		{"!!str 1", "1"}, {"!!str", ""}, {"! 1", "1"}, {`!!int "7"`, int64(7)}, {"!!float 7", 7.0}, {"!!float 1e400", math.Inf(1)},
		{"!!bool 'true'", true}, {"!!null ''", nil}, {"!<tag:yaml.org,2002:int> 3", int64(3)},
		{"=", "="}, {"<<", "<<"},
	}
	equal := cmp.Options{sameMap, cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 }),
		cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })}
	for _, tt := range tests {
		got, ds := DecodeValue("f", []byte("- "+tt.src))
		if err := ds.Err(); err != nil {
			t.Errorf("%q: %v", tt.src, err)
			continue
		}
		if diff := cmp.Diff([]any{tt.want}, got, equal); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.src, diff)
		}
	}
}

func TestIntegersAreBounded(t *testing.T) {
	for src, ok := range map[string]bool{
		strings.Repeat("9", 4300):              true,
		strings.Repeat("9", 4301):              false,
		"-" + strings.Repeat("9", 5_000_000):   false,
		"0x" + strings.Repeat("f", 4301):       false,
		"!!float " + strings.Repeat("9", 4300): true,
	} {
		v, ds := DecodeValue("f", []byte("a: "+src))
		if (len(ds.Errors()) == 0) != ok || (v != nil) != ok {
			t.Errorf("%.20s… (%d characters): %v", src, len(src), ds)
		}
	}
}

func TestTextAtFirstSightIsText(t *testing.T) {
	for first := range 128 {
		for _, rest := range []string{"", "1", "ull", "rue", "als", "inf", "nan", "x1"} {
			s := string(rune(first)) + rest
			n := &yaml.Node{Kind: yaml.ScalarNode, Value: s}
			if v, problem := scalarOf(n); surelyText(n) && (v != s || problem != "") {
				t.Errorf("%q is %v", s, v)
			}
		}
	}
	for _, n := range []yaml.Node{{Kind: yaml.ScalarNode}, {Kind: yaml.SequenceNode, Value: "a"}, {Kind: yaml.ScalarNode, Style: yaml.TaggedStyle, Tag: "!!int", Value: "a"}} {
		if surelyText(&n) {
			t.Errorf("%+v", n)
		}
	}
}
