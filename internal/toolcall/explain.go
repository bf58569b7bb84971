package toolcall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/lifetime"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
)

// explain turns every way in which a call can fail into a refusal with one sentence. A JSON-RPC error of the server stays what it is, where it
// answers the call: what a server says to our own greeting would tell a client that there is no such method here.
// Nothing is explained that is explained already.
func (c *Caller) explain(ctx context.Context, v *access.View, r *access.Reach, err error) error {
	if ended := ended(ctx, r.Connector); ended != nil {
		ended.Err = errors.Join(err, lifetime.Cause(ctx))
		return ended
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal
	}
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return &Refusal{Code: CodeUpstream, Sentence: blocked.Error(), Err: err}
	}
	if failed, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		return &Refusal{Code: CodeUpstream, Sentence: failed.Why, Err: err}
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return c.explainFault(ctx, v, r, f)
	}
	failure, ok := errors.AsType[*mcp.Error](err)
	switch {
	case !ok:
		return &Refusal{Code: CodeUnavailable, Sentence: "Something went wrong on our side.", Err: err}
	case failure.RPC != nil && failure.Reason == mcp.ReasonRPC && !opening(failure.Phase):
		return failure
	case failure.Reason == mcp.ReasonUnauthorized:
		return c.unauthorized(ctx, v, r, failure)
	default:
		return &Refusal{Code: codeOf(failure), Sentence: sentence(failure, r.Connector), RetryAfter: failure.RetryAfter, Err: err}
	}
}

// opening tells whether a part of the conversation comes before what was asked for.
func opening(p mcp.Phase) bool {
	return p == mcp.PhaseConnect || p == mcp.PhaseDiscover || p == mcp.PhaseInitialize || p == mcp.PhaseInitialized
}

// ended explains a call whose context ended: by its client, by a person, by time, or because the process stops; nil: it goes on.
func ended(ctx context.Context, c connectors.Connector) *Refusal {
	if ctx.Err() == nil {
		return nil
	}
	switch cause := lifetime.Cause(ctx); {
	case errors.Is(cause, errTimeout), errors.Is(cause, context.DeadlineExceeded):
		return late(c)
	case errors.Is(cause, errCancelled):
		return &Refusal{Code: CodeCancelled, Sentence: "A person cancelled this call."}
	case errors.Is(cause, errStopped):
		return &Refusal{Code: CodeUnavailable, Sentence: "Patchbay stopped during this call. Whether the tool ran is not known."}
	default:
		return &Refusal{Code: CodeCancelled, Sentence: "The client cancelled this call."}
	}
}

func late(c connectors.Connector) *Refusal {
	return &Refusal{Code: CodeTimeout, Sentence: fmt.Sprintf(
		"The server of %q did not answer within %s, and was told to stop. Whether the tool ran is not known.", c.Name, spoken(c.Timeout))}
}

func circuitOpen(name string, wait time.Duration) *Refusal {
	wait = max(wait, time.Second)
	return &Refusal{Code: CodeCircuitOpen, RetryAfter: wait, Sentence: fmt.Sprintf(
		"The server of %q failed several times in a row, and is left alone for a while. Try again in %s.", name, spoken(wait))}
}

// explainFault explains what credentials, the database and the pool say.
func (c *Caller) explainFault(ctx context.Context, v *access.View, r *access.Reach, f *fault.Error) error {
	switch {
	case f.Type == "credential-required":
		return c.missing(ctx, v, r, f)
	case f.Kind == fault.Unavailable, f.Kind == fault.Conflict, f.Kind == fault.Upstream, f.Kind == fault.RateLimited:
		code := CodeUnavailable
		if f.Kind == fault.Upstream {
			code = CodeUpstream
		}
		return &Refusal{Code: code, Sentence: f.Message, RetryAfter: time.Duration(f.RetryAfter) * time.Second, Err: f}
	default:
		return &Refusal{Code: CodeUnavailable, Sentence: "Something went wrong on our side.", Err: f}
	}
}

// missing explains a credential that is not there, or is dead.
func (c *Caller) missing(ctx context.Context, v *access.View, r *access.Reach, f *fault.Error) *Refusal {
	refusal := &Refusal{Code: CodeNeedsAuthorization, Sentence: f.Message, Err: f}
	if f.Message == fault.As(credentials.Missing(r.Connector, &v.Agent.ID)).Message {
		refusal.Code = CodeCredentialRequired
	}
	c.mend(ctx, v, r, refusal)
	return refusal
}

// unauthorized explains a 401 or 403 that nothing could be done about.
func (c *Caller) unauthorized(ctx context.Context, v *access.View, r *access.Reach, failure *mcp.Error) error {
	to := r.Connector
	refusal := &Refusal{Code: CodeNeedsAuthorization, Err: failure}
	switch {
	case failure.HTTPStatus == http.StatusForbidden:
		refusal.Code = CodeUpstream
		refusal.Sentence = fmt.Sprintf("The server of %q refused access (403). Check what the credential is allowed to do.", to.Name)
	case to.Auth.Type == connectors.AuthNone:
		refusal.Code = CodeCredentialRequired
		refusal.Sentence = fmt.Sprintf("The server of %q asks for a credential (401). An admin chooses an authentication in the connector's settings.", to.Name)
	case to.Auth.Type == connectors.AuthOAuth2:
		refusal.Sentence = fmt.Sprintf("The server of %q refused the connected account (401). Connect it again.", to.Name)
		c.mend(ctx, v, r, refusal)
	default:
		refusal.Sentence = fmt.Sprintf("The server of %q refused the credential (401). Set a new one on the connector's Credentials page.", to.Name)
		c.mend(ctx, v, r, refusal)
	}
	return refusal
}

func codeOf(e *mcp.Error) Code {
	switch e.Reason {
	case mcp.ReasonTimeout:
		return CodeTimeout
	case mcp.ReasonCrowded:
		return CodeUnavailable
	default:
		return CodeUpstream
	}
}

// sentence says what a server did wrong. It holds no text of the server.
func sentence(e *mcp.Error, c connectors.Connector) string {
	about := func(sentence string) string { return fmt.Sprintf(sentence, c.Name) }
	if e.BrokenOff() {
		return about("The server of %q broke off before its answer was there. Whether the tool ran is not known.")
	}
	switch e.Reason {
	case mcp.ReasonTimeout:
		if e.Phase == mcp.PhaseConnect {
			return about("The server of %q did not take a connection in time. Try again later.")
		}
		return late(c).Sentence
	case mcp.ReasonUnreachable:
		if e.Phase == mcp.PhaseConnect || !e.Retryable {
			return about("The server of %q cannot be reached. Try again later.")
		}
		return about("The server of %q broke off before its answer was there. Whether the tool ran is not known.")
	case mcp.ReasonTLS:
		return about("The server of %q cannot be reached over a secure connection. An admin checks its URL and certificate.")
	case mcp.ReasonHTTPStatus:
		return statusSentence(e, c.Name)
	case mcp.ReasonTooLarge:
		return about("The server of %q sent more than Patchbay takes.")
	case mcp.ReasonRedirect:
		return about("The server of %q redirects elsewhere. An admin sets its new URL on the connector.")
	case mcp.ReasonInput:
		return about("The server of %q asked for input, and the client gave none.")
	case mcp.ReasonCrowded:
		return about("The server of %q answered at length while too many long answers were on their way, and Patchbay had no room for it. The tool may have run: look before you call it again.")
	case mcp.ReasonUnsupportedVersion:
		return about("The server of %q speaks a version of MCP that Patchbay does not know.")
	case mcp.ReasonRPC:
		return rpcSentence(e)
	default:
		return about("The server of %q did not answer as MCP wants it. Its log may say why.")
	}
}

func statusSentence(e *mcp.Error, server string) string {
	switch {
	case e.SessionLost():
		return fmt.Sprintf("The server of %q did not know the session any more. Whether the tool ran is not known; the next call has a new session.", server)
	case e.HTTPStatus == http.StatusTooManyRequests, e.HTTPStatus == http.StatusServiceUnavailable && e.RetryAfter > 0:
		if e.RetryAfter >= time.Second {
			return fmt.Sprintf("The server of %q asks to be left alone for a while (%d). Try again in %s.", server, e.HTTPStatus, spoken(e.RetryAfter))
		}
		return fmt.Sprintf("The server of %q asks to be left alone for a while (%d). Try again later.", server, e.HTTPStatus)
	case e.HTTPStatus >= http.StatusInternalServerError:
		return fmt.Sprintf("The server of %q answered with HTTP status %d. It has a problem of its own; try again later.", server, e.HTTPStatus)
	default:
		return fmt.Sprintf("The server of %q answered with HTTP status %d.", server, e.HTTPStatus)
	}
}

func rpcSentence(e *mcp.Error) string {
	if e.RPCCode == 0 {
		return "The server refused the request."
	}
	return fmt.Sprintf("The server refused the request with the JSON-RPC error %d.", e.RPCCode)
}

// spoken is a duration as a person says it, in whole seconds.
func spoken(d time.Duration) string {
	seconds := int((d + time.Second - 1) / time.Second)
	switch {
	case seconds == 1:
		return "1 second"
	case seconds < 120:
		return fmt.Sprintf("%d seconds", seconds)
	case seconds > 2*60*60:
		return fmt.Sprintf("%d hours", (seconds+60*60-1)/(60*60))
	default:
		return fmt.Sprintf("%d minutes", (seconds+59)/60)
	}
}
