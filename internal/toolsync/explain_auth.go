package toolsync

import (
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
)

// phaseAuth is the part of a conversation in which we sign in.
const phaseAuth = "auth"

// signInFailure is what a test reports of a sign-in that failed before the server was asked; nil where err is none.
func signInFailure(err error, c connectors.Connector) *fault.Error {
	if e, ok := errors.AsType[*oauth.Error](err); ok {
		temporary := e.Kind == oauth.KindTemporary || e.Kind == oauth.KindUnknownOutcome
		remote := &fault.Remote{Phase: phaseAuth, HTTPStatus: e.HTTPStatus, Retryable: temporary}
		return upstream(signInCode(e), signInSentence(e, c), remote, err)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == credentials.CodeNotRenewed {
		return upstream(string(mcp.ReasonUnreachable), f.Message, &fault.Remote{Phase: phaseAuth, Retryable: true}, err)
	}
	return nil
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
