package fault

import (
	"errors"
	"fmt"
)

// Kind is a class of failure with one HTTP status.
type Kind int

// The kinds, with the HTTP status of package respond.
const (
	Internal        Kind = iota // 500: an internal error; the sentence is generic
	Malformed                   // 400: the request cannot be read
	Unauthenticated             // 401: the caller is not authenticated
	Denied                      // 403: the caller lacks the permission
	NotFound                    // 404: no such thing in this tenant
	Conflict                    // 409: not possible in the current state
	TooLarge                    // 413
	Invalid                     // 422: parsed and refused; Fields has the errors
	RateLimited                 // 429
	Upstream                    // 502: the remote server failed
	Unavailable                 // 503: Patchbay cannot serve now
	BadMethod                   // 405: the path exists, but not for this method
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

// Field is an error of one input field. Location is a dotted path in the caller's document ("auth.token"),
// Message a sentence.
type Field struct {
	Location string
	Message  string
}

// Remote is the phase at which a request to a remote server failed.
type Remote struct {
	Phase      string // connect, discover, initialize, initialized, list, auth or close
	HTTPStatus int    // 0: no response
	RPCCode    int    // 0: no JSON-RPC error
	Retryable  bool
	Said       string // redacted text of the server, for admins; never in Error or the log
	ExitStatus *int   // of a program that ended; nil: none
}

// Error is a failure that may be shown.
type Error struct {
	Kind       Kind
	Type       string  // last segment of the problem type, as "sync-running"; empty: the kind's own
	Code       string  // machine-readable reason, as "timeout"; empty where the type says enough
	Message    string  // one sentence, safe to show
	Fields     []Field // for Invalid
	Remote     *Remote // for Upstream
	RetryAfter int     // seconds; 0: not known
	ConnectURL string  // page where a person connects a missing account; empty: none
	Err        error   // the cause, for the log only
}

// Error returns the sentence and the cause, for logs.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns a fault with a sentence. The arguments must be neither secret nor remote text.
func Errorf(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns a fault with a sentence and its cause.
func Wrap(k Kind, cause error, message string) *Error {
	return &Error{Kind: k, Message: message, Err: cause}
}

// InvalidFields returns an Invalid fault with the fields; nil if there are none.
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

// As returns the fault in err's chain, or an Internal one with err as its hidden cause. As(nil) is nil.
func As(err error) *Error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Error](err); ok {
		return f
	}
	return &Error{Kind: Internal, Message: "Something went wrong on our side.", Err: err}
}

// Is reports whether err is a fault of kind k.
func Is(err error, k Kind) bool {
	f, ok := errors.AsType[*Error](err)
	return ok && f.Kind == k
}
