package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/waymarkhq/waymark/client"
)

type operationsCommand struct {
	Show   operationShowCommand   `cmd:"" help:"Show an operation."`
	Follow operationFollowCommand `cmd:"" help:"Wait until an operation has ended; the exit code is 1 unless it succeeded."`
	Cancel operationCancelCommand `cmd:"" help:"Stop an operation."`
}

// operation is what these commands use of an operation.
type operation struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Status string `json:"status"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// over reports whether nothing more comes of the operation.
func (o *operation) over() bool {
	switch o.Status {
	case "queued", "running", "cancel_requested":
		return false
	}
	return true
}

func operationPath(id string) string { return client.Path("/operations/{operationId}", id) }

type operationShowCommand struct {
	ID string `arg:"" help:"Id of the operation."`
	target
	shape
}

func (o *operationShowCommand) Run(ctx context.Context) error {
	c, _, err := o.open()
	if err != nil {
		return err
	}
	var shown json.RawMessage
	if err := c.Get(ctx, operationPath(o.ID), nil, &shown); err != nil {
		return err
	}
	described, err := findOperation("getOperationsOperationId")
	if err != nil {
		return err
	}
	return o.value(described.Data, shown)
}

type operationFollowCommand struct {
	ID string `arg:"" help:"Id of the operation."`
	target
}

func (o *operationFollowCommand) Run(ctx context.Context) error {
	c, _, err := o.open()
	if err != nil {
		return err
	}
	c.Patience = longPatience
	ended, err := follow(ctx, c, o.ID, func(at operation) { fmt.Fprintln(stdout, time.Now().Format(time.TimeOnly), at.Type, at.Status) })
	if err != nil {
		return err
	}
	return ended.failure()
}

// failure is the error of an operation that did not succeed.
func (o *operation) failure() error {
	switch {
	case o.Status == "succeeded":
		return nil
	case o.Error != nil:
		return fmt.Errorf("operation %s has the status %s: %s", o.ID, o.Status, o.Error.Message)
	}
	return fmt.Errorf("operation %s has the status %s", o.ID, o.Status)
}

const (
	// longPatience is how long work that takes long waits for a server that is away.
	longPatience = 10 * time.Minute
	// The pauses between two looks at an operation.
	firstLook, lastLook = 200 * time.Millisecond, 2 * time.Second
)

// follow looks at an operation until it has ended, and tells each new status.
func follow(ctx context.Context, c *client.Client, id string, changed func(operation)) (at operation, err error) {
	status := ""
	for pause := firstLook; ; pause = min(pause*3/2, lastLook) {
		if err := c.Get(ctx, operationPath(id), nil, &at); err != nil {
			return at, fmt.Errorf("follow operation %s: %w", id, err)
		}
		if at.Status != status {
			status = at.Status
			changed(at)
		}
		if at.over() {
			return at, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return at, fmt.Errorf("follow operation %s, which goes on: %w", id, ctx.Err())
		}
	}
}

type operationCancelCommand struct {
	ID string `arg:"" help:"Id of the operation."`
	target
}

func (o *operationCancelCommand) Run(ctx context.Context) error {
	c, _, err := o.open()
	if err != nil {
		return err
	}
	a, err := c.Do(ctx, client.Request{Method: http.MethodPost, Path: operationPath(o.ID) + "/cancel", Body: map[string]any{}})
	if err != nil {
		return err
	}
	var at operation
	if err := a.Data(&at); err != nil {
		return err
	}
	if at.over() && at.Status != "cancelled" {
		return fmt.Errorf("operation %s was not cancelled: it had ended (%s)", o.ID, at.Status)
	}
	fmt.Fprintln(stdout, at.Status)
	return nil
}
