package connect

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

// errOtherSubject means that another user signed in than the one of the stored account.
var errOtherSubject = errors.New("the grant is of another user")

// readIdentity returns the account that signed in. A failure leaves it incomplete and does not end the connection.
func (b *Broker) readIdentity(ctx context.Context, back callbackFlow, peer oauth.Peer, token oauth.Token) connectors.Identity {
	scopes := token.Scopes
	if scopes == nil {
		scopes = back.flow.Scopes // RFC 6749 section 5.1
	}
	ctx = safehttp.WithTenant(ctx, back.tenant.String())
	found, err := tracing.Step(ctx, "oauth identity", failureClass, func(ctx context.Context) (oauth.Identity, error) {
		return b.oauth.ReadIdentity(ctx, peer, token, scopes)
	})
	if err != nil {
		b.log.WarnContext(ctx, "account not identified", append(back.logAttrs(), slog.Any("error", err))...)
	}
	return connectors.Identity(found)
}

// checkAccount compares the account of a new grant with the stored one, and sets whether it replaces that one. A different account is
// refused unless the flow allows it, and so is an unknown one in place of a known one: it could be any. Only the account of the flow's start
// or an unusable one is replaced. A known organisation stays when
// the server names none, so that the next one is compared with it. The transaction tx has the connector's lock.
func (r callbackFlow) checkAccount(ctx context.Context, tx *store.Tenant, g *store.NewGrant) error {
	if err := r.checkOtherNames(ctx, tx, g.Meta.Identity); err != nil {
		return err
	}
	was, err := tx.Agents().CredentialFor(ctx, r.connector.ID, r.agentID(), r.account)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	now, isKnown := g.Meta.Identity, was.Type == connectors.AuthOAuth2 && was.Origin == r.flow.Origin && was.Identity.IsKnown()
	isSame := isKnown && now.IsKnown() && !now.IsOther(was.Identity)
	isAny := isKnown || was.Account != g.Account || r.flow.StartedBy.Type == typeLink // any person may have the link
	g.Replaces = !isSame && (isAny || r.flow.Replaces || !r.isOfStart(was))
	if isSame && now.OrganisationID == "" && was.Identity.OrganisationID != "" {
		g.Meta.Identity.OrganisationID, g.Meta.Identity.Organisation = was.Identity.OrganisationID, was.Identity.Organisation
	}
	switch {
	case !isSame && !r.mayReplace(was):
		return fault.Errorf(fault.Malformed, "Another account was connected meanwhile. Nothing was stored; reconnect.")
	case !isKnown, isSame, r.flow.Replaces:
		return nil
	case !now.IsKnown():
		return r.refuseUnknownAccount(was.Identity, g.Scopes)
	default:
		return r.refuseOtherAccount(was.Identity, now)
	}
}

// refuseOtherAccount returns the refusal of another account. The visitor of a link does not learn which account is stored.
func (r callbackFlow) refuseOtherAccount(was, now connectors.Identity) error {
	f := fault.Errorf(fault.Conflict, "You signed in as %s, but %q is connected to %s. Sign in to that account, or choose Replace account.",
		now.Label(), r.connector.Name, was.Label())
	if r.flow.StartedBy.Type == typeLink {
		f = fault.Errorf(fault.Conflict, "You signed in as %s, but %q is connected to another account. Sign in to that one, or ask %s to disconnect it first.",
			now.Label(), r.connector.Name, r.flow.StartedBy.Name)
	}
	if was.Issuer != now.Issuer || was.Subject != now.Subject { // revoking a grant of the same user could end the stored one
		f.Err = errOtherSubject
	}
	return f
}

// refuseUnknownAccount returns the refusal of an unknown account. Without the granted scope openid, another try ends the same way.
func (r callbackFlow) refuseUnknownAccount(was connectors.Identity, scopes []string) error {
	isLink, hasOpenID := r.flow.StartedBy.Type == typeLink, slices.Contains(scopes, oauth.ScopeOpenID)
	switch {
	case isLink && hasOpenID:
		return fault.Errorf(fault.Conflict, "The server didn't say who signed in, so the account can't be compared with the connected one. Try again later.")
	case isLink:
		return fault.Errorf(fault.Conflict, "The server didn't say who signed in: the scope openid wasn't granted. Ask %s to add it to the connector's scopes.",
			r.flow.StartedBy.Name)
	case hasOpenID:
		return fault.Errorf(fault.Conflict, "The server didn't say who signed in, so the account can't be compared with %s. Try again, or choose Replace account.",
			was.Label())
	default:
		return fault.Errorf(fault.Conflict, "The server didn't say who signed in: the scope openid wasn't granted. To compare the account with %s, add the scope to the connector, or choose Replace account.",
			was.Label())
	}
}
