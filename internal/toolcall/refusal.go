package toolcall

import (
	"time"

	"patchbay/internal/connectors"
)

// Code is why a call was refused; it stands in _meta["patchbay/reason"].
type Code string

// The codes.
const (
	CodeNotGranted         Code = "not_granted"
	CodeHeld               Code = "held"                // the tool changed, and waits for an admin
	CodeDenied             Code = "denied"              // by a person
	CodeCredentialRequired Code = "credential_required" // there is none
	CodeNeedsAuthorization Code = "needs_authorization" // the account must be connected again
	CodeRateLimited        Code = "rate_limited"
	CodeQuotaExceeded      Code = "quota_exceeded" // of a tool, or of the tenant
	CodeCircuitOpen        Code = "circuit_open"   // the server failed again and again, and is left alone for a while
	CodeTimeout            Code = "timeout"
	CodeApprovalPending    Code = "approval_pending"
	CodeOutcomeUnknown     Code = "outcome_unknown" // an approved call whose process died: nobody knows whether it ran
	CodeCancelled          Code = "cancelled"
	CodeUnavailable        Code = "unavailable" // Patchbay cannot serve now
	CodeUpstream           Code = "upstream"    // the server failed us
)

// Refusal is a call that has no result of the server's. The model should read its sentence.
type Refusal struct {
	Code       Code
	Sentence   string        // says what to do
	ConnectURL string        // where a person mends it; empty: nowhere
	RetryAfter time.Duration // 0: not said
	RetryAt    time.Time     // zero: not said
	CallID     connectors.ToolCallID
	Elicit     *Elicitation // the client opens this page, and makes the call again; nil: it reads the sentence
	Err        error        `json:"-"` // the cause, for the log only

	page string // like ConnectURL, for whoever signs in; empty: no account of the agent's own is missing
}

// Error is the sentence and the cause, for logs.
func (r *Refusal) Error() string {
	if r.Err == nil {
		return r.Sentence
	}
	return r.Sentence + ": " + r.Err.Error()
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// BadArguments are arguments that do not fit the tool's input schema. Nothing was sent.
type BadArguments struct {
	Sentence string // names the place
}

// Error is the sentence.
func (b *BadArguments) Error() string { return b.Sentence }
