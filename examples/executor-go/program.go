package main

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

const beatInterval = 500 * time.Millisecond

// run gives what a program had written when it ended by itself; whatever else happens to it is an error,
// and then nothing of it is left.
func run(ctx context.Context, call Call, program *exec.Cmd) (Capture, error) {
	if activity.GetInfo(ctx).Attempt > 1 {
		// An operator's unpause starts a second attempt, though a run never asks for one.
		return Capture{}, call.Fails("TOOL_INTERRUPTED", Capture{}, "was interrupted: it is not run twice")
	}
	output := watch(program)
	ended, err := start(program)
	if err != nil {
		missing := 127 // This exit code and no output say that nothing has happened.
		return Capture{}, call.Fails("TOOL_CRASHED", Capture{ExitCode: &missing}, "could not be started: %v", err)
	}
	defer kill(program)
	deadline, beat, cancelled := time.After(call.Timeout()), time.NewTicker(beatInterval), ctx.Done()
	defer beat.Stop()
	for {
		// The SDK refuses to beat in a context that a pause has cancelled.
		activity.RecordHeartbeat(context.WithoutCancel(ctx), output.capture())
		select {
		case <-beat.C:
		case <-ended:
			return output.ended(call, program)
		case <-deadline:
			stop(program, ended)
			return Capture{}, call.Fails("TOOL_TIMEOUT", output.capture(), "timed out after %gs", call.TimeoutSeconds)
		case <-activity.GetWorkerStopChannel(ctx):
			stop(program, ended)
			return Capture{}, call.Fails("TOOL_INTERRUPTED", output.capture(), "was interrupted: its executor was stopped")
		case <-cancelled:
			if errors.Is(context.Cause(ctx), activity.ErrActivityPaused) {
				cancelled = nil // What a program does cannot be paused: it goes on to its end.
				continue
			}
			stop(program, ended)
			if errors.Is(context.Cause(ctx), activity.ErrActivityReset) {
				return Capture{}, call.Fails("TOOL_CANCELLED", output.capture(), "was cancelled by an operator")
			}
			return Capture{}, temporal.NewCanceledError(output.capture())
		}
	}
}

// start starts a program that dies with this process, and tells when it has ended.
func start(program *exec.Cmd) (<-chan struct{}, error) {
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	program.WaitDelay = time.Second // Something that it left behind may hold its pipes.
	started, ended := make(chan error), make(chan struct{})
	go func() {
		// Pdeathsig means the thread that started the program.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := program.Start()
		started <- err
		if err == nil {
			_ = program.Wait()
			close(ended)
		}
	}()
	return ended, <-started
}

func stop(program *exec.Cmd, ended <-chan struct{}) {
	kill(program)
	<-ended
}

func kill(program *exec.Cmd) {
	_ = syscall.Kill(-program.Process.Pid, syscall.SIGKILL)
}

// output is what a program has written so far. The schema of the params bounds it here; a tool that may write
// without end has to keep a head and a tail.
type output struct {
	lock           sync.Mutex
	stdout, stderr bytes.Buffer
	startedAt      string
}

func watch(program *exec.Cmd) *output {
	output := &output{startedAt: time.Now().UTC().Format(time.RFC3339Nano)}
	program.Stdout = writer{output, &output.stdout}
	program.Stderr = writer{output, &output.stderr}
	return output
}

func (output *output) capture() Capture {
	output.lock.Lock()
	defer output.lock.Unlock()
	return Capture{Stdout: output.stdout.String(), Stderr: output.stderr.String(), StartedAt: output.startedAt}
}

// ended tells what a program said that nobody stopped; a signal is a crash with exit code 128 + its number.
func (output *output) ended(call Call, program *exec.Cmd) (Capture, error) {
	capture, code := output.capture(), program.ProcessState.ExitCode()
	if status, ok := program.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	capture.ExitCode = &code
	if code > 1 {
		return capture, call.Fails("TOOL_CRASHED", capture, "crashed with exit code %d", code)
	}
	return capture, nil
}

type writer struct {
	output *output
	buffer *bytes.Buffer
}

func (writer writer) Write(data []byte) (int, error) {
	writer.output.lock.Lock()
	defer writer.output.lock.Unlock()
	return writer.buffer.Write(data)
}
