// Command bare is what BenchmarkWholeProcess compares with: the smallest Go
// program that makes one model call and prints the answer.
//
//	bare URL             makes the call
//	bare -rss PROGRAM…   runs a program and prints, as its last line on stderr,
//	                     the most memory it had, in bytes
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	err := errors.New("usage: bare URL, or bare -rss PROGRAM…")
	switch {
	case len(os.Args) > 2 && os.Args[1] == "-rss":
		err = measure(os.Args[2:])
	case len(os.Args) == 2:
		err = call(os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func call(url string) error {
	body, err := json.Marshal(map[string]any{
		"model": "m", "messages": []map[string]string{{"role": "user", "content": "Hi"}},
	})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer k")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || len(answer.Choices) != 1 {
		return errors.Join(errors.New("no answer"), err)
	}
	fmt.Println(answer.Choices[0].Message.Content)
	return nil
}

// measure runs a program from a small process: a child's peak counts that of
// the process that starts it, until the child's own program is loaded.
func measure(command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not tell")
	}
	_, err := fmt.Fprintf(os.Stderr, "\n%d\n", usage.Maxrss<<10)
	return err
}
