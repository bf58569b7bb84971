package toolcall

import (
	"context"

	"patchbay/internal/agentview"
)

// validator checks arguments against the input schema.
type validator struct {
	o *Options
}

// validateArguments checks the arguments against the input schema, until ctx ends.
func (v *validator) validateArguments(ctx context.Context, a *activeCall, tool *agentview.Tool) error {
	complete, err := tool.ValidateAll(ctx, a.request.Arguments, a.request.ArgumentsValid)
	if err == nil {
		if !complete {
			v.o.Log.WarnContext(ctx, "arguments too large to be checked in full", "tenant_id", a.request.View.Tenant.ID, "tool_call_id", a.call.ID,
				"agent_id", a.request.View.Agent.ID, "connector", tool.Connector.Connector.Slug, "tool", tool.Name, "bytes", len(a.request.Arguments))
		}
		return nil
	}
	if ctxRefusal := explainContext(ctx, tool.Connector.Connector); ctxRefusal != nil {
		return ctxRefusal
	}
	return &InvalidArgumentsError{Sentence: err.Error(), Mismatch: true}
}
