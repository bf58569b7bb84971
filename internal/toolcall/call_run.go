package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
)

// recordTimeout bounds the wait until a finished call is stored.
const recordTimeout = 2 * time.Second

// Run makes a call and returns after its end, when it waits for approval, or after timeout; the call then goes
// on detached from ctx. A finished call is stored, and returned with its whole result and original arguments.
// An error means that no call began (*InvalidArgumentsError or a fault); only a call that a quota refused has both a
// record and an error.
func (c *Executor) Run(ctx context.Context, request CallRequest, timeout time.Duration) (connectors.ToolCall, error) {
	if request.ID == (connectors.ToolCallID{}) {
		request.ID = NewCallID()
	}
	request.NoWait = true
	if request.Progress == nil {
		request.Progress = func(json.RawMessage) {} // progress is stored for later reads
	}
	results := make(chan callResult, 1)
	safe.Go(safe.Call, func() { // Stop waits for the call
		var r callResult
		defer func() { results <- r }()
		defer safe.RecoverTo(safe.Call, &r.err)
		r.out, r.err = c.Call(context.WithoutCancel(ctx), request)
	})
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case r := <-results:
		return c.recorder.toRecordedCall(ctx, r, request.Arguments)
	case <-timer.C:
		return c.o.Store.Tenant(request.View.Tenant.ID).Calls().Get(ctx, request.ID)
	case <-ctx.Done():
		return connectors.ToolCall{}, context.Cause(ctx)
	}
}

type callResult struct {
	out Outcome
	err error
}

// toRecordedCall returns the call as Run describes.
func (rec *callRecorder) toRecordedCall(ctx context.Context, r callResult, arguments json.RawMessage) (connectors.ToolCall, error) {
	call := r.out.Call
	if _, isBadArguments := errors.AsType[*InvalidArgumentsError](r.err); isBadArguments || call.ID.UUID == uuid.Nil {
		return connectors.ToolCall{}, r.err
	}
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	rec.o.History.Flush(ctx)
	call.Arguments = arguments
	var content struct {
		Content           json.RawMessage
		StructuredContent json.RawMessage
	}
	if refusal, ok := errors.AsType[*RefusalError](r.err); ok && refusal.Code == CodeInvalidResult {
		call.Content, call.Structured = nil, nil // the history has them
	}
	if r.err == nil && json.Unmarshal(r.out.Raw, &content) == nil {
		call.Content, call.Structured = content.Content, content.StructuredContent
	}
	return call, newQuotaFault(r.err)
}

// newQuotaFault is the fault for a call that a quota refused; nil: none did.
func newQuotaFault(err error) error {
	refusal, ok := errors.AsType[*RefusalError](err)
	if !ok || refusal.Code != CodeQuotaExceeded {
		return nil
	}
	f := fault.Wrap(fault.RateLimited, refusal, refusal.Sentence).WithType("quota-exceeded")
	f.RetryAfter = int((refusal.RetryAfter + time.Second - 1) / time.Second)
	return f
}
