package toolsync

import (
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
)

// phaseAuth is the part of a conversation in which we sign in.
const phaseAuth = "auth"

// signInReport is the report of a test whose sign-in failed before the server was asked. Another failure is ours.
func signInReport(err error, c connectors.Connector) (ProbeReport, error) {
	if failed, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		remote := &fault.Remote{Phase: phaseAuth, Retryable: !failed.Forbidden()}
		return ProbeReport{Error: upstream(codeProxy, failed.Why, remote, err)}, nil
	}
	if e, ok := errors.AsType[*oauth.Error](err); ok {
		temporary := e.Kind == oauth.KindTemporary || e.Kind == oauth.KindUnknownOutcome
		remote := &fault.Remote{Phase: phaseAuth, HTTPStatus: e.HTTPStatus, Retryable: temporary}
		return ProbeReport{Error: upstream(signInCode(e), signInSentence(e, c), remote, err)}, nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == credentials.CodeNotRenewed {
		remote := &fault.Remote{Phase: phaseAuth, Retryable: true}
		return ProbeReport{Error: upstream(string(mcp.ReasonUnreachable), f.Message, remote, err)}, nil
	}
	return ProbeReport{}, err
}

// signInCode is one of the codes of the public contract.
func signInCode(e *oauth.Error) string {
	switch e.Kind {
	case oauth.KindTemporary, oauth.KindUnknownOutcome:
		switch {
		case e.HTTPStatus != 0:
			return string(mcp.ReasonHTTPStatus)
		case errors.Is(e, context.DeadlineExceeded):
			return string(mcp.ReasonTimeout)
		default:
			return string(mcp.ReasonUnreachable)
		}
	case oauth.KindProtocol:
		return string(mcp.ReasonProtocol)
	case oauth.KindRefused:
		return codeBlocked
	default:
		return string(mcp.ReasonUnauthorized)
	}
}

func signInSentence(e *oauth.Error, c connectors.Connector) string {
	switch {
	case e.Kind != oauth.KindClient && e.Kind != oauth.KindDead:
		return e.Sentence()
	case c.Auth.Type == connectors.AuthPrivateKeyJWT:
		return "The authorization server does not know this client or its key. Check the client id, the key and its algorithm."
	default:
		return "The authorization server does not know this client or its secret. Check both."
	}
}
