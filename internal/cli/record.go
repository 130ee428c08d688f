package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agentloom/agentloom"
	"github.com/agentloom/agentloom/model/recorder"
)

// recording opens the run's recording; nil when none is asked for, or when no
// call reaches a service that could be recorded.
func (p *program) recording(o runOptions, set settings, c choice) (*recorder.Recorder, error) {
	file := firstSet(o.record, set.variable(settingRecord))
	if file == "" && o.recordTools {
		return nil, usage("--record-tools needs --record FILE")
	}
	if file == "" || c.offline {
		return nil, nil
	}
	r, err := recorder.New(recorder.Config{
		File:    p.path(file),
		Redact:  p.secrets.hide,
		OnError: func(err error) { p.warn(err.Error()) },
	})
	if err != nil {
		return nil, &failure{exitUsage, err}
	}
	return r, nil
}

// replayTape returns the tool calls of a recording.
func (p *program) replayTape(file string) (agentloom.Tape, error) {
	src, err := p.readFile(file, maxResponses)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no such file")
	}
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("recording %s: %w", file, err)}
	}
	tools, err := recorder.ParseTools(src, file)
	if err != nil {
		return nil, &failure{exitUsage, err}
	}
	return recorder.Tape{From: tools}, nil
}
