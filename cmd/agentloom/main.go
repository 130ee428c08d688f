// Command agentloom runs and checks workflow files.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/agentloom/agentloom/internal/cli"
)

func main() {
	// net/http reports what a server sends out of turn, server's bytes and all,
	// through Go's own logger; nothing of ours uses it.
	log.SetOutput(io.Discard)
	os.Exit(cli.Main(context.Background(), cli.Process{
		Args:    os.Args[1:],
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Environ: os.Environ(),
		Dir:     "",
	}))
}
