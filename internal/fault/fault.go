package fault

import (
	"errors"
	"fmt"
)

// Kind is a class of failure. The doors know one HTTP status for each.
type Kind int

// The kinds, with the HTTP status that package respond gives them.
const (
	Internal        Kind = iota // 500: our own mistake; the sentence is generic
	Malformed                   // 400: the request cannot be read
	Unauthenticated             // 401: no caller is established
	Denied                      // 403: the caller is known and may not
	NotFound                    // 404: no such thing in this tenant
	Conflict                    // 409: true elsewhere, not now
	TooLarge                    // 413
	Invalid                     // 422: read, and refused; Fields say where
	RateLimited                 // 429
	Upstream                    // 502: the remote server failed us
	Unavailable                 // 503: we cannot serve now
	BadMethod                   // 405: the thing is there, and not for this method
)

var kindNames = [...]string{
	"internal", "malformed", "unauthenticated", "denied", "not found", "conflict",
	"too large", "invalid", "rate limited", "upstream", "unavailable", "method not allowed",
}

// String names the kind for logs.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", int(k))
	}
	return kindNames[k]
}

// Field says which input is wrong. Location is a dotted path in the caller's document ("auth.token"), Message a
// sentence.
type Field struct {
	Location string
	Message  string
}

// Remote says where a conversation with a remote server ended.
type Remote struct {
	Phase      string // connect, discover, initialize, initialized, list, auth or close
	HTTPStatus int    // 0: no answer
	RPCCode    int    // 0: no JSON-RPC error
	Retryable  bool
}

// Error is a failure that may be shown.
type Error struct {
	Kind       Kind
	Type       string  // last segment of the problem type, as "sync-running"; empty: the kind's own
	Code       string  // machine-readable reason, as "timeout"; empty where the type says enough
	Message    string  // one sentence, safe to show
	Fields     []Field // for Invalid
	Remote     *Remote // for Upstream
	RetryAfter int     // seconds; 0: not said
	ConnectURL string  // where a person mends a missing credential; empty: nowhere
	Err        error   // the cause, for the log only
}

// Error is the sentence and the cause, for logs.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes a fault with a sentence. The format's verbs must hold nothing secret and no remote text.
func Errorf(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes a fault with a sentence and its cause.
func Wrap(k Kind, cause error, message string) *Error {
	return &Error{Kind: k, Message: message, Err: cause}
}

// InvalidFields makes an Invalid fault of the fields; nil when there are none.
func InvalidFields(fields ...Field) error {
	if len(fields) == 0 {
		return nil
	}
	msg := fields[0].Message
	if len(fields) > 1 {
		msg = fmt.Sprintf("%d fields need attention.", len(fields))
	}
	return &Error{Kind: Invalid, Message: msg, Fields: fields}
}

// WithType sets the last segment of the problem type and returns the fault.
func (e *Error) WithType(t string) *Error {
	e.Type = t
	return e
}

// As returns the fault in err's chain, or an Internal one around err that shows nothing of it. As(nil) is nil.
func As(err error) *Error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Error](err); ok {
		return f
	}
	return &Error{Kind: Internal, Message: "Something went wrong on our side.", Err: err}
}

// Is tells whether err is a fault of kind k.
func Is(err error, k Kind) bool {
	f, ok := errors.AsType[*Error](err)
	return ok && f.Kind == k
}
