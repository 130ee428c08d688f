package httpapi

import (
	"fmt"
	"net/url"

	"github.com/agentloom/agentloom/fault"
)

// Access is where a service is and how it lets us in, as the settings say. The
// errors of its checks are of kind fault.Invalid and repeat neither the key nor
// the URL, which may hold a password.
type Access struct {
	Name            string // the provider's
	Key, Base       string
	KeyVar, BaseVar string // the variables, or settings, that they come from
	Example         string // a base URL to show
}

// URL reads the base URL: http or https, a host, and no user, query or
// fragment.
func (a Access) URL() (*url.URL, error) {
	u, err := url.Parse(a.Base)
	switch {
	case err != nil:
		return nil, a.Invalid("%s is no URL", a.BaseVar)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, a.Invalid("%s must be a URL that begins with https:// or http:// and names a host, such as %s", a.BaseVar, a.Example)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, a.Invalid("%s must hold no user, password, query or fragment; the key belongs in %s", a.BaseVar, a.KeyVar)
	}
	return u, nil
}

// CheckKey checks that there is a key where the service demands one, and that
// it is one: a key with a line break in it would end a header.
func (a Access) CheckKey(demanded bool) error {
	if a.Key == "" && demanded {
		return a.Invalid("there is no key: set %s", a.KeyVar)
	}
	for i := range len(a.Key) {
		if c := a.Key[i]; c < 0x21 || c > 0x7e {
			return a.Invalid("the key in %s holds a character that no key has (a space, a line break or one outside ASCII)", a.KeyVar)
		}
	}
	return nil
}

// Invalid is the error for a wrong setting of the provider.
func (a Access) Invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "provider "+a.Name+": "+fmt.Sprintf(format, args...), nil)
}
