//go:build offline

package cli

// vendorsBuiltIn says whether the vendors' SDKs are part of this program.
const vendorsBuiltIn = false

// vendors returns the services by name only: a call to one says why it is not
// there.
func vendors() []vendor {
	var out []vendor
	for _, name := range []string{"openai", "anthropic", "google", "ollama"} {
		out = append(out, vendor{name: name, leftOut: true})
	}
	return out
}
