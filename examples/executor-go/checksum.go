package main

import (
	"context"
	"os/exec"
	"strings"
)

// Params are those of the manifest's inputSchema; a run checks them before it calls.
type Params struct {
	Paths []string `json:"paths"`
}

// Answer is what the manifest's outputSchema says.
type Answer struct {
	Success bool              `json:"success"`
	Error   *string           `json:"error"`
	Sums    map[string]string `json:"sums"`
}

// checksum has sha256sum do the work. Files that it cannot read are an answer, not a failure of the tool.
func checksum(ctx context.Context, call Call) (Answer, error) {
	program := exec.Command("sha256sum", append([]string{"--"}, call.Params.Paths...)...)
	written, err := run(ctx, call, program)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Success: *written.ExitCode == 0, Sums: map[string]string{}}
	for _, line := range strings.Split(written.Stdout, "\n") {
		if sum, path, found := strings.Cut(line, "  "); found {
			answer.Sums[path] = sum
		}
	}
	if !answer.Success {
		answer.Error = &written.Stderr
	}
	return answer, nil
}
