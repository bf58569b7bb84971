package oauth

import (
	"fmt"
	"time"
)

// Step is a step of the protocol.
type Step string

// The steps, in their order.
const (
	StepResource          Step = "protected_resource"   // RFC 9728
	StepServer            Step = "authorization_server" // RFC 8414, OpenID Connect Discovery
	StepRegister          Step = "register"             // RFC 7591
	StepAuthorize         Step = "authorize"            // the URL for the browser
	StepCallback          Step = "callback"             // parameters of the callback
	StepExchange          Step = "exchange"             // code → token
	StepRefresh           Step = "refresh"              // refresh token → token
	StepClientCredentials Step = "client_credentials"   // client → token
	StepIdentity          Step = "identity"             // token of a sign-in → identity assertion
	StepAssertion         Step = "assertion"            // JWT → token
	StepTokenExchange     Step = "token_exchange"       // subject's assertion → token
	StepRevoke            Step = "revoke"               // RFC 7009
	StepUserinfo          Step = "userinfo"             // OpenID Connect Core section 5.3
)

// Kind is a class of failures with the same reaction.
type Kind string

// The kinds.
const (
	// KindDead: invalid_grant. This code or refresh token will never work again.
	KindDead Kind = "dead"
	// KindClient: invalid_client, unauthorized_client. Register anew, or ask for another client id.
	KindClient Kind = "client"
	// KindScope: invalid_scope. Ask for less, see NarrowScopes.
	KindScope Kind = "scope"
	// KindDenied: a person said no, or did not sign in.
	KindDenied Kind = "denied"
	// KindTemporary: the request had no effect and may work later: no connection, 429, 503. RetryAfter may be set.
	KindTemporary Kind = "temporary"
	// KindUnknownOutcome: the request left, and its effect is unknown: time-out, reset, cut answer, 5xx. A refresh token
	// that was sent may have been rotated.
	KindUnknownOutcome Kind = "unknown_outcome"
	// KindRejected: the server understood and refuses, and asking again changes nothing: invalid_request, invalid_target, …
	KindRejected Kind = "rejected"
	// KindProtocol: the answer is not OAuth: HTML, a redirect, no token in it, more than 1 MiB.
	KindProtocol Kind = "protocol"
	// KindRefused: our own rules forbid to go on: a URL, an issuer, a resource, missing PKCE.
	KindRefused Kind = "refused"
	// KindNeedsClientID: there is no way to register; an admin has to enter a client id.
	KindNeedsClientID Kind = "needs_client_id"
)

// Error is a failed step. Only Response has remote text: Code is defined by an RFC, Detail has our words and checked
// facts such as an issuer's URL, and Err, for the log, never has a body or a query.
type Error struct {
	Step       Step
	Kind       Kind
	Code       string        // as "invalid_grant"; empty: none, or unknown
	HTTPStatus int           // 0: no response
	RetryAfter time.Duration // from the server; 0: none
	Detail     string        // safe to show, as "answered with HTML"; may be empty
	Err        error

	// Response is the beginning of the server's response, of at most 4 KiB; empty: none, or it may hold a token. It can
	// repeat what was sent: redact it before anything else.
	Response    Secret
	ResponseCut bool // Response lacks the end
}

// Error names step, kind and facts, for logs.
func (e *Error) Error() string {
	s := fmt.Sprintf("oauth %s: %s", e.Step, e.Kind)
	if e.Code != "" {
		s += " (" + e.Code + ")"
	}
	if e.HTTPStatus != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.HTTPStatus)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func newRefusal(step Step, format string, args ...any) *Error {
	return &Error{Step: step, Kind: KindRefused, Detail: fmt.Sprintf(format, args...)}
}

// codeKinds has every error code that an Error repeats, with its kind. Other codes count as remote text.
// Sources: RFC 6749 sections 4.1.2.1 and 5.2, RFC 7009 section 2.2.1, RFC 7591 section 3.2.2, RFC 8628 section
// 3.5, RFC 8707 section 2, RFC 9449 section 5, OpenID Connect Core section 3.1.2.6.
var codeKinds = map[string]Kind{
	"invalid_grant":                 KindDead,
	"invalid_client":                KindClient,
	"unauthorized_client":           KindClient,
	"invalid_scope":                 KindScope,
	"access_denied":                 KindDenied,
	"login_required":                KindDenied,
	"consent_required":              KindDenied,
	"interaction_required":          KindDenied,
	"account_selection_required":    KindDenied,
	"server_error":                  KindTemporary,
	"temporarily_unavailable":       KindTemporary,
	"slow_down":                     KindTemporary,
	"invalid_request":               KindRejected,
	"invalid_target":                KindRejected,
	"invalid_redirect_uri":          KindRejected,
	"invalid_client_metadata":       KindRejected,
	"invalid_software_statement":    KindRejected,
	"unapproved_software_statement": KindRejected,
	"unsupported_grant_type":        KindRejected,
	"unsupported_response_type":     KindRejected,
	"unsupported_token_type":        KindRejected,
	"invalid_dpop_proof":            KindRejected,
	"use_dpop_nonce":                KindRejected,
}

// codeAliases are codes of well-known servers in place of defined ones.
var codeAliases = map[string]string{
	"bad_verification_code":        "invalid_grant", // GitHub
	"bad_refresh_token":            "invalid_grant",
	"incorrect_client_credentials": "invalid_client",
	"redirect_uri_mismatch":        "invalid_request",
	"invalid_code":                 "invalid_grant", // Slack
	"code_already_used":            "invalid_grant",
	"invalid_refresh_token":        "invalid_grant",
	"invalid_client_id":            "invalid_client",
	"bad_client_secret":            "invalid_client",
	"ratelimited":                  "slow_down",
}

// knownCode returns the defined code and its kind; empty and the kind of a refusal for others.
func knownCode(code string) (string, Kind) {
	if standard, ok := codeAliases[code]; ok {
		code = standard
	}
	if kind, ok := codeKinds[code]; ok {
		return code, kind
	}
	return "", KindRejected
}
