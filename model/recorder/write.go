package recorder

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lockWait is how long a write waits for other processes' writes.
const lockWait = 30 * time.Second

// batch is the next write, and who waits for it.
type batch struct {
	done chan struct{} // closed when it is on disk, or failed
	err  error
	lead chan struct{} // whoever receives from it must write it
}

// commit adds size bytes to what this run recorded, and returns when they are
// on disk. There is no writer in the background: the first to come writes, those that
// come meanwhile form the next batch, and one of them writes that.
func (r *Recorder) commit(size int, add func()) error {
	r.mu.Lock()
	if r.own.size+int64(size) > r.maxBytes { // no file could take it
		r.mu.Unlock()
		return r.lose(r.tooLong())
	}
	r.own.size += int64(size)
	add()
	if r.pending == nil {
		r.pending = &batch{done: make(chan struct{}), lead: make(chan struct{}, 1)}
	}
	b := r.pending
	if r.writing {
		r.mu.Unlock()
		select {
		case <-b.done:
			return b.err
		case <-b.lead:
		}
		r.mu.Lock()
	}
	r.writing = true
	r.pending = nil
	r.mu.Unlock()

	if err := r.write(); err != nil {
		b.err = r.failed(err)
	}
	close(b.done)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsaved = b.err != nil
	if r.pending != nil {
		r.pending.lead <- struct{}{} // it has room for the one that is sent
	} else {
		r.writing = false
	}
	return b.err
}

// write merges with the file, under the lock, and replaces it.
func (r *Recorder) write() error {
	unlock, err := lock(r.path+".lock", lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.refresh(); err != nil {
		return err
	}
	r.mu.Lock()
	pieces := merge(r.base, &r.own)
	r.mu.Unlock()
	size := int64(0)
	for _, p := range pieces {
		size += int64(len(p))
	}
	if size > r.maxBytes {
		return r.tooLong()
	}
	info, err := replace(r.path, pieces)
	if err == nil {
		r.baseInfo = info
	}
	return err
}

func (r *Recorder) tooLong() error {
	return fmt.Errorf("the recording would have more than %d bytes; record to another file", r.maxBytes)
}

// refresh reads the file again when it isn't the one that was written last.
// While it is, what it had before this run is known already.
func (r *Recorder) refresh() error {
	now, err := os.Stat(r.path)
	if err == nil && r.baseInfo != nil && os.SameFile(now, r.baseInfo) && now.Size() == r.baseInfo.Size() && now.ModTime().Equal(r.baseInfo.ModTime()) {
		return nil
	}
	src, info, err := readFile(r.path, r.maxBytes)
	if err != nil {
		return err
	}
	base, err := parse(src, r.path)
	if err != nil {
		return err
	}
	r.base, r.baseInfo = base, info
	return nil
}

// readFile reads a regular file of at most max bytes; nil when there is none.
func readFile(path string, max int64) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path) // before opening: opening a pipe would wait
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	src, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(src)) > max {
		return nil, nil, fmt.Errorf("it has more than %d bytes", max)
	}
	return src, info, nil
}

// replace writes a file in one step, as far as anybody can see. It is called
// under the lock, so that the temporary file has one name, and what a killed
// process left of it is removed.
func replace(path string, pieces [][]byte) (info fs.FileInfo, err error) {
	dir, base := filepath.Split(path)
	temp := filepath.Join(dir, "."+base+".tmp")
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp) // the error says what matters
		}
	}()
	if err := fill(f, pieces); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if info, err = f.Stat(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, err
	}
	return info, syncDir(dir)
}

func fill(f *os.File, pieces [][]byte) error {
	w := bufio.NewWriterSize(f, 256<<10)
	for _, p := range pieces {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return errors.Join(w.Flush(), f.Sync())
}
