package toolcall

import (
	"math"
	"net/url"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// Code is the reason of a refusal, in _meta["patchbay/reason"].
type Code string

// The codes.
const (
	CodeNotGranted         Code = "not_granted"
	CodeHeld               Code = "held"                // the tool waits for an admin's review
	CodeDenied             Code = "denied"              // by a person
	CodeCredentialRequired Code = "credential_required" // missing
	CodeNeedsAuthorization Code = "needs_authorization" // the account must be reconnected
	CodeRateLimited        Code = "rate_limited"
	CodeQuotaExceeded      Code = "quota_exceeded" // of a tool, or of the tenant
	CodeCircuitOpen        Code = "circuit_open"   // the server failed repeatedly
	CodeTimeout            Code = "timeout"
	CodeApprovalPending    Code = "approval_pending"
	CodeOutcomeUnknown     Code = "outcome_unknown" // the process of an approved call died: the call may have run
	CodeCancelled          Code = "cancelled"
	CodeUnavailable        Code = "unavailable"    // of Patchbay
	CodeUpstream           Code = "upstream"       // the server failed
	CodeInvalidRead        Code = "invalid_read"   // what to read of a shortened answer does not work
	CodeInvalidResult      Code = "invalid_result" // the result does not fit the tool's output schema
	CodeInvalidArguments   Code = "invalid_arguments"
)

// RefusalError is a call without a result of the server. Its sentence is for the model.
type RefusalError struct {
	Code       Code
	Sentence   string        // says what to do
	ConnectURL string        // page to connect the account; empty: none
	RetryAfter time.Duration // 0: unknown
	RetryAt    time.Time     // zero: unknown
	CallID     connectors.ToolCallID
	Elicit     *Elicitation  // page for the client to open before it repeats the call; nil: none
	Ask        *WantedAccess // access that a person may ask for; nil: none helps
	Err        error         `json:"-"` // the cause, for the log only

	connectPage string // page that requires a sign-in; empty: no account of the agent's own is missing
}

// WantedAccess is the access that a refused agent lacks. It names only what the agent knows already.
type WantedAccess struct {
	Connector connectors.Ref
	Tool      string // the upstream's name; empty: all tools
}

// Reason is the reason of a refusal in _meta["patchbay/reason"], for programs.
type Reason struct {
	Code       Code   `json:"code"`
	ConnectURL string `json:"connect_url,omitempty"`
	AskURL     string `json:"ask_url,omitempty"` // page where a signed-in person asks for access
	RetryAfter int    `json:"retry_after_s,omitempty"`
	RetryAt    string `json:"retry_at,omitempty"` // RFC 3339
	CallID     string `json:"call_id,omitempty"`
}

// Reason returns the reason, with the page for the access that the agent lacks.
func (r *RefusalError) Reason(askURL string) Reason {
	why := Reason{Code: r.Code, ConnectURL: r.ConnectURL, AskURL: askURL, RetryAfter: int(math.Ceil(r.RetryAfter.Seconds()))}
	if !r.RetryAt.IsZero() {
		why.RetryAt = r.RetryAt.Format(time.RFC3339)
	}
	if r.CallID.UUID != [16]byte{} {
		why.CallID = r.CallID.String()
	}
	return why
}

// AskURL returns the page where a person asks for the access that the agent lacks; empty: none. base has no slash at its end.
func (r *RefusalError) AskURL(base string, agent connectors.AgentID) string {
	if r.Ask == nil {
		return ""
	}
	query := url.Values{"connector": {string(r.Ask.Connector)}}
	if r.Ask.Tool != "" {
		query.Set("tool", r.Ask.Tool)
	}
	return AskURL(base, agent, query)
}

// AskURL returns the page where a person asks for access of an agent. query has what it is to.
func AskURL(base string, agent connectors.AgentID, query url.Values) string {
	query.Set("agent", agent.String())
	return base + connectors.AskAccessPath + "?" + query.Encode()
}

// SentenceWithPage is the sentence with the page where a person asks for access; empty: none.
func (r *RefusalError) SentenceWithPage(askURL string) string {
	if askURL == "" {
		return r.Sentence
	}
	return r.Sentence + " A person can ask for access here: " + askURL
}

func wantTool(t *agentview.Tool) *WantedAccess {
	return &WantedAccess{connectors.Ref(t.Connector.Connector.Slug), t.Name}
}

func wantConnector(connector *agentview.ConnectorView) *WantedAccess {
	return &WantedAccess{Connector: connectors.Ref(connector.Connector.Slug)}
}

// Error is the sentence and the cause, for logs.
func (r *RefusalError) Error() string {
	if r.Err == nil {
		return r.Sentence
	}
	return r.Sentence + ": " + r.Err.Error()
}

// Unwrap returns the cause.
func (r *RefusalError) Unwrap() error { return r.Err }

// InvalidArgumentsError are arguments that do not match the tool's input schema, or other parameters that are invalid.
// Nothing was sent.
type InvalidArgumentsError struct {
	Sentence string // names the member
	Mismatch bool   // of arguments and schema: a model can correct it
}

// Error is the sentence.
func (b *InvalidArgumentsError) Error() string { return b.Sentence }
