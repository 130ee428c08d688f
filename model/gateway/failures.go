package gateway

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/model"
	"github.com/agentloom/agentloom/model/internal/httpapi"
)

// ErrStreamBroke marks the error of a stream that broke off after some of it
// was handed to the stream function. Another attempt starts the answer anew.
var ErrStreamBroke = errors.New("the stream broke off after text was sent")

// errNotSent is the cause of a call's error when the service never got it.
var errNotSent = errors.New("the call was not sent")

// failures are what went wrong at a call's providers, and what it cost.
type failures struct {
	names    []string
	errs     []error
	usage    *model.Usage
	cost     *float64
	unpriced bool
}

func (fs *failures) add(name string, err error) {
	fs.names = append(fs.names, name)
	fs.errs = append(fs.errs, err)
}

// bill counts what a service reported.
func (fs *failures) bill(u *model.Usage, cost *float64) {
	if u != nil {
		sum := *u
		if fs.usage != nil {
			sum = sum.Add(*fs.usage)
		}
		fs.usage = &sum
		fs.unpriced = fs.unpriced || cost == nil
	}
	if cost != nil {
		sum := *cost
		if fs.cost != nil {
			sum += *fs.cost
		}
		fs.cost = &sum
	}
}

// total returns what was billed up to now. The cost is nil when that of a part
// is not known.
func (fs *failures) total() (*model.Usage, *float64) {
	if fs.unpriced {
		return fs.usage, nil
	}
	return fs.usage, fs.cost
}

// final reports whether no other provider is to be tried.
func (fs *failures) final(ctx context.Context) bool {
	return ctx.Err() != nil || fault.KindOf(fs.errs[len(fs.errs)-1]) == fault.Budget
}

// err returns the one error for all of them, as Complete's comment says.
func (fs *failures) err(ctx context.Context) error {
	if len(fs.errs) == 1 {
		return fs.errs[0]
	}
	lead := fs.lead()
	out := &fault.Error{Kind: fault.KindOf(lead), Message: fs.message(), Err: errors.Join(fs.errs...)}
	if ctx.Err() != nil {
		out.Kind = httpapi.Ended(ctx, "").Kind
		return out
	}
	if f, ok := errors.AsType[*fault.Error](lead); ok {
		out.Status, out.RetryAfter = f.Status, f.RetryAfter
	}
	if errors.Is(lead, errNotSent) {
		out.RetryAfter = fs.shortestWait()
	}
	return out
}

// lead returns the error that decides: the first provider's, or of an
// embedding the first that has them.
func (fs *failures) lead() error {
	for _, err := range fs.errs {
		if !errors.Is(err, model.ErrNoEmbeddings) {
			return err
		}
	}
	return fs.errs[0]
}

func (fs *failures) shortestWait() time.Duration {
	var shortest time.Duration = -1
	for _, err := range fs.errs {
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Transient {
			continue
		}
		if shortest < 0 || f.RetryAfter < shortest {
			shortest = f.RetryAfter
		}
	}
	return max(shortest, 0)
}

// message keeps each provider's error, after its name.
func (fs *failures) message() string {
	parts := make([]string, len(fs.errs))
	for i, err := range fs.errs {
		text := err.Error()
		// Most name the provider themselves.
		for _, end := range []string{": ", " "} {
			if rest, ok := strings.CutPrefix(text, fs.names[i]+end); ok {
				text = rest
				break
			}
		}
		parts[i] = fs.names[i] + ": " + text
	}
	return strings.Join(parts, "; ")
}

// broken returns the error of a call whose last stream broke off. The break
// decides whether another attempt is worth it, whatever failed before; one that
// nobody classified is transient.
func (fs *failures) broken(ctx context.Context) error {
	last := fs.errs[len(fs.errs)-1]
	all := fs.err(ctx)
	out := &fault.Error{
		Kind:    cmp.Or(fault.KindOf(last), fault.Transient),
		Message: all.Error() + " (the stream broke off after text was sent)",
		Err:     errors.Join(ErrStreamBroke, all),
	}
	if f, ok := errors.AsType[*fault.Error](last); ok {
		out.Status, out.RetryAfter = f.Status, f.RetryAfter
	}
	if ctx.Err() != nil {
		out.Kind = fault.KindOf(all)
	}
	return out
}

// statusOf returns the HTTP status that a service answered, or 0.
func statusOf(err error) int {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Status
	}
	return 0
}
