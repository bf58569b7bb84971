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

// The codes of failed syncs that are no [mcp.Reason].
const (
	codeBlocked    = "blocked"             // by the egress rules
	codeProxy      = "egress_proxy"        // the operator's proxy failed, or refused
	codeCredential = "credential_required" // there is none to use
	codeInternal   = "internal"
	codeDisabled   = "disabled"
)

// CodeInterrupted is the reason of a run that was cut off by the end of its process. The store writes the same.
const CodeInterrupted = "interrupted"

// CodeStopping is the reason of a sync that did not begin because this process stops.
const CodeStopping = "stopping"

// errStopped is why a run ends early when the process stops.
var errStopped = errors.New("the process stops")

// explain turns every way in which a server can fail us into a code of the public contract and one sentence that says what
// to do. No sentence holds text of the remote side. sent: a credential went out.
func explain(err error, c connectors.Connector, sent bool) *fault.Error {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return upstream(codeBlocked, blocked.Error(), &fault.Remote{Phase: string(mcp.PhaseConnect)}, err)
	}
	if failed, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		return upstream(codeProxy, failed.Why, &fault.Remote{Phase: string(mcp.PhaseConnect), Retryable: !failed.Forbidden()}, err)
	}
	e, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		return fault.As(err)
	}
	f := upstream(string(e.Reason), sentence(e, c, sent), &fault.Remote{
		Phase: string(e.Phase), HTTPStatus: e.HTTPStatus, RPCCode: e.RPCCode, Retryable: e.Retryable,
	}, err)
	f.RetryAfter = int(e.RetryAfter / time.Second)
	return f
}

func upstream(code, message string, remote *fault.Remote, cause error) *fault.Error {
	return &fault.Error{Kind: fault.Upstream, Code: code, Message: message, Remote: remote, Err: cause}
}

func sentence(e *mcp.Error, c connectors.Connector, sent bool) string {
	if c.Transport == connectors.TransportStdio {
		return programSentence(e, c)
	}
	const checkURL = " Check that the URL is that of its MCP endpoint."
	switch e.Reason {
	case mcp.ReasonUnreachable:
		return unreachableSentence(e)
	case mcp.ReasonTimeout:
		return timeoutSentence(e, c)
	case mcp.ReasonTLS:
		return "No secure connection to the server came about" + because(e.Detail) + ". Check the URL and the server's certificate."
	case mcp.ReasonUnauthorized:
		return unauthorizedSentence(e.HTTPStatus, c, sent)
	case mcp.ReasonHTTPStatus:
		return statusSentence(e)
	case mcp.ReasonProtocol:
		if e.Detail == "" {
			return "The server's answer is not MCP." + checkURL
		}
		return "The server " + e.Detail + "." + checkURL
	case mcp.ReasonUnsupportedVersion:
		return "The server speaks a version of MCP that Patchbay does not know" + because(e.Detail) + ". Update the server, or Patchbay."
	case mcp.ReasonTooLarge:
		return "The server " + orElse(e.Detail, "sent more than Patchbay takes") + ". Ask its operator for a smaller list."
	case mcp.ReasonRedirect:
		return "The server " + orElse(e.Detail, "redirects elsewhere") + ". If that is the right server, set its URL on the connector."
	case mcp.ReasonRPC:
		return refusalSentence(e)
	default:
		return "The conversation with the server failed. Try again later."
	}
}

// unreachableSentence tells a server that is not there from one that was, and broke off.
func unreachableSentence(e *mcp.Error) string {
	if e.Phase == mcp.PhaseConnect || !e.Retryable {
		return "The server cannot be reached. Check the URL, and that the server is running."
	}
	return "The connection broke before the server's answer was there. Try again; if it breaks again, check the URL, and the server's log."
}

func refusalSentence(e *mcp.Error) string {
	if e.RPCCode == 0 { // it named none, or none that is a number
		return fmt.Sprintf("The server refused %s. Its log may say why.", request(e.Phase))
	}
	return fmt.Sprintf("The server refused %s with the JSON-RPC error %d. Its log may say why.", request(e.Phase), e.RPCCode)
}

func timeoutSentence(e *mcp.Error, c connectors.Connector) string {
	if e.Phase == mcp.PhaseConnect {
		return "The server did not take a connection in time. Check the URL, and that the server is running."
	}
	return fmt.Sprintf("The server did not answer within %s. Try again, or give the connector a longer timeout.", spoken(c.Timeout))
}

func unauthorizedSentence(status int, c connectors.Connector, sent bool) string {
	switch machine := c.Auth.Type == connectors.AuthClientCredentials || c.Auth.Type == connectors.AuthPrivateKeyJWT; {
	case status == http.StatusForbidden && sent:
		return "The server refused access (403). Check what the credential is allowed to do."
	case sent && machine:
		return fmt.Sprintf("The server refused the token that the authorization server gave (%d). Check what this client is allowed to do, and the connector's scopes and resource.", status)
	case sent && c.Auth.Type == connectors.AuthOAuth2:
		return fmt.Sprintf("The server refused the connected account (%d). Connect it again on the connector's Credentials page.", status)
	case sent:
		return fmt.Sprintf("The server refused the credential (%d). Set a new one on the connector's credentials page.", status)
	case c.Auth.Type == connectors.AuthNone && status == http.StatusForbidden:
		return "The server refused access (403). It may want a credential: choose an authentication in the connector's settings. Or a firewall before it keeps Patchbay out."
	case c.Auth.Type == connectors.AuthNone:
		return fmt.Sprintf("The server asks for a credential (%d). Choose an authentication in the connector's settings.", status)
	case c.Auth.Type == connectors.AuthOAuth2:
		return "The server asks for an account. Save the connector, then press Connect."
	default:
		return fmt.Sprintf("The server asks for a credential (%d). Set one on the connector's credentials page.", status)
	}
}

func statusSentence(e *mcp.Error) string {
	switch status := e.HTTPStatus; {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && e.RetryAfter > 0:
		if e.RetryAfter >= time.Second {
			return fmt.Sprintf("The server asks to be left alone for a while (%d). Try again in %s.", status, spoken(e.RetryAfter))
		}
		return fmt.Sprintf("The server asks to be left alone for a while (%d). Try again later.", status)
	case status >= 500 && status != http.StatusNotImplemented: // by which servers of files and others answer a POST
		return fmt.Sprintf("The server answered with HTTP status %d. It has a problem of its own; try again later.", status)
	default:
		return fmt.Sprintf("The server answered with HTTP status %d. Check that the URL is that of its MCP endpoint.", status)
	}
}

func request(p mcp.Phase) string {
	switch p {
	case mcp.PhaseList:
		return "to list its tools"
	case mcp.PhaseInitialize, mcp.PhaseInitialized, mcp.PhaseDiscover:
		return "the handshake"
	default:
		return "a request"
	}
}

func because(detail string) string {
	if detail == "" {
		return ""
	}
	return ": " + detail
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// spoken is a duration as a person says it.
func spoken(d time.Duration) string {
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
