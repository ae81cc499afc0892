// An executor that breaks the rules: each activity is one way, and the params say how far it goes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"
)

type call struct {
	Params struct {
		Encoding string          `json:"encoding"`
		Data     string          `json:"data"`
		Times    int             `json:"times"`
		Failure  json.RawMessage `json:"failure"`
		Beat     bool            `json:"beat"`
	} `json:"params"`
}

func (call call) payload() converter.RawValue {
	payload := &commonpb.Payload{Data: []byte(strings.Repeat(call.Params.Data, max(1, call.Params.Times)))}
	if call.Params.Encoding != "" {
		payload.Metadata = map[string][]byte{"encoding": []byte(call.Params.Encoding)}
	}
	return converter.NewRawValue(payload)
}

func answers(_ context.Context, call call) (converter.RawValue, error) { return call.payload(), nil }

func answersAtLength(_ context.Context, call call) (string, error) {
	return strings.Repeat(call.Params.Data, call.Params.Times), nil
}

func answersNothing(context.Context, call) error { return nil }

func answersNil(context.Context, call) (*string, error) { return nil, nil }

func promises(context.Context, call) (string, error) { return "", activity.ErrResultPending }

func panics(context.Context, call) error { panic("at the disco") }

func takesText(_ context.Context, text string) (string, error) { return text, nil }

func isCancelled(context.Context, call) error { return temporal.NewCanceledError("by nobody") }

// fails ends with any failure that Temporal can carry, however an executor may have come by it.
func fails(_ context.Context, call call) error {
	failure := &failurepb.Failure{}
	if err := protojson.Unmarshal(call.Params.Failure, failure); err != nil {
		return err
	}
	return temporal.GetDefaultFailureConverter().FailureToError(failure)
}

// failsAtLength tells of a crash with more words than anybody wants.
func failsAtLength(_ context.Context, call call) error {
	text := strings.Repeat(call.Params.Data, call.Params.Times)
	return temporal.NewApplicationError(text, "TOOL_CRASHED", map[string]any{"exit_code": 3, "stdout": text})
}

// hangs knows neither deadline nor cancel.
func hangs(ctx context.Context, call call) error {
	if call.Params.Beat {
		activity.RecordHeartbeat(ctx, call.payload())
	}
	select {}
}

func main() {
	queue := flag.String("queue", "", "the queue to serve")
	flag.Parse()
	connection, err := client.Dial(envconfig.MustLoadDefaultClientOptions())
	if err != nil {
		log.Fatalln(err)
	}
	executor := worker.New(connection, *queue, worker.Options{
		DisableWorkflowWorker:            true,
		DefaultHeartbeatThrottleInterval: 100 * time.Millisecond,
	})
	for name, way := range map[string]any{
		"answers": answers, "answers-at-length": answersAtLength, "answers-nothing": answersNothing, "answers-nil": answersNil, "promises": promises,
		"panics": panics, "takes-text": takesText, "is-cancelled": isCancelled, "fails": fails,
		"fails-at-length": failsAtLength, "hangs": hangs,
	} {
		executor.RegisterActivityWithOptions(way, activity.RegisterOptions{Name: name})
	}
	if err := executor.Run(worker.InterruptCh()); err != nil {
		log.Fatalln(err)
	}
}
