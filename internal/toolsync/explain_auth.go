package toolsync

import (
	"cmp"
	"context"
	"errors"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
)

// phaseSignIn is the phase in which Patchbay gets a token.
const phaseSignIn = "auth"

// signInReport returns the report of a test that failed to get a token, with what the authorization server said. It
// returns err itself when the failure is our own.
func (s *Syncer) signInReport(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, entered connectors.Secret, err error,
) (ProbeReport, error) {
	if failed, ok := errors.AsType[*safehttp.ProxyError](err); ok {
		remote := &fault.Remote{Phase: phaseSignIn, Retryable: !failed.Forbidden()}
		return ProbeReport{Error: upstreamFault(codeProxy, failed.Why, remote, err)}, nil
	}
	if e, ok := errors.AsType[*oauth.Error](err); ok {
		remote := newSignInRemote(e)
		remote.Said = s.credentials.Excerpt(ctx, tenant, c, credentials.NewResponseSource(e), credentials.UsedSecrets{Entered: entered})
		return ProbeReport{Error: upstreamFault(signInCode(e), signInSentence(e, c), remote, err)}, nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == credentials.CodeNotRenewed {
		remote := cmp.Or(f.Remote, &fault.Remote{Phase: phaseSignIn, Retryable: true})
		return ProbeReport{Error: upstreamFault(string(mcp.ReasonUnreachable), f.Message, remote, err)}, nil
	}
	return ProbeReport{}, err
}

func newSignInRemote(e *oauth.Error) *fault.Remote {
	temporary := e.Kind == oauth.KindTemporary || e.Kind == oauth.KindUnknownOutcome
	return &fault.Remote{Phase: phaseSignIn, HTTPStatus: e.HTTPStatus, Retryable: temporary}
}

// signInCode maps an OAuth error to a code of the public API.
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
		return "The authorization server doesn't know this client or its key. Check the client ID, key and algorithm."
	default:
		return "The authorization server doesn't know this client or its secret. Check both."
	}
}
