//go:build !unix

package workdir

import "os"

// entriesOf reads an open directory.
func entriesOf(d *os.File) ([]os.DirEntry, error) { return d.ReadDir(-1) }
