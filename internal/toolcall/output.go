package toolcall

import (
	"context"
	"encoding/json"
	"fmt"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// outputCheck is the verdict about a result's structured content.
type outputCheck struct {
	agentview.OutputCheck
	refusal *RefusalError // of a result that does not fit, by the tenant's settings; nil: the agent gets the result
}

// checkOutput checks a result against the tool's output schema, until ctx ends. A result that reports an error needs no
// structured content and is not checked.
func checkOutput(ctx context.Context, v *agentview.View, tool *agentview.Tool, structured json.RawMessage, isError bool) (c outputCheck) {
	if tool == nil || isError {
		return outputCheck{}
	}
	c.OutputCheck = tool.CheckOutput(ctx, structured)
	if c.Problem != "" && v.Tenant.RefuseInvalidResults {
		c.refusal = &RefusalError{Code: CodeInvalidResult, Sentence: fmt.Sprintf(
			"The tool %q ran, but its result is withheld: it doesn't match the output schema. %s", tool.Name, c.Problem)}
	}
	return c
}

// recordIn sets the verdict, and the error of a withheld result. The outcome stays that of the server's result.
func (c outputCheck) recordIn(call *connectors.ToolCall) {
	if c.Checked {
		call.StructuredValid, call.StructuredError = new(c.Fits()), c.Problem
	}
	if c.refusal != nil {
		call.Status, call.ErrorCode, call.ErrorMessage = connectors.CallError, string(c.refusal.Code), c.refusal.Sentence
	}
}
