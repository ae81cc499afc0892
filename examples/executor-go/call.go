package main

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
)

// Call is the input of every tool's activity.
type Call struct {
	Tool           string  `json:"tool"`
	Params         Params  `json:"params"`
	CallID         string  `json:"call_id"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
}

// Timeout is how long the tool may run; the server itself waits a few seconds more.
func (call Call) Timeout() time.Duration {
	return time.Duration(call.TimeoutSeconds * float64(time.Second))
}

// Capture is what a tool had written: the details of a failure, and of every heartbeat.
type Capture struct {
	ExitCode  *int   `json:"exit_code"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	StartedAt string `json:"started_at"`
}

// Fails gives the failure that a run understands: its type is an error code, its first detail a capture.
func (call Call) Fails(code string, capture Capture, format string, arguments ...any) error {
	message := fmt.Sprintf("Tool '%s' %s", call.Tool, fmt.Sprintf(format, arguments...))
	return temporal.NewApplicationErrorWithOptions(message, code, temporal.ApplicationErrorOptions{
		NonRetryable: true,
		Category:     temporal.ApplicationErrorCategoryBenign,
		Details:      []any{capture},
	})
}
