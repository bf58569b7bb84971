package connect_test

import (
	"strings"
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
)

// linkBy makes a link as an actor, and returns its token.
func (b *bundle) linkBy(t testing.TB, a auth.Actor, c connectors.Connector) secret.Text {
	t.Helper()
	l, err := b.broker.Link(t.Context(), a, ref(c.ID), nil, "")
	must(t, err)
	return secret.Text(strings.TrimPrefix(l.URL, baseURL+"/connect/"))
}

// refusesLink checks that a link can neither be looked at nor taken.
func (b *bundle) refusesLink(t testing.TB, token secret.Text, kind fault.Kind) {
	t.Helper()
	_, err := b.broker.ReadLink(t.Context(), token)
	wantFault(t, err, kind, "")
	_, err = b.broker.AcceptLink(t.Context(), token, cookie)
	wantFault(t, err, kind, "")
}

func TestALinkEndsWithWhatItsMakerMayDo(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	gone, lowered := b.person(t, b.Tenant, connectors.RoleAdmin), b.person(t, b.Tenant, connectors.RoleAdmin)
	keys := map[string]connectors.APIKey{"revoked": b.APIKey(t, connectors.RoleAdmin), "expired": b.APIKey(t, connectors.RoleAdmin)}
	tokens := map[string]secret.Text{"a member no more": b.linkBy(t, gone, c), "a viewer by now": b.linkBy(t, lowered, c)}
	for name, key := range keys {
		tokens[name] = b.linkBy(t, auth.Actor{Kind: auth.KindKey, Tenant: gone.Tenant, Role: key.Role, KeyID: &key.ID, Name: key.Name}, c)
	}
	for _, token := range tokens {
		_, err := b.broker.ReadLink(t.Context(), token)
		must(t, err)
	}
	for statement, id := range map[string]any{
		"delete from memberships where user_id = $1":                            gone.UserID.UUID,
		"update memberships set role = 'viewer' where user_id = $1":             lowered.UserID.UUID,
		"update api_keys set revoked_at = now() where id = $1":                  keys["revoked"].ID.UUID,
		"update api_keys set expires_at = now() - '1s'::interval where id = $1": keys["expired"].ID.UUID,
	} {
		_, err := b.owner(t).Exec(t.Context(), statement, id)
		must(t, err)
	}
	for _, token := range tokens {
		b.refusesLink(t, token, fault.NotFound)
	}
	b.wantNothing(t, c)
}

func TestLink_MemberKeepsUsableAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	kept := b.link(t, c, nil, "")
	b.connect(t, c, nil)
	b.refusesLink(t, kept, fault.Conflict)
	_, err := b.broker.AcceptLink(t.Context(), b.linkBy(t, b.admin, c), cookie)
	must(t, err)

	g := b.grant(t, c, nil)
	_, err = b.St.Vault(b.Tenant).RefuseGrant(t.Context(), g.ID, g.Version, g.Tokens.Meta, "It ended.", nil)
	must(t, err)
	s, err := b.broker.AcceptLink(t.Context(), kept, cookie)
	must(t, err)
	_, err = b.broker.Finish(t.Context(), b.agree(t, s), connect.BrowserBindings{Cookie: cookie})
	must(t, err)
}
