package toolcall

import (
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// codeInputRequired marks a call that another request continues.
const codeInputRequired = "input_required"

func setErrorOutcome(c *connectors.ToolCall, err error) {
	c.Status, c.Outcome = connectors.CallError, connectors.OutcomeRefused
	var (
		refusal *RefusalError
		bad     *InvalidArgumentsError
		failure *mcp.Error
	)
	switch {
	case errors.As(err, &bad):
		c.ErrorCode, c.ErrorMessage = string(CodeInvalidArguments), bad.Sentence
	case errors.As(err, &refusal):
		c.ErrorCode, c.ErrorMessage = string(refusal.Code), refusal.Sentence
		setRefusalOutcome(c, refusal)
	case errors.As(err, &failure):
		c.Outcome, c.ErrorCode, c.ErrorMessage = connectors.OutcomeRPCError, "rpc", rpcSentence(failure)
	default:
		c.ErrorCode, c.ErrorMessage = "internal", "Something went wrong on our side."
	}
}

func setRefusalOutcome(c *connectors.ToolCall, r *RefusalError) {
	switch r.Code {
	case CodeDenied:
		c.Status, c.Outcome = connectors.CallDenied, connectors.OutcomeDenied
	case CodeCancelled:
		c.Status, c.Outcome = connectors.CallCancelled, connectors.OutcomeCancelled
	case CodeTimeout, CodeUpstream:
		c.Outcome = connectors.OutcomeTransport
	case CodeUnavailable:
		failure, _ := errors.AsType[*mcp.Error](r.Err)
		switch {
		case errors.Is(r.Err, errStopped):
			c.Outcome = connectors.OutcomeLost
		case failure != nil && failure.Reason == mcp.ReasonMemoryLimit:
			c.Outcome = connectors.OutcomeTransport
		}
	}
}
