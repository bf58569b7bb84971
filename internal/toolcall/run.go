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

// recordTime bounds how long somebody who called waits for the call to be on record.
const recordTime = 2 * time.Second

// Run makes a call for somebody who looks again later. It returns the call as it is when it has ended, when it waits for a person, or
// when patience is over; it goes on then, without whoever asked. One that has ended comes with its whole result and the arguments as
// they were given, whatever the history keeps, and is on record. An error says that nothing was begun, and why: a *BadArguments, or a
// fault. A call that a quota refused is on record, and comes with an error that says so, too.
func (c *Caller) Run(ctx context.Context, o Order, patience time.Duration) (connectors.ToolCall, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return connectors.ToolCall{}, err
	}
	o.ID, o.Impatient = connectors.ToolCallID{UUID: id}, true
	if o.Progress == nil {
		o.Progress = func(json.RawMessage) {} // it is on record how far the call is, for whoever looks again
	}
	ended := make(chan result, 1)
	safe.Go(safe.Call, func() { // Stop waits for the call in it
		var r result
		defer func() { ended <- r }()
		defer safe.RecoverTo(safe.Call, &r.err)
		r.out, r.err = c.Call(context.WithoutCancel(ctx), o)
	})
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case r := <-ended:
		return c.recorded(ctx, r, o.Arguments)
	case <-timer.C:
		return c.o.Store.Tenant(o.View.Tenant.ID).ToolCall(ctx, o.ID)
	case <-ctx.Done():
		return connectors.ToolCall{}, context.Cause(ctx)
	}
}

// result is what came of a call.
type result struct {
	out Outcome
	err error
}

// recorded is the call, where there is one, whatever came of it.
func (c *Caller) recorded(ctx context.Context, r result, arguments json.RawMessage) (connectors.ToolCall, error) {
	call := r.out.Call
	if _, bad := errors.AsType[*BadArguments](r.err); bad || call.ID.UUID == uuid.Nil {
		return connectors.ToolCall{}, r.err
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	c.o.History.Written(ctx)
	call.Arguments = arguments
	var told struct {
		Content           json.RawMessage
		StructuredContent json.RawMessage
	}
	if r.err == nil && json.Unmarshal(r.out.Raw, &told) == nil {
		call.Content, call.Structured = told.Content, told.StructuredContent
	}
	return call, quotaFault(r.err)
}

// quotaFault is what a door answers where a quota refused the call; nil: none did.
func quotaFault(err error) error {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok || refusal.Code != CodeQuotaExceeded {
		return nil
	}
	f := fault.Wrap(fault.RateLimited, refusal, refusal.Sentence).WithType("quota-exceeded")
	f.RetryAfter = int((refusal.RetryAfter + time.Second - 1) / time.Second)
	return f
}
