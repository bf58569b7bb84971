package toolcall

import (
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

func (rec *callRecorder) setOutcome(a *activeCall, c *connectors.ToolCall, result *mcp.Result, err error) {
	endedAt := rec.o.Now()
	c.CompletedAt, c.Duration = &endedAt, max(0, endedAt.Sub(c.StartedAt))
	if a.credential != nil {
		c.CredentialID = &a.credential.ID
	}
	if err != nil {
		setErrorOutcome(c, err)
		return
	}
	c.Status, c.Outcome = connectors.CallSuccess, connectors.OutcomeOK
	c.Content, c.Structured, c.ResponseBytes = result.Content, result.Structured, int64(len(result.Raw))
	switch {
	case result.IsError:
		c.Status, c.Outcome, c.IsError = connectors.CallError, connectors.OutcomeToolError, true
	case result.InputRequired != nil:
		c.ErrorCode, c.ErrorMessage = codeInputRequired, "The server asked for more, and the call went on with another request."
	}
}

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
		c.ErrorCode, c.ErrorMessage = "invalid_arguments", bad.Sentence
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
