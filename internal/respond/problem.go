package respond

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"patchbay/internal/fault"
)

// ProblemMediaType is the media type of a problem document (RFC 9457).
const ProblemMediaType = "application/problem+json"

// ProblemDocument is a failure as a problem document of RFC 9457.
type ProblemDocument struct {
	Type       string    `json:"type" doc:"The error type, as a stable URI reference."`
	Title      string    `json:"title" doc:"The type as text."`
	Status     int       `json:"status" doc:"The HTTP status."`
	Detail     string    `json:"detail" doc:"What happened, in one sentence."`
	Code       string    `json:"code,omitempty" doc:"The reason, if more specific than the type, such as timeout."`
	Errors     []Field   `json:"errors,omitempty" doc:"Invalid fields."`
	Upstream   *Upstream `json:"upstream,omitempty" doc:"Where the request to the remote server failed."`
	ConnectURL string    `json:"connect_url,omitempty" doc:"The page where a person can fix the credential."`
}

// Field is one invalid field of a request.
type Field struct {
	Location string `json:"location" doc:"Dotted path in the request, such as auth.token."`
	Message  string `json:"message" doc:"The error."`
}

// Upstream is the phase at which a request to a remote server failed.
type Upstream struct {
	Phase      string `json:"phase" doc:"connect, discover, initialize, initialized, list, auth or close."`
	HTTPStatus *int   `json:"http_status" doc:"The server's status. Null without a response."`
	RPCCode    *int   `json:"rpc_code" doc:"JSON-RPC error code. Null if none."`
	Retryable  bool   `json:"retryable" doc:"Whether a retry may succeed."`
	Said       string `json:"said,omitempty" doc:"The server's text, redacted, at most 2048 bytes. Untrusted: show it as a quote."`
	ExitStatus *int   `json:"exit_status,omitempty" doc:"Exit status of a program."`
}

// Document is the problem document of a fault.
func Document(f *fault.Error) ProblemDocument {
	typ := problemType(f)
	doc := ProblemDocument{
		Type:       "/problems/" + typ,
		Title:      typeTitle(typ),
		Status:     Status(f.Kind),
		Detail:     f.Message,
		Code:       f.Code,
		Upstream:   ToUpstream(f.Remote),
		ConnectURL: f.ConnectURL,
	}
	for _, field := range f.Fields {
		doc.Errors = append(doc.Errors, Field(field))
	}
	return doc
}

// ToUpstream converts a fault's remote part; nil for nil.
func ToUpstream(r *fault.Remote) *Upstream {
	if r == nil {
		return nil
	}
	u := &Upstream{Phase: r.Phase, Retryable: r.Retryable, Said: r.Said, ExitStatus: r.ExitStatus}
	if r.HTTPStatus != 0 {
		u.HTTPStatus = &r.HTTPStatus
	}
	if r.RPCCode != 0 {
		u.RPCCode = &r.RPCCode
	}
	return u
}

// SetRetryAfter sets Retry-After if the fault has it.
func SetRetryAfter(h http.Header, f *fault.Error) {
	if f.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
}

// SetChallenge sets WWW-Authenticate for an unauthenticated request (RFC 6750 §3).
func SetChallenge(h http.Header, f *fault.Error, authorizationSent bool) {
	if f.Kind != fault.Unauthenticated {
		return
	}
	challenge := `Bearer realm="patchbay"`
	if authorizationSent {
		challenge += `, error="invalid_token"`
	}
	h.Set("WWW-Authenticate", challenge)
}

// Problem responds with a problem document.
func (p *Responder) Problem(w http.ResponseWriter, r *http.Request, err error) {
	doc := p.Prepare(w.Header(), r, err)
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(doc) // cannot fail: strings, numbers and booleans
	w.Header().Set("Content-Type", ProblemMediaType)
	w.WriteHeader(doc.Status)
	_, _ = w.Write(body.Bytes()) // a write error means that the caller is gone
}

func problemType(f *fault.Error) string {
	if f.Type != "" {
		return f.Type
	}
	return strings.ReplaceAll(f.Kind.String(), " ", "-")
}

// typeTitle words a problem type: "sync-running" is "Sync running".
func typeTitle(typ string) string {
	words := strings.ReplaceAll(typ, "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
