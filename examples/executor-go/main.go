// An executor for Surefoot that needs nothing of Surefoot: a Temporal worker whose activity is the tool "checksum".
package main

import (
	"flag"
	"log"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/worker"
)

func main() {
	queue := flag.String("queue", "executor-go", "the executorQueue of the manifest")
	flag.Parse()
	options, err := encrypting(envconfig.MustLoadDefaultClientOptions())
	if err != nil {
		log.Fatalln(err)
	}
	connection, err := client.Dial(options)
	if err != nil {
		log.Fatalln(err)
	}
	defer connection.Close()

	executor := worker.New(connection, *queue, worker.Options{
		DisableWorkflowWorker:              true,
		MaxConcurrentActivityExecutionSize: 4,
		// The SDK's own throttle would hold a beat back for up to 30 s, and a cancel arrives with a beat.
		DefaultHeartbeatThrottleInterval: time.Second,
		MaxHeartbeatThrottleInterval:     time.Second,
		// Time to kill and to report when the executor is stopped.
		WorkerStopTimeout: 5 * time.Second,
	})
	executor.RegisterActivityWithOptions(checksum, activity.RegisterOptions{Name: "checksum"})
	if err := executor.Run(worker.InterruptCh()); err != nil {
		log.Fatalln(err)
	}
}
