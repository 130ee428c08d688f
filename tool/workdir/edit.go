package workdir

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agentloom/agentloom/tool"
)

// EditOptions configure Edit.
type EditOptions struct {
	Name string // what the model calls it; default "edit"
}

// maxEdit is the largest file, in bytes, that edit takes or makes.
const maxEdit = 64 << 20

// Edit returns the tool that replaces text inside a file:
// edit(path, old_string, new_string, replace_all=false). old_string must be in
// the file exactly, and exactly once unless replace_all is set. Files are at
// most 64 MiB, before and after. The tool is destructive. dir is the directory
// it works in; "" is DefaultWorkdir.
func Edit(dir string, opts EditOptions) tool.Tool { return newSpace(dir).editor(opts) }

type editArgs struct {
	Path       string `json:"path" jsonschema:"The file to edit."`
	OldString  string `json:"old_string" jsonschema:"The text to replace, exactly as it stands in the file, white space and line breaks included, without line numbers."`
	NewString  string `json:"new_string" jsonschema:"The text to put in its place."`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"Replace every occurrence; when left out, old_string must occur exactly once."`
}

func (s *space) editor(opts EditOptions) tool.Tool {
	return newTool(opts.Name, "edit", "Replace text in a file. old_string must be in it exactly once, unless replace_all is set.",
		func(ctx context.Context, in editArgs) (string, error) {
			if in.OldString == "" {
				return "", errors.New("old_string is empty: give the text to replace, or write the file")
			}
			if in.OldString == in.NewString {
				return "", errors.New("old_string and new_string are the same: there is nothing to change")
			}
			s.changing.Lock()
			defer s.changing.Unlock()
			var n int
			err := s.within(in.Path, func(root *os.Root, name string) error {
				content, info, err := load(ctx, root, name)
				if err != nil {
					return err
				}
				if content, n, err = in.apply(content); err != nil {
					return err
				}
				return store(root, name, content, info)
			})
			if err != nil {
				return "", pathError("edit", in.Path, err)
			}
			return fmt.Sprintf("Replaced %d occurrence(s) in %s", n, shown(in.Path)), nil
		}, tool.Destructive())
}

// apply returns the new content and how many occurrences were replaced.
func (in editArgs) apply(content []byte) ([]byte, int, error) {
	from, to := []byte(in.OldString), []byte(in.NewString)
	n := bytes.Count(content, from)
	switch {
	case n == 0:
		return nil, 0, errors.New("old_string was not found; it must match exactly, white space and line breaks included")
	case n > 1 && !in.ReplaceAll:
		return nil, 0, fmt.Errorf("old_string appears %d times; give more of the surrounding text, or set replace_all", n)
	case len(content)+n*(len(to)-len(from)) > maxEdit:
		return nil, 0, fmt.Errorf("the result would be larger than %d bytes", maxEdit)
	}
	return bytes.ReplaceAll(content, from, to), n, nil
}

// load reads a whole file of at most maxEdit bytes.
func load(ctx context.Context, root *os.Root, name string) ([]byte, os.FileInfo, error) {
	f, info, done, err := openFile(ctx, root, name)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if info.Size() > maxEdit {
		return nil, nil, fmt.Errorf("it has %d bytes; only files of up to %d can be edited", info.Size(), maxEdit)
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	_, err = buf.ReadFrom(io.LimitReader(f, maxEdit+1))
	switch {
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case err != nil:
		return nil, nil, err
	case buf.Len() > maxEdit:
		return nil, nil, fmt.Errorf("it grows past the %d bytes that can be edited", maxEdit)
	}
	return buf.Bytes(), info, nil
}
