package gateway

import (
	"encoding/json"
	"errors"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// reasonMember is the _meta member with a refusal's reason, for programs.
const reasonMember = "patchbay/reason"

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// refusalResult is a tool result that explains a refusal to the model.
type refusalResult struct {
	Content []textContent              `json:"content"`
	IsError bool                       `json:"isError"`
	Meta    map[string]toolcall.Reason `json:"_meta"`
}

// newRefusalResult converts the error of a tool call to a tool result or a protocol error. Arguments that do not match the schema are a result, because a model
// can correct them (SEP-1303).
func newRefusalResult(err error, page pageFinder) (json.RawMessage, error) {
	r, ok := toRefusal(err)
	if bad, isBad := errors.AsType[*toolcall.InvalidArgumentsError](err); isBad && bad.Mismatch {
		r, ok = &toolcall.RefusalError{Code: toolcall.CodeInvalidArguments, Sentence: bad.Sentence}, true
	}
	switch {
	case !ok:
		return nil, toProtocolError(err)
	case r.Elicit != nil:
		return nil, newElicitationError(r)
	}
	return json.Marshal(refusalResult{
		Content: []textContent{{Type: "text", Text: appendPageURL(r, page)}},
		IsError: true,
		Meta:    map[string]toolcall.Reason{reasonMember: newReason(r, page)},
	})
}

// pageFinder returns the URL of the page where a signed-in person connects a missing account, or asks for access; empty: none.
type pageFinder func(r *toolcall.RefusalError) string

// appendPageURL adds that URL to a refusal's sentence, because many clients show only the text. Models may repeat
// the text anywhere, so the page requires a sign-in. Links that need none are in the reason only.
func appendPageURL(r *toolcall.RefusalError, page pageFinder) string {
	if r.ConnectURL == "" && r.Ask == nil {
		return r.Sentence
	}
	where := page(r)
	switch {
	case where == "":
		return r.Sentence
	case r.Ask != nil:
		return r.SentenceWithPage(where)
	}
	return r.Sentence + " A person can do that here: " + where
}

// toRefusal returns the refusal in err. An Unavailable fault of Patchbay itself is one, too.
func toRefusal(err error) (*toolcall.RefusalError, bool) {
	if r, ok := errors.AsType[*toolcall.RefusalError](err); ok {
		return r, true
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Unavailable {
		return &toolcall.RefusalError{
			Code: toolcall.CodeUnavailable, Sentence: f.Message, RetryAfter: time.Duration(f.RetryAfter) * time.Second,
		}, true
	}
	return nil, false
}

func newReason(r *toolcall.RefusalError, page pageFinder) toolcall.Reason {
	if r.Ask == nil {
		return r.Reason("")
	}
	return r.Reason(page(r))
}

// toProtocolError converts err to a JSON-RPC error: the upstream's own, or invalid arguments. Other errors stay
// as they are.
func toProtocolError(err error) error {
	if bad, ok := errors.AsType[*toolcall.InvalidArgumentsError](err); ok {
		return serve.InvalidParams(bad.Sentence)
	}
	if failure, ok := errors.AsType[*mcp.Error](err); ok && failure.RPC != nil {
		return &serve.RPCError{Code: failure.RPC.Code, Message: failure.RPC.Message, Data: failure.RPC.Data}
	}
	return err
}

// newTaskError converts the error of a tool call that was to be a task.
func newTaskError(err error, page pageFinder) error {
	if r, ok := toRefusal(err); ok && r.Elicit != nil {
		return newElicitationError(r)
	}
	return newRequestError(err, page)
}

// codeRefused is the JSON-RPC code of a request that is refused by policy and has no tool result.
const codeRefused = -32000

// newRequestError converts the error of a request other than tools/call.
func newRequestError(err error, page pageFinder) error {
	r, ok := toRefusal(err)
	if !ok {
		return toProtocolError(err)
	}
	data, marshalErr := json.Marshal(map[string]toolcall.Reason{reasonMember: newReason(r, page)})
	if marshalErr != nil {
		return marshalErr
	}
	return &serve.RPCError{Code: codeRefused, Message: appendPageURL(r, page), Data: data}
}
