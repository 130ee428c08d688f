package workdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/agentloom/agentloom/tool"
)

// LsOptions configure Ls.
type LsOptions struct {
	Name       string // what the model calls it; default "ls"
	MaxResults int    // the most entries a call; default 1000
}

const maxListed = 1000

// Ls returns the tool that lists a directory: ls(path="."). Directories come
// first, with a slash, then files with their size in bytes, each in the order
// of their names. Links that lead out of the working directory, and whatever
// is neither file nor directory, are named as such. dir is the directory it
// works in; "" is DefaultWorkdir.
func Ls(dir string, opts LsOptions) tool.Tool { return newSpace(dir).lister(opts) }

type lsArgs struct {
	Path *string `json:"path,omitempty" jsonschema:"The directory to list; the working directory when left out."`
}

func (s *space) lister(opts LsOptions) tool.Tool {
	opts.MaxResults = orDefault(opts.MaxResults, maxListed)
	return newTool(opts.Name, "ls", "List a directory: directories first, with a slash, then files with their size.",
		func(ctx context.Context, in lsArgs) (string, error) {
			path := here(in.Path)
			var listing string
			err := s.within(path, func(root *os.Root, name string) (err error) {
				listing, err = s.list(ctx, root, name, opts.MaxResults)
				return err
			})
			return listing, pathError("list", path, err)
		}, tool.WithEffect(tool.Pure))
}

// here is a path argument that may be left out.
func here(path *string) string {
	if path == nil {
		return "."
	}
	return *path
}

func (s *space) list(ctx context.Context, root *os.Root, name string, most int) (string, error) {
	entries, err := readDir(ctx, root, name)
	if err != nil {
		return "", err
	}
	var dirs, files []string
	for _, e := range entries {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		var info os.FileInfo
		err := s.within(name+"/"+e.Name(), func(root *os.Root, name string) (err error) {
			info, err = root.Stat(name)
			return err
		})
		switch {
		case err != nil && e.Type()&os.ModeSymlink != 0:
			files = append(files, shown(e.Name())+" (a link that is not followed)")
		case errors.Is(err, os.ErrNotExist): // gone meanwhile
		case err != nil:
			files = append(files, fmt.Sprintf("%s (%v)", shown(e.Name()), bare(err)))
		case info.IsDir():
			dirs = append(dirs, shown(e.Name())+"/")
		case info.Mode().IsRegular():
			files = append(files, fmt.Sprintf("%s (%d bytes)", shown(e.Name()), info.Size()))
		default:
			files = append(files, shown(e.Name())+" (no regular file)")
		}
	}
	all := append(dirs, files...)
	if len(all) == 0 {
		return "(the directory is empty)", nil
	}
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("... (%d more)", more))
	}
	return strings.Join(all, "\n"), nil
}

// readDir returns a directory's entries in the order of their names.
func readDir(ctx context.Context, root *os.Root, name string) ([]os.DirEntry, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNoDir
	}
	d, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a FIFO by now
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var all []os.DirEntry
	for {
		some, err := d.ReadDir(10_000)
		all = append(all, some...)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, io.EOF):
			slices.SortFunc(all, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return all, nil
		case err != nil:
			return nil, err
		}
	}
}
