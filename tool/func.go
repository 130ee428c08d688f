package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentloom/agentloom/fault"
	"github.com/agentloom/agentloom/value"
)

// A FuncOption adjusts a tool made by Func.
type FuncOption func(*options)

type options struct {
	spec        Spec
	resultLimit int
}

// WithEffect declares what happens when the tool runs twice.
func WithEffect(e Effect) FuncOption { return func(o *options) { o.spec.Effect = e } }

// Destructive marks a tool that can lose or change data.
func Destructive() FuncOption { return func(o *options) { o.spec.Destructive = true } }

// WithResultLimit makes a result an error when it takes more than n bytes as
// JSON. Without it, or with n of 0, results are not limited.
func WithResultLimit(n int) FuncOption { return func(o *options) { o.resultLimit = n } }

// Func makes a tool of a Go function. In, a struct or a map with string keys,
// describes the arguments; their JSON Schema is derived from it:
//
//   - a field's name comes from its json tag, its description from its
//     jsonschema tag;
//   - a field is optional when it has omitempty or omitzero, else required;
//   - null for an optional argument is the same as leaving it out; a required
//     one may be null when its field is a pointer;
//   - a type with UnmarshalText is a string, []byte a string in base64, and
//     any, json.RawMessage and other types with UnmarshalJSON take every value.
//     In a field of type any, numbers are float64 and the order of keys is
//     lost; json.RawMessage and *value.Map keep both.
//
// A call checks the arguments before fn sees them: an unknown one, a missing
// one and one of the wrong type are errors that name it. A whole float, such
// as 3.0, passes as an integer. A panic of fn is an error without a stack
// trace. The result may be any Go value with a JSON form and comes back as a
// value of package value; a channel or a function is an error of kind
// Permanent, and so is one beyond WithResultLimit.
//
// When no schema can be derived from In, Registry.Register and every call
// return the reason.
func Func[In any](name, description string, fn func(ctx context.Context, in In) (any, error), opts ...FuncOption) Tool {
	o := options{spec: Spec{Name: name, Description: description}}
	for _, opt := range opts {
		opt(&o)
	}
	f := &funcTool[In]{fn: fn, resultLimit: o.resultLimit}
	f.schema, o.spec.Parameters, f.err = deriveSchema[In]()
	if f.err == nil && fn == nil {
		f.err = errors.New("its function is nil")
	}
	if f.err != nil {
		f.err = fault.New(fault.Permanent, fmt.Sprintf("the tool %q cannot be made: %v", name, f.err), f.err)
	}
	f.spec = o.spec
	f.plain = isPlain[In]()
	return f
}

// isPlain reports whether the zero In is what the JSON object {} is read into.
func isPlain[In any]() bool {
	_, own := any(new(In)).(json.Unmarshaler)
	return !own && reflect.TypeFor[In]().Kind() == reflect.Struct
}

type funcTool[In any] struct {
	spec        Spec
	schema      *jsonschema.Schema
	fn          func(context.Context, In) (any, error)
	resultLimit int
	plain       bool  // without arguments, In is its zero value
	err         error // why the tool cannot work, else nil
}

func (f *funcTool[In]) Spec() Spec { return f.spec }

func (f *funcTool[In]) broken() error { return f.err }

func (f *funcTool[In]) Call(ctx context.Context, args *value.Map) (result any, err error) {
	if f.err != nil {
		return nil, f.err
	}
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("the tool panicked: %s", panicText(p))
		}
	}()
	in, err := f.arguments(args)
	if err != nil {
		return nil, err
	}
	if result, err = f.fn(ctx, in); err != nil {
		return nil, err
	}
	if result, err = jsonValue(result); err != nil {
		return nil, err
	}
	return result, f.checkSize(result)
}

func (f *funcTool[In]) arguments(args *value.Map) (in In, err error) {
	fitted, err := fitArguments(f.schema, args)
	if err != nil {
		return in, err
	}
	if f.plain && fitted.Len() == 0 {
		return in, nil // without a detour through JSON
	}
	src, err := value.EncodeJSON(fitted)
	if err != nil {
		return in, fmt.Errorf("the arguments are no JSON: %w", err)
	}
	return in, decodeError(json.Unmarshal(src, &in))
}

// decodeError names the argument that a Go type could not take although it has
// the right JSON type, such as an integer beyond int64.
func decodeError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("argument %q: %s does not fit a Go %s", wrong.Field, wrong.Value, wrong.Type)
	}
	if err != nil {
		return fmt.Errorf("the arguments do not fit: %w", err)
	}
	return nil
}

func (f *funcTool[In]) checkSize(result any) error {
	if f.resultLimit <= 0 {
		return nil
	}
	b, err := value.EncodeJSON(result)
	if err != nil {
		return fault.New(fault.Permanent, "the tool's result is no JSON value: "+err.Error(), err)
	}
	if len(b) > f.resultLimit {
		return fault.New(fault.Permanent, fmt.Sprintf(
			"the tool's result is %d bytes of JSON; its limit is %d", len(b), f.resultLimit), nil)
	}
	return nil
}
