package toolsync

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
)

// Codes of failed syncs beside those of [mcp.Reason].
const (
	codeBlocked    = "blocked"             // by the egress rules
	codeProxy      = "egress_proxy"        // the operator's proxy failed or refused
	codeCredential = "credential_required" // no usable credential
	codeInternal   = "internal"
	codeDisabled   = "disabled"
)

// CodeInterrupted is the code of a run that ended with its process. The store writes the same code.
const CodeInterrupted = "interrupted"

// CodeStopping is the code of a sync that did not begin because this process stops.
const CodeStopping = "stopping"

// errStopped is the cancellation cause of runs that Drain aborts.
var errStopped = errors.New("the process stops")

// explainError turns every failure of a server into a code of the public API and a sentence that says what to
// do. The sentence holds no text of the server. credentialSent changes the advice after a 401 or 403.
func explainError(err error, c connectors.Connector, credentialSent bool) *fault.Error {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return upstreamFault(codeBlocked, blocked.Error(), &fault.Remote{Phase: string(mcp.PhaseConnect)}, err)
	}
	if failed, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		return upstreamFault(codeProxy, failed.Why, &fault.Remote{Phase: string(mcp.PhaseConnect), Retryable: !failed.Forbidden()}, err)
	}
	e, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		return fault.As(err)
	}
	f := upstreamFault(string(e.Reason), failureSentence(e, c, credentialSent), &fault.Remote{
		Phase: string(e.Phase), HTTPStatus: e.HTTPStatus, RPCCode: e.RPCCode, Retryable: e.Retryable,
	}, err)
	f.RetryAfter = int(e.RetryAfter / time.Second)
	return f
}

func upstreamFault(code, message string, remote *fault.Remote, cause error) *fault.Error {
	return &fault.Error{Kind: fault.Upstream, Code: code, Message: message, Remote: remote, Err: cause}
}

func failureSentence(e *mcp.Error, c connectors.Connector, credentialSent bool) string {
	if c.Transport == connectors.TransportStdio {
		return programSentence(e, c)
	}
	const checkURL = " Check that the URL is its MCP endpoint."
	switch e.Reason {
	case mcp.ReasonUnreachable:
		return unreachableSentence(e)
	case mcp.ReasonTimeout:
		return timeoutSentence(e, c)
	case mcp.ReasonTLS:
		return "TLS to the server failed" + detailSuffix(e.Detail) + ". Check the URL and the server's certificate."
	case mcp.ReasonUnauthorized:
		return unauthorizedSentence(e.HTTPStatus, c, credentialSent)
	case mcp.ReasonHTTPStatus:
		return statusSentence(e)
	case mcp.ReasonProtocol:
		if e.Detail == "" {
			return "The server's response isn't MCP." + checkURL
		}
		return "The server " + e.Detail + "." + checkURL
	case mcp.ReasonUnsupportedVersion:
		return "The server speaks an unsupported MCP version" + detailSuffix(e.Detail) + ". Update it or Patchbay."
	case mcp.ReasonTooLarge:
		return "The server " + orElse(e.Detail, "exceeded Patchbay's size limit") + ". Ask its operator for a smaller list."
	case mcp.ReasonRedirect:
		return "The server " + orElse(e.Detail, "redirects elsewhere") + ". If that is right, update the connector's URL."
	case mcp.ReasonRPC:
		return refusalSentence(e)
	default:
		return "The connection to the server failed. Try again later."
	}
}

// unreachableSentence separates a failed connect from a connection that broke.
func unreachableSentence(e *mcp.Error) string {
	if e.Phase == mcp.PhaseConnect || !e.Retryable {
		return "The server can't be reached. Check the URL and that the server is running."
	}
	return "The connection broke before the server answered. Try again; if it recurs, check the URL and the server's log."
}

func refusalSentence(e *mcp.Error) string {
	if e.RPCCode == 0 { // the error had no code, or not a number
		return fmt.Sprintf("The server refused %s. Its log may say why.", requestName(e.Phase))
	}
	return fmt.Sprintf("The server refused %s with JSON-RPC error %d. Its log may say why.", requestName(e.Phase), e.RPCCode)
}

func timeoutSentence(e *mcp.Error, c connectors.Connector) string {
	if e.Phase == mcp.PhaseConnect {
		return "The server didn't accept a connection in time. Check the URL and that the server is running."
	}
	return fmt.Sprintf("The server didn't answer within %s. Try again, or increase the connector's timeout.", formatDuration(c.Timeout))
}

func unauthorizedSentence(status int, c connectors.Connector, credentialSent bool) string {
	switch machine := c.Auth.Type == connectors.AuthClientCredentials || c.Auth.Type == connectors.AuthPrivateKeyJWT; {
	case status == http.StatusForbidden && credentialSent:
		return "The server refused access (403). Check the credential's permissions."
	case credentialSent && machine:
		return fmt.Sprintf("The server refused the authorization server's token (%d). Check this client's permissions, and the connector's scopes and resource.", status)
	case credentialSent && c.Auth.Type == connectors.AuthOAuth2:
		return fmt.Sprintf("The server refused the connected account (%d). Reconnect it on the Credentials page.", status)
	case credentialSent && isTrial(c):
		return fmt.Sprintf("The server refused the credential (%d). Enter another.", status)
	case credentialSent:
		return fmt.Sprintf("The server refused the credential (%d). Set a new one on the Credentials page.", status)
	case c.Auth.Type == connectors.AuthNone && status == http.StatusForbidden && isTrial(c):
		return "The server refused access (403). It may need a credential: choose a type under Authentication. Or a firewall blocks Patchbay."
	case c.Auth.Type == connectors.AuthNone && isTrial(c):
		return fmt.Sprintf("The server needs a credential (%d). Choose a type under Authentication.", status)
	case c.Auth.Type == connectors.AuthNone && status == http.StatusForbidden:
		return "The server refused access (403). It may need a credential: choose an authentication in the connector's settings. Or a firewall blocks Patchbay."
	case c.Auth.Type == connectors.AuthNone:
		return fmt.Sprintf("The server needs a credential (%d). Choose an authentication in the connector's settings.", status)
	case c.Auth.Type == connectors.AuthOAuth2:
		return "The server needs an account. Save the connector, then press Connect."
	case isTrial(c):
		return fmt.Sprintf("The server needs a credential (%d). Enter one.", status)
	default:
		return fmt.Sprintf("The server needs a credential (%d). Set one on the Credentials page.", status)
	}
}

// isTrial reports whether the connector is not stored, so that it has no page.
func isTrial(c connectors.Connector) bool { return c.ID == connectors.ConnectorID{} }

func statusSentence(e *mcp.Error) string {
	switch status := e.HTTPStatus; {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && e.RetryAfter > 0:
		if e.RetryAfter >= time.Second {
			return fmt.Sprintf("The server asked Patchbay to wait (%d). Try again in %s.", status, formatDuration(e.RetryAfter))
		}
		return fmt.Sprintf("The server asked Patchbay to wait (%d). Try again later.", status)
	case status >= 500 && status != http.StatusNotImplemented: // file servers and others answer a POST with 501
		return fmt.Sprintf("The server answered with HTTP %d, a problem on its side. Try again later.", status)
	case status == http.StatusBadRequest || status == http.StatusNotAcceptable: // a server of MCP, most likely
		return fmt.Sprintf("The server refused the request with HTTP %d. Its log may say why.", status)
	default:
		return fmt.Sprintf("The server answered with HTTP %d. Check that the URL is its MCP endpoint.", status)
	}
}

func requestName(p mcp.Phase) string {
	switch p {
	case mcp.PhaseList:
		return "to list its tools"
	case mcp.PhaseInitialize, mcp.PhaseInitialized, mcp.PhaseDiscover:
		return "the handshake"
	default:
		return "a request"
	}
}

func detailSuffix(detail string) string {
	if detail == "" {
		return ""
	}
	return ": " + detail
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func formatDuration(d time.Duration) string {
	switch {
	case d == time.Second:
		return "1 second"
	case d < 2*time.Minute && d%time.Second == 0:
		return fmt.Sprintf("%d seconds", d/time.Second)
	case d < 2*time.Minute:
		return fmt.Sprintf("%.1f seconds", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	default:
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
}
