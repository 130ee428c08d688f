package anthropic

import "strings"

// traits are what a model takes, as far as the requests depend on it.
type traits struct {
	maxTokens   int64 // sent when the request sets no limit
	temperature bool
	schema      bool // structured output
	adaptive    bool // chooses its thinking budget itself, and takes an effort
	off         offForm
}

// offForm is how a model's thinking is turned off.
type offForm int

const (
	offDisabled     offForm = iota
	offBetweenTools         // in place of disabled
	offLowEffort            // it always thinks
)

// newest is the version of a model whose name tells none: what the newest
// models refuse is refused for good.
const newest = 9999

// traitsOf tells a model's traits from its name, whatever prefix, date or
// platform's suffix is around it. A name that is not Claude's belongs to
// another service behind the same API, and such services know the first form
// of everything.
func traitsOf(name string) traits {
	family, version, ok := parseModel(name)
	if !ok {
		return traits{maxTokens: 4096, temperature: true, schema: true}
	}
	t := traits{
		maxTokens:   16_384,
		temperature: version <= 406,
		schema:      version >= 405,
		adaptive:    version >= 406,
		off:         offLowEffort,
	}
	switch {
	case version < 307:
		t.maxTokens = 4096
	case version == 505 && family == "sonnet":
		t.off = offBetweenTools
	case version <= 500 && family != "fable" && family != "mythos", version == 505 && family == "haiku":
		t.off = offDisabled
	}
	return t
}

// parseModel reads names such as claude-sonnet-4-5-20250929,
// anthropic/claude-opus-4.6 and claude-3-5-haiku-latest. The version is a
// hundred times the major number plus the minor one.
func parseModel(name string) (family string, version int, ok bool) {
	_, rest, ok := strings.Cut(strings.ToLower(name), "claude")
	if !ok {
		return "", 0, false
	}
	var numbers []int
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("-./@:_", r) }) {
		switch part {
		case "opus", "sonnet", "haiku", "fable", "mythos":
			family = part
		default:
			if n, ok := versionNumber(part); ok {
				numbers = append(numbers, n)
			}
		}
	}
	switch len(numbers) {
	case 0:
		return family, newest, true
	case 1:
		return family, numbers[0] * 100, true
	}
	return family, numbers[0]*100 + numbers[1], true
}

// versionNumber reads a number of one or two digits. A longer one is a date.
func versionNumber(part string) (n int, ok bool) {
	if len(part) == 0 || len(part) > 2 {
		return 0, false
	}
	for _, c := range []byte(part) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
