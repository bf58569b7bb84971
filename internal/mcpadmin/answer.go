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

// reasonMember is where a refusal's reason stands, for programs; the gateway has it there, too.
const reasonMember = "patchbay/reason"

// reason is why a tool did not do what it was to.
type reason struct {
	Code       string `json:"code"`
	Status     int    `json:"status,omitempty"` // of HTTP, as the API has it
	ConnectURL string `json:"connect_url,omitempty"`
	ConfirmURL string `json:"confirm_url,omitempty"` // where a person does it
	RetryAfter int    `json:"retry_after_s,omitempty"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type result struct {
	Content    []content         `json:"content"`
	Structured json.RawMessage   `json:"structuredContent,omitempty"`
	IsError    bool              `json:"isError,omitempty"`
	Meta       map[string]reason `json:"_meta,omitempty"`
}

// done is the result of a tool: a sentence, and the whole, which stands there as text once more for clients that read nothing else.
func done(o outcome) (json.RawMessage, error) {
	whole, err := encoded(o.whole)
	if err != nil {
		return nil, err
	}
	return encoded(result{Content: []content{{"text", o.says}, {"text", string(whole)}}, Structured: whole})
}

// encoded is a value as JSON, without the escapes for HTML.
func encoded(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}

// refused is what a tool ended with, for the model to read; or an error of the protocol, where it is none of the API's.
func (b *backend) refused(ctx context.Context, err error) (json.RawMessage, error) {
	says, why, ok := refusalOf(err)
	if !ok {
		if _, isRPC := errors.AsType[*serve.RPCError](err); !isRPC && ctx.Err() == nil {
			b.h.log.ErrorContext(ctx, "tool failed", "error", err)
		}
		return nil, err
	}
	texts := []content{{"text", says}}
	if p, ok := errors.AsType[*client.Problem](err); ok { // its sentences name connectors and agents, which strangers may have named
		detail, err := encoded(detailed{Untrusted: detailWords{p.Error()}})
		if err != nil {
			return nil, err
		}
		texts[0].Text += ` The next text says why, in a member named "untrusted".`
		texts = append(texts, content{"text", string(detail)})
	}
	return encoded(result{Content: texts, IsError: true, Meta: map[string]reason{reasonMember: why}})
}

// detailed is what the API says of a refusal.
type detailed struct {
	Untrusted detailWords `json:"untrusted"`
}

type detailWords struct {
	Detail string `json:"detail"`
}

func refusalOf(err error) (says string, why reason, ok bool) {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		code := p.Code
		if code == "" {
			code = p.Type[strings.LastIndexByte(p.Type, '/')+1:]
		}
		return refusedAs(code), reason{Code: code, Status: p.Status, ConnectURL: p.ConnectURL, RetryAfter: int(math.Ceil(p.RetryAfter.Seconds()))}, true
	}
	if u, ok := errors.AsType[*unconfirmed](err); ok {
		return u.says, reason{Code: u.code, ConfirmURL: u.page}, true
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind != fault.Internal {
		d := respond.Document(f)
		return d.Detail, reason{Code: d.Type[strings.LastIndexByte(d.Type, '/')+1:], Status: d.Status}, true
	}
	return "", reason{}, false
}

// refusedAs is a refusal in words of ours. The code is one of the API's.
func refusedAs(code string) string {
	if !isCode(code) {
		code = "refused"
	}
	return "This was refused: " + code + "."
}

// isCode tells whether a text is a code and no sentence.
func isCode(text string) bool {
	return text != "" && len(text) <= 64 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
