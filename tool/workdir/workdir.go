// Package workdir has the tools of an agent that works in a directory: read,
// write, edit, grep, find, ls and bash, and web_search beside them. The file
// tools open everything beneath one held directory, so that no path, link or
// race leads out of it. Guard holds other tools to directories.
//
// Whatever goes wrong is the tool's result, a text that starts with "ERROR: ",
// so that a model sees it and can adjust. A call's Go error means that its
// context ended.
package workdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode"

	"github.com/agentloom/agentloom/tool"
	"github.com/agentloom/agentloom/value"
)

// DefaultWorkdir returns the directory of tools that were given none: a
// temporary directory, agentloom_agent_* under $TMPDIR, which the first call of
// a process makes and all tools share. It is not removed at the process's end.
func DefaultWorkdir() (string, error) { return defaultWorkdir() }

// The directory is one a process by its definition, hence the only variable of
// the package that changes.
var defaultWorkdir = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // see above
	dir, err := os.MkdirTemp("", "agentloom_agent_*")
	if err != nil {
		return "", fmt.Errorf("the default working directory cannot be made: %w", err)
	}
	return dir, nil
})

// Filesystem returns the six file tools of a directory, with their defaults:
// read, write, edit, grep, find and ls. "" is DefaultWorkdir. A directory that
// is missing is made by the first call.
func Filesystem(dir string) []tool.Tool {
	s := newSpace(dir)
	return []tool.Tool{
		s.reader(ReadOptions{}), s.writer(WriteOptions{}), s.editor(EditOptions{}),
		s.grepper(GrepOptions{}), s.finder(FindOptions{}), s.lister(LsOptions{}),
	}
}

// answering turns a tool's errors into results.
type answering struct{ tool.Tool }

func (a answering) Call(ctx context.Context, args *value.Map) (any, error) {
	result, err := a.Tool.Call(ctx, args)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, err
	}
	return failure(err), nil
}

// failure is how a model is told of an error.
func failure(err error) string { return "ERROR: " + err.Error() }

// newTool makes a tool whose failures are results.
func newTool[In any](name, byDefault, description string, fn func(context.Context, In) (string, error), opts ...tool.FuncOption) tool.Tool {
	call := func(ctx context.Context, in In) (any, error) { return fn(ctx, in) }
	return answering{tool.Func(orDefault(name, byDefault), description, call, opts...)}
}

// orDefault is v, or byDefault where v was not set.
func orDefault[T int | int64 | string](v, byDefault T) T {
	var zero T
	if v <= zero {
		return byDefault
	}
	return v
}

// bare takes the operations and the paths off an operating system error; the
// message names what the call gave instead.
func bare(err error) error {
	for {
		if p, ok := errors.AsType[*os.PathError](err); ok {
			err = p.Err
		} else if l, ok := errors.AsType[*os.LinkError](err); ok {
			err = l.Err
		} else {
			return err
		}
	}
}

// short cuts a text for a message: it may be a model's whole answer.
func short(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// shown is a file's name in a result, quoted where it could pass for
// something else.
func shown(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) || !isUTF8(name) {
		return fmt.Sprintf("%q", name)
	}
	return name
}
