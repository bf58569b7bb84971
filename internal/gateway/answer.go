package gateway

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// reasonMember is where a refusal's reason stands, for programs.
const reasonMember = "patchbay/reason"

// reason is why a call has no result of its server.
type reason struct {
	Code       string `json:"code"`
	ConnectURL string `json:"connect_url,omitempty"`
	RetryAfter int    `json:"retry_after_s,omitempty"`
	RetryAt    string `json:"retry_at,omitempty"` // RFC 3339
	CallID     string `json:"call_id,omitempty"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// refusedResult is a result that the model reads.
type refusedResult struct {
	Content []content         `json:"content"`
	IsError bool              `json:"isError"`
	Meta    map[string]reason `json:"_meta"`
}

// refused turns what a tool call ended with into a result that the model reads, or into an error of the protocol. page is where whoever signs in
// mends a missing account.
func refused(err error, page func() string) (json.RawMessage, error) {
	r, ok := refusalOf(err)
	switch {
	case !ok:
		return nil, protocolError(err)
	case r.Elicit != nil:
		return nil, elicited(r)
	}
	return json.Marshal(refusedResult{
		Content: []content{{Type: "text", Text: withPage(r, page)}},
		IsError: true,
		Meta:    map[string]reason{reasonMember: reasonOf(r)},
	})
}

// withPage is a refusal's sentence, with where a person mends it: many clients show nothing but the text. A model reads it, and may repeat it
// anywhere: it is the page that asks for a sign-in. What may open without one stands in the reason, for programs.
func withPage(r *toolcall.Refusal, page func() string) string {
	if r.ConnectURL == "" {
		return r.Sentence
	}
	where := page()
	if where == "" {
		return r.Sentence
	}
	return r.Sentence + " A person does that here: " + where
}

// refusalOf finds why a call was refused. What the house says of itself (the database is away, say) is a refusal, too.
func refusalOf(err error) (*toolcall.Refusal, bool) {
	if r, ok := errors.AsType[*toolcall.Refusal](err); ok {
		return r, true
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Unavailable {
		return &toolcall.Refusal{
			Code: toolcall.CodeUnavailable, Sentence: f.Message, RetryAfter: time.Duration(f.RetryAfter) * time.Second,
		}, true
	}
	return nil, false
}

func reasonOf(r *toolcall.Refusal) reason {
	why := reason{Code: string(r.Code), ConnectURL: r.ConnectURL, RetryAfter: int(math.Ceil(r.RetryAfter.Seconds()))}
	if !r.RetryAt.IsZero() {
		why.RetryAt = r.RetryAt.Format(time.RFC3339)
	}
	if r.CallID.UUID != [16]byte{} {
		why.CallID = r.CallID.String()
	}
	return why
}

// protocolError is an error as JSON-RPC has it: that of the server as it wrote it, arguments that do not fit, or nothing that may be
// told.
func protocolError(err error) error {
	if bad, ok := errors.AsType[*toolcall.BadArguments](err); ok {
		return serve.InvalidParams(bad.Sentence)
	}
	if failure, ok := errors.AsType[*mcp.Error](err); ok && failure.RPC != nil {
		return &serve.RPCError{Code: failure.RPC.Code, Message: failure.RPC.Message, Data: failure.RPC.Data}
	}
	return err
}

// codeRefused is a request that policy refuses, where there is no result that could say so.
const codeRefused = -32000

// refusedRequest is what a request that is no tool call ended with.
func refusedRequest(err error, page func() string) error {
	r, ok := refusalOf(err)
	if !ok {
		return protocolError(err)
	}
	data, marshalErr := json.Marshal(map[string]reason{reasonMember: reasonOf(r)})
	if marshalErr != nil {
		return marshalErr
	}
	return &serve.RPCError{Code: codeRefused, Message: withPage(r, page), Data: data}
}
