package mcpadmin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"patchbay/client"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/respond"
)

// reasonMember is the _meta key of a refusal's reason, as in the gateway.
const reasonMember = "patchbay/reason"

// refusalReason is a refusal for programs.
type refusalReason struct {
	Code       string `json:"code"`
	Status     int    `json:"status,omitempty"` // of HTTP, from the API
	ConnectURL string `json:"connect_url,omitempty"`
	ConfirmURL string `json:"confirm_url,omitempty"` // the page for a person
	RetryAfter int    `json:"retry_after_s,omitempty"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type resultBody struct {
	Content    []textContent            `json:"content"`
	Structured json.RawMessage          `json:"structuredContent,omitempty"`
	IsError    bool                     `json:"isError,omitempty"`
	Meta       map[string]refusalReason `json:"_meta,omitempty"`
}

// newToolResult returns a summary and the value, which is repeated as text for clients without
// structuredContent.
func newToolResult(o toolOutput) (json.RawMessage, error) {
	value, err := encodeJSON(o.value)
	if err != nil {
		return nil, err
	}
	return encodeJSON(resultBody{Content: []textContent{{"text", o.summary}, {"text", string(value)}}, Structured: value})
}

func encodeJSON(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}

// refusalResult returns an error as a tool result for the model, or as an error if it is not the API's.
func (b *backend) refusalResult(ctx context.Context, err error) (json.RawMessage, error) {
	text, reason, ok := findRefusal(err)
	if !ok {
		if _, isRPC := errors.AsType[*serve.RPCError](err); !isRPC && ctx.Err() == nil {
			b.h.log.ErrorContext(ctx, "tool failed", "error", err)
		}
		return nil, err
	}
	texts := []textContent{{"text", text}}
	if p, ok := errors.AsType[*client.Problem](err); ok { // the API's sentences contain names that strangers may have given
		detail, err := encodeJSON(refusalDetail{Untrusted: untrustedDetail{p.Error()}})
		if err != nil {
			return nil, err
		}
		texts[0].Text += ` The next text has the reason, in a member named "untrusted".`
		texts = append(texts, textContent{"text", string(detail)})
	}
	return encodeJSON(resultBody{Content: texts, IsError: true, Meta: map[string]refusalReason{reasonMember: reason}})
}

// refusalDetail is the API's text of a refusal.
type refusalDetail struct {
	Untrusted untrustedDetail `json:"untrusted"`
}

type untrustedDetail struct {
	Detail string `json:"detail"`
}

func findRefusal(err error) (text string, reason refusalReason, ok bool) {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		code := p.Code
		if code == "" {
			code = p.Type[strings.LastIndexByte(p.Type, '/')+1:]
		}
		return refusalText(code), refusalReason{Code: code, Status: p.Status, ConnectURL: p.ConnectURL, RetryAfter: int(math.Ceil(p.RetryAfter.Seconds()))}, true
	}
	if u, ok := errors.AsType[*confirmationError](err); ok {
		return u.text, refusalReason{Code: u.code, ConfirmURL: u.page}, true
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind != fault.Internal {
		d := respond.Document(f)
		return d.Detail, refusalReason{Code: d.Type[strings.LastIndexByte(d.Type, '/')+1:], Status: d.Status}, true
	}
	return "", refusalReason{}, false
}

// refusalText is a refusal in our own words, with a code of the API.
func refusalText(code string) string {
	if !isCode(code) {
		code = "refused"
	}
	return "Refused: " + code + "."
}

// isCode reports whether a text is a code and not a sentence.
func isCode(text string) bool {
	return text != "" && len(text) <= 64 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
