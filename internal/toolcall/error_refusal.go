package toolcall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fasthttp/contexts"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// explainer turns errors into refusals for the model.
type explainer struct {
	o *Options
}

// explainError turns an error into a refusal with one sentence. The server's JSON-RPC error to the call stays
// as it is; one to the handshake does not, because a client could read it as "no such method" of Patchbay. A
// refusal is returned unchanged.
func (e *explainer) explainError(ctx context.Context, v *agentview.View, connector *agentview.ConnectorView, err error) error {
	if ctxRefusal := explainContext(ctx, connector.Connector); ctxRefusal != nil {
		ctxRefusal.Err = errors.Join(err, contexts.Cause(ctx))
		return ctxRefusal
	}
	if refusal, ok := errors.AsType[*RefusalError](err); ok {
		return refusal
	}
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return &RefusalError{Code: CodeUpstream, Sentence: blocked.Error(), Err: err}
	}
	if proxyErr, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		return &RefusalError{Code: CodeUpstream, Sentence: proxyErr.Why, Err: err}
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return e.explainFault(ctx, v, connector, f, err)
	}
	failure, ok := errors.AsType[*mcp.Error](err)
	switch {
	case !ok:
		return &RefusalError{Code: CodeUnavailable, Sentence: "Something went wrong on our side.", Err: err}
	case failure.RPC != nil && failure.Reason == mcp.ReasonRPC && !isHandshake(failure.Phase):
		return failure
	case failure.Reason == mcp.ReasonUnauthorized:
		return e.explainUnauthorized(ctx, v, connector, failure)
	default:
		return &RefusalError{Code: toCode(failure), Sentence: errorSentence(failure, connector.Connector), RetryAfter: failure.RetryAfter, Err: err}
	}
}

// isHandshake reports whether the phase precedes the request itself.
func isHandshake(p mcp.Phase) bool {
	return p == mcp.PhaseConnect || p == mcp.PhaseDiscover || p == mcp.PhaseInitialize || p == mcp.PhaseInitialized
}

// explainContext is the refusal after the context ended: by client, person, timeout or shutdown; nil: it
// has not.
func explainContext(ctx context.Context, c connectors.Connector) *RefusalError {
	if ctx.Err() == nil {
		return nil
	}
	switch cause := contexts.Cause(ctx); {
	case errors.Is(cause, errTimeout), errors.Is(cause, context.DeadlineExceeded):
		return timeoutRefusal(c)
	case errors.Is(cause, errCancelled):
		return &RefusalError{Code: CodeCancelled, Sentence: "Someone cancelled this call."}
	case errors.Is(cause, errStopped):
		return &RefusalError{Code: CodeUnavailable, Sentence: "Patchbay stopped during this call. The tool may have run."}
	default:
		return &RefusalError{Code: CodeCancelled, Sentence: "The client cancelled this call."}
	}
}

func timeoutRefusal(c connectors.Connector) *RefusalError {
	return &RefusalError{Code: CodeTimeout, Sentence: fmt.Sprintf(
		"%q didn't respond within %s, so Patchbay cancelled the call. The tool may have run.", c.Name, formatTimeout(c.Timeout))}
}

func circuitOpenRefusal(name string, wait time.Duration) *RefusalError {
	wait = max(wait, time.Second)
	return &RefusalError{Code: CodeCircuitOpen, RetryAfter: wait, Sentence: fmt.Sprintf(
		"%q keeps failing, so calls are paused. Try again in %s.", name, formatDuration(wait))}
}

// explainFault explains a fault in the chain of err.
func (e *explainer) explainFault(ctx context.Context, v *agentview.View, connector *agentview.ConnectorView, f *fault.Error, err error) error {
	switch {
	case f.Type == "credential-required":
		refusal := e.explainMissing(ctx, v, connector, f)
		refusal.Err = err
		return refusal
	case f.Type == credentials.TypeManagedAccount:
		return &RefusalError{Code: CodeNotGranted, Sentence: f.Message, Err: f}
	case f.Type == store.TypeAccountRequired: // connecting one does not help
		return &RefusalError{Code: CodeNeedsAuthorization, Sentence: f.Message, Err: err}
	case f.Kind == fault.Unavailable, f.Kind == fault.Conflict, f.Kind == fault.Upstream, f.Kind == fault.RateLimited:
		code := CodeUnavailable
		if f.Kind == fault.Upstream {
			code = CodeUpstream
		}
		return &RefusalError{Code: code, Sentence: f.Message, RetryAfter: time.Duration(f.RetryAfter) * time.Second, Err: f}
	default:
		return &RefusalError{Code: CodeUnavailable, Sentence: "Something went wrong on our side.", Err: f}
	}
}

func (e *explainer) explainMissing(ctx context.Context, v *agentview.View, connector *agentview.ConnectorView, f *fault.Error) *RefusalError {
	refusal := &RefusalError{Code: CodeNeedsAuthorization, Sentence: f.Message, Err: f}
	if f.Message == fault.As(credentials.NewMissingError(connector.Connector, &v.Agent.ID)).Message {
		refusal.Code = CodeCredentialRequired
	}
	e.addConnectURL(ctx, v, connector, refusal)
	return refusal
}

func (e *explainer) explainUnauthorized(ctx context.Context, v *agentview.View, r *agentview.ConnectorView, failure *mcp.Error) error {
	connector := r.Connector
	refusal := &RefusalError{Code: CodeNeedsAuthorization, Err: failure}
	switch {
	case failure.HTTPStatus == http.StatusForbidden:
		refusal.Code = CodeUpstream
		refusal.Sentence = fmt.Sprintf("%q refused access (403). Check the credential's permissions.", connector.Name)
	case connector.Auth.Type == connectors.AuthNone:
		refusal.Code = CodeCredentialRequired
		refusal.Sentence = fmt.Sprintf("%q needs a credential (401). An admin can set up its authentication.", connector.Name)
	case connector.Auth.Type == connectors.AuthOAuth2:
		refusal.Sentence = fmt.Sprintf("%q refused the connected account (401). Reconnect it.", connector.Name)
		e.addConnectURL(ctx, v, r, refusal)
	default:
		refusal.Sentence = fmt.Sprintf("%q refused the credential (401). Set a new one on the Credentials page.", connector.Name)
		e.addConnectURL(ctx, v, r, refusal)
	}
	return refusal
}

func toCode(e *mcp.Error) Code {
	switch e.Reason {
	case mcp.ReasonTimeout:
		return CodeTimeout
	case mcp.ReasonMemoryLimit:
		return CodeUnavailable
	default:
		return CodeUpstream
	}
}

// errorSentence describes a server's failure, without text of the server.
func errorSentence(e *mcp.Error, c connectors.Connector) string {
	format := func(sentence string) string { return fmt.Sprintf(sentence, c.Name) }
	if e.Interrupted() {
		return format("The connection to %q broke before it responded. The tool may have run.")
	}
	switch e.Reason {
	case mcp.ReasonTimeout:
		if e.Phase == mcp.PhaseConnect {
			return format("%q didn't accept a connection in time. Try again later.")
		}
		return timeoutRefusal(c).Sentence
	case mcp.ReasonUnreachable:
		if e.Phase == mcp.PhaseConnect || !e.Retryable {
			return format("%q can't be reached. Try again later.")
		}
		return format("The connection to %q broke before it responded. The tool may have run.")
	case mcp.ReasonTLS:
		return format("TLS to %q failed. An admin can check its URL and certificate.")
	case mcp.ReasonHTTPStatus:
		return statusSentence(e, c.Name)
	case mcp.ReasonTooLarge:
		return format("%q sent too much data.")
	case mcp.ReasonRedirect:
		return format("%q redirects to another URL. An admin can update the connector's URL.")
	case mcp.ReasonInput:
		return format("%q asked for input but got none.")
	case mcp.ReasonMemoryLimit:
		return format("%q sent a long response, and Patchbay had no memory left for it. The tool may have run: check before repeating the call.")
	case mcp.ReasonUnsupportedVersion:
		return format("%q speaks an unsupported MCP version.")
	case mcp.ReasonRPC:
		return rpcSentence(e)
	case mcp.ReasonProtocol:
		if c.Transport == connectors.TransportStdio && strings.HasPrefix(e.Detail, "ended before its reply") {
			return fmt.Sprintf("The program of %q %s. Its standard error is in Patchbay's debug log.", c.Name, e.Detail)
		}
		return format("%q returned an invalid MCP response. Its log may say why.")
	default:
		return format("%q returned an invalid MCP response. Its log may say why.")
	}
}

func statusSentence(e *mcp.Error, server string) string {
	switch {
	case e.SessionLost():
		return fmt.Sprintf("%q lost the session. The tool may have run; the next call opens a new session.", server)
	case e.HTTPStatus == http.StatusTooManyRequests, e.HTTPStatus == http.StatusServiceUnavailable && e.RetryAfter > 0:
		if e.RetryAfter >= time.Second {
			return fmt.Sprintf("%q asked Patchbay to wait (%d). Try again in %s.", server, e.HTTPStatus, formatDuration(e.RetryAfter))
		}
		return fmt.Sprintf("%q asked Patchbay to wait (%d). Try again later.", server, e.HTTPStatus)
	case e.HTTPStatus >= http.StatusInternalServerError:
		return fmt.Sprintf("%q answered with HTTP %d, a problem on its side. Try again later.", server, e.HTTPStatus)
	default:
		return fmt.Sprintf("%q answered with HTTP %d.", server, e.HTTPStatus)
	}
}

func rpcSentence(e *mcp.Error) string {
	if e.RPCCode == 0 {
		return "The server refused the request."
	}
	return fmt.Sprintf("The server refused the request with JSON-RPC error %d.", e.RPCCode)
}

// formatTimeout is formatDuration with milliseconds below one second.
func formatTimeout(d time.Duration) string {
	switch ms := d.Milliseconds(); {
	case d >= time.Second:
		return formatDuration(d)
	case ms == 1:
		return "1 millisecond"
	default:
		return fmt.Sprintf("%d milliseconds", ms)
	}
}

func formatDuration(d time.Duration) string {
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
