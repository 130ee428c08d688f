// Command agentloom runs and checks workflow files.
package main

import (
	"context"
	"os"

	"github.com/agentloom/agentloom/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.Process{
		Args:    os.Args[1:],
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Environ: os.Environ(),
		Dir:     "",
	}))
}
