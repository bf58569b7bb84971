package oauth

import (
	"context"
	"net/http"
	"slices"
)

// ScopeOpenID asks for an ID token, and permits the userinfo endpoint (OpenID Connect Core section 3.1.2.1).
const ScopeOpenID = "openid"

// ReadIdentity returns the account of a token: by its id_token and, if that leaves subject or name open and the scopes permit it,
// by the userinfo endpoint. scopes are the granted ones. The identity is as complete as it can be, also with an error.
func (c *Client) ReadIdentity(ctx context.Context, p Peer, t Token, scopes []string) (Identity, error) {
	i := t.Identity
	var failure *Error
	if (i.Subject == "" || i.Name == "") && p.Server.permitsUserinfo(scopes) {
		var more Identity
		if more, failure = c.requestUserinfo(ctx, p, t); failure == nil {
			i, failure = mergeIdentity(i, more)
		}
	}
	if i != (Identity{}) {
		i.Issuer = p.Server.Issuer
	}
	if failure != nil {
		return i, failure
	}
	return i, nil
}

// permitsUserinfo reports whether the document's userinfo endpoint may get a token with these scopes. It gets none of a token
// endpoint that an admin entered: the document does not know that one.
func (m Metadata) permitsUserinfo(scopes []string) bool {
	return m.UserinfoEndpoint != "" && !m.Assumed && !m.HasForeignTokenEndpoint() && slices.Contains(scopes, ScopeOpenID)
}

// requestUserinfo reads the claims of the userinfo endpoint (OpenID Connect Core section 5.3).
func (c *Client) requestUserinfo(ctx context.Context, p Peer, t Token) (Identity, *Error) {
	own, scheme := *c, "Bearer "
	if t.Proof != nil {
		own.HTTP, scheme = t.Proof.Client(c.HTTP, c.Now), "DPoP "
	}
	a, failure := own.sendRequest(ctx, httpRequest{
		step: StepUserinfo, url: p.Server.UserinfoEndpoint, header: http.Header{"Authorization": {scheme + t.AccessToken.Reveal()}},
	})
	switch {
	case failure != nil:
		return Identity{}, failure
	case !a.isOK():
		return Identity{}, a.toError(StepUserinfo)
	}
	claims, ok := readObject(a.body)
	if !ok {
		return Identity{}, &Error{Step: StepUserinfo, Kind: KindProtocol, HTTPStatus: a.status, Detail: "answered with " + readFailure(a)}
	}
	return readClaims(claims), nil
}

// mergeIdentity fills the gaps of an id_token's identity with that of userinfo, which must be of the same subject (OpenID Connect
// Core section 5.3.2).
func mergeIdentity(i, more Identity) (Identity, *Error) {
	switch {
	case more.Subject == "":
		return i, &Error{Step: StepUserinfo, Kind: KindProtocol, Detail: "named no subject"}
	case i.Subject != "" && i.Subject != more.Subject:
		return i, &Error{Step: StepUserinfo, Kind: KindProtocol, Detail: "named another subject than the ID token"}
	}
	for _, field := range []struct {
		at   *string
		more string
	}{
		{&i.Subject, more.Subject}, {&i.Name, more.Name}, {&i.Email, more.Email},
		{&i.OrganisationID, more.OrganisationID}, {&i.Organisation, more.Organisation},
	} {
		if *field.at == "" {
			*field.at = field.more
		}
	}
	return i, nil
}
