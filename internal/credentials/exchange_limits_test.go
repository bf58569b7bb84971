package credentials_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// An address is proven only if the provider has confirmed it, and an owner that made the account has no other way in.
func TestExchange_EmailIsProvenByProvider(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		settings func(*exchangeWorld, *connectors.SSO)
		change   string // of the database
		signedIn string // address at the provider; empty: the member's
		email    bool
	}{
		"proven":                   {email: true},
		"sign-in by SSO alone":     {email: true, change: "update memberships set sso_only = true", settings: func(_ *exchangeWorld, s *connectors.SSO) { s.Enforced = false }},
		"a password lets in":       {settings: func(_ *exchangeWorld, s *connectors.SSO) { s.Enforced = false }},
		"the break-glass member":   {settings: func(w *exchangeWorld, s *connectors.SSO) { s.BreakGlass = &w.member.UserID }},
		"single sign-on is off":    {change: "update sso_settings set enabled = false, enforced = false; update memberships set sso_only = true"},
		"another provider":         {change: "update sso_settings set issuer = 'https://other.example'"},
		"never signed in":          {change: "delete from sso_identities"},
		"another address there":    {signedIn: "bob@example.com"},
		"of an older release":      {change: "update sso_identities set email = ''"},
		"the domain is not proven": {change: "update sso_domains set verified_at = null, verified_by = null"},
		"a program let in by password": {change: `insert into agent_clients (tenant_id, id, agent_id, user_id, client_id, client_name, resource, redirect_uri,
			code_mac, challenge, code_expires_at, salt, expires_at) select tenant_id, gen_random_uuid(), agent_id, user_id, 'c', 'c', 'https://p.example/mcp',
			'https://c.example/', decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'), now(), decode(repeat('00', 32), 'hex'), now() + '1 day'
			from personal_agents`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newExchangeWorld(t)
			_, domain, _ := strings.Cut(w.member.Email, "@")
			w.AsSystem(t, "insert into sso_domains (tenant_id, domain, proof, verified_at, verified_by) values ($1, $2, 'x', now(), 'dns')", []any{w.Tenant, domain})
			owner := w.Member(t, connectors.RoleOwner)
			sso := connectors.SSO{Issuer: "https://login.example", ClientID: "patchbay", GroupsClaim: "groups", Enabled: true, Enforced: true, BreakGlass: &owner.UserID, TestedAt: new(time.Now())}
			if tc.settings != nil {
				tc.settings(w, &sso)
			}
			must(t, w.Door().SSO().Save(t.Context(), sso, "secret"))
			must(t, w.Door().SSO().BindSSOSubject(t.Context(), store.SSOSubject{Issuer: sso.Issuer, ID: "x"}, w.member.UserID, cmp.Or(tc.signedIn, w.member.Email)))
			for statement := range strings.SplitSeq(tc.change, ";") {
				if statement != "" {
					w.AsSystem(t, statement, nil)
				}
			}
			_, err := w.sent(t, w.newResolver())
			must(t, err)
			claims := readClaims(t, w.requests[0].Get("subject_token"))
			if said := claims["email"] == w.member.Email && claims["email_verified"] == true; said != tc.email || !tc.email && claims["email"] != nil {
				t.Errorf("claims %v", claims)
			}
		})
	}
}

// A token that says a confirmed address is used no longer when the provider or the domain goes.
func TestExchange_EmailEndsWithItsProof(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*exchangeWorld, string) error{
		"provider": func(w *exchangeWorld, _ string) error { return w.Door().SSO().Delete(t.Context()) },
		"domain":   func(w *exchangeWorld, domain string) error { return w.Door().SSO().ReleaseDomain(t.Context(), domain) },
	} {
		w := newExchangeWorld(t)
		_, domain, _ := strings.Cut(w.member.Email, "@")
		w.AsSystem(t, "insert into sso_domains (tenant_id, domain, proof, verified_at, verified_by) values ($1, $2, 'x', now(), 'dns')", []any{w.Tenant, domain})
		sso := connectors.SSO{Issuer: "https://login.example", ClientID: "patchbay", GroupsClaim: "groups", Enabled: true, TestedAt: new(time.Now())}
		must(t, w.Door().SSO().Save(t.Context(), sso, "secret"))
		must(t, w.Door().SSO().BindSSOSubject(t.Context(), store.SSOSubject{Issuer: sso.Issuer, ID: "x"}, w.member.UserID, w.member.Email))
		w.AsSystem(t, "update memberships set sso_only = true where user_id = $1", []any{w.member.UserID})
		r := w.newResolver()
		for n := range 2 {
			_, err := w.sent(t, r)
			must(t, err)
			if len(w.requests) != n+1 {
				t.Fatalf("%s: %d requests, want %d", name, len(w.requests), n+1)
			}
			if claims := readClaims(t, w.requests[n].Get("subject_token")); (claims["email"] != nil) != (n == 0) {
				t.Errorf("%s: claims %v", name, claims)
			}
			if n == 0 {
				must(t, end(w, domain))
			}
		}
	}
}

// An admin's sync, ping or test asks for no token in a member's name: only calls of the member or its agent do.
func TestExchange_SyncNamesNoMember(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	sync := func() *credentials.Credential {
		u, err := r.Resolve(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID})
		must(t, err)
		last, err := r.ResolveForSync(t.Context(), w.Tenant, w.connector)
		must(t, err)
		if last != nil {
			t.Errorf("a sync without an agent got %v", last)
		}
		return u
	}
	if u := sync(); u != nil || len(w.requests)+w.Count(t, "credentials") != 0 {
		t.Errorf("without an account: %v, %d requests", u, len(w.requests))
	}
	_, err := w.sent(t, r)
	must(t, err)
	g, err := w.St.Vault(w.Tenant).Grant(t.Context(), w.connector.ID, &w.agent.ID)
	must(t, err)
	must(t, w.St.Vault(w.Tenant).MarkUsed(t.Context(), g.ID))
	if u := sync(); u == nil || !u.RequestsForCallsOnly() {
		t.Errorf("with a valid token: %v", u)
	}
	w.AsSystem(t, "update credentials set expires_at = now() + interval '20 seconds'", nil)
	if u := sync(); u == nil || len(w.requests) != 1 {
		t.Errorf("with a due token: %v, %d requests", u, len(w.requests))
	}
	for _, state := range []string{"status = 'active'", "status = 'refresh_failed', error = 'x'", "status = 'revoked', error = 'x', updated_at = now() - interval '1 hour'"} {
		w.AsSystem(t, "update credentials set expires_at = now(), retry_at = null, "+state, nil)
		if u := sync(); u != nil || len(w.requests) != 1 {
			t.Errorf("%s: %v, %d requests", state, u, len(w.requests))
		}
	}
	if err := r.ExplainMissing(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID}); err == nil {
		t.Error("no reason")
	}
	if _, err := w.sent(t, r); err != nil || len(w.requests) != 2 {
		t.Errorf("a call after it: %v, %d requests", err, len(w.requests))
	}
}

// Syncs without an agent use no account with tokens that name a member, not even one with a valid token. It cannot be chosen for them.
func TestExchange_SyncsUseNoMembersAccount(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	forSync := func() *credentials.Credential {
		t.Helper()
		u, err := r.ResolveForSync(t.Context(), w.Tenant, w.connector)
		must(t, err)
		return u
	}
	_, err := w.sent(t, r)
	must(t, err)
	choose := w.Door().Syncs().ChooseForSyncs
	if err := choose(t.Context(), w.connector.ID, &w.agent.ID, ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("a member's account was chosen: %v", err)
	}
	if u, err := forSync(), r.ExplainMissingForSync(t.Context(), w.Tenant, w.connector); u != nil || !strings.Contains(fault.As(err).Message, "without a member") {
		t.Errorf("%+v, %v", u, err)
	}
	u, err := r.Resolve(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID}) // as before a destructive call of the agent
	if err != nil || u == nil || len(w.requests) != 1 {
		t.Errorf("%+v, %v; %d requests", u, err, len(w.requests))
	}
	shared := w.Agent(t)
	_, err = r.Resolve(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &shared.ID})
	must(t, err)
	if u := forSync(); u == nil || *u.Agent != shared.ID {
		t.Errorf("of an agent without a member: %+v", u)
	}
	must(t, choose(t.Context(), w.connector.ID, &shared.ID, ""))
	w.expire(t)
	if u := forSync(); u == nil || *u.Agent != shared.ID || len(w.requests) != 3 {
		t.Errorf("chosen: %+v, %d requests", u, len(w.requests))
	}
}

// A chosen account that names a member from now on is chosen no more.
func TestExchange_MembersAccountLosesTheChoice(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	_, err := w.sent(t, r)
	must(t, err)
	w.AsSystem(t, "update credentials set grant_meta = grant_meta - 'exchange'", nil) // as if the connector was without token exchange
	must(t, w.Door().Syncs().ChooseForSyncs(t.Context(), w.connector.ID, &w.agent.ID, ""))
	_, err = w.sent(t, r)
	must(t, err)
	if g, err := w.St.Vault(w.Tenant).Grant(t.Context(), w.connector.ID, &w.agent.ID); err != nil || g.Syncs || g.Tokens.Meta.Exchange == "" {
		t.Errorf("%+v, %v", g.Credential, err)
	}
}

// The MCP server chooses no scopes, neither in its metadata nor in an answer.
func TestExchange_OnlyTheAdminChoosesScopes(t *testing.T) {
	t.Parallel()
	for _, scopes := range [][]string{nil, {"read"}} {
		w := newExchangeWorld(t, func(_ *exchangeWorld, d *connectors.Draft) { d.OAuth.Scopes = scopes })
		w.resource = map[string]any{"scopes_supported": []string{"read", "payroll:write"}}
		r := w.newResolver()
		for range 2 {
			u, err := r.ResolveFor(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID}, connectors.CallerAgent(w.agent.ID))
			must(t, err)
			if got := w.requests[len(w.requests)-1].Get("scope"); got != strings.Join(scopes, " ") {
				t.Errorf("scope %q, want %v", got, scopes)
			}
			n := len(w.requests)
			if err := r.RequestScopes(t.Context(), w.Tenant, u, []string{"payroll:write"}, nil); !fault.Is(err, fault.Conflict) || len(w.requests) != n {
				t.Errorf("more scopes: %v, %d requests", err, len(w.requests))
			}
			w.expire(t)
		}
	}
}

// A connector as it was before a change of its settings neither adds an account nor gets a token.
func TestExchange_OutdatedConnectorGetsNoToken(t *testing.T) {
	t.Parallel()
	for _, stored := range []bool{false, true} {
		w := newExchangeWorld(t)
		r, old := w.newResolver(), w.connector
		d := connectors.DraftOf(old)
		d.OAuth.Issuer = w.evil.URL
		now, err := w.Door().Connectors().Update(t.Context(), old.ID, old.Version, d)
		must(t, err)
		if stored { // by the present one
			must(t, w.Door().Accounts().AddExchangedAccount(t.Context(), store.NewExchangedAccount{
				Connector: now, AgentID: w.agent.ID, Member: &w.member.UserID, Meta: store.GrantMeta{Exchange: now.OAuth.TokenExchange, Refreshable: true},
			}))
		}
		if got, err := w.sent(t, r); err == nil || len(w.requests) != 0 || !stored && w.Count(t, "credentials") != 0 {
			t.Errorf("stored %v: %q, %v; %d requests, %d accounts", stored, got, err, len(w.requests), w.Count(t, "credentials"))
		}
		w.AsSystem(t, "update credentials set status = 'revoked', error = 'x', updated_at = now() - interval '1 hour'", nil)
		if got, err := w.sent(t, r); err == nil || len(w.requests) != 0 {
			t.Errorf("stored %v, ended: %q, %v", stored, got, err)
		}
	}
}

// Another change of the connector stops no request.
func TestExchange_OtherChangesStopNothing(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	_, err := w.sent(t, r)
	must(t, err)
	d := connectors.DraftOf(w.connector)
	d.Description = "changed"
	_, err = w.Door().Connectors().Update(t.Context(), w.connector.ID, w.connector.Version, d)
	must(t, err)
	w.expire(t)
	if got, err := w.sent(t, r); err != nil || !strings.HasPrefix(got, "Bearer 2.") {
		t.Errorf("%q, %v", got, err)
	}
}

// What ends while Patchbay asks the servers is seen before it signs.
func TestExchange_SignsNothingThatEndedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*exchangeWorld) error{
		"turned off":     func(w *exchangeWorld) error { return w.Door().Accounts().SetTokenExchange(t.Context(), false) },
		"an admin's one": func(w *exchangeWorld) error { w.Token(t, w.agent.ID); return nil },
		"disconnected": func(w *exchangeWorld) error {
			return w.Door().Connectors().DeleteCredential(t.Context(), w.connector.ID, &w.agent.ID, "")
		},
		"the settings": func(w *exchangeWorld) error {
			d := connectors.DraftOf(w.connector)
			d.OAuth.Issuer = w.evil.URL
			_, err := w.Door().Connectors().Update(t.Context(), w.connector.ID, w.connector.Version, d)
			return err
		},
	} {
		w := newExchangeWorld(t)
		var failed error
		w.asked = func() { failed = end(w) }
		got, err := w.sent(t, w.newResolver())
		must(t, failed)
		if err == nil || len(w.requests) != 0 {
			t.Errorf("%s: %q, %v; %d requests", name, got, err, len(w.requests))
		}
		if n := w.Count(t, "signing_keys"); name == "turned off" && n != 0 {
			t.Errorf("%d keys", n)
		}
	}
}

// An account that ends during its request says why, and starts again when the reason is over.
func TestExchange_SharedMeanwhileStartsAgain(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	_, err := w.sent(t, r)
	must(t, err)
	w.Token(t, w.agent.ID)
	w.AsSystem(t, "update credentials set status = 'active', error = '', expires_at = now()", nil) // as if the token came during the request
	if got, err := w.sent(t, r); err == nil || len(w.requests) != 1 {
		t.Errorf("%q, %d requests", got, len(w.requests))
	}
	g, err := w.St.Vault(w.Tenant).Grant(t.Context(), w.connector.ID, &w.agent.ID)
	if err != nil || g.Error != store.ReasonSharedExchange {
		t.Errorf("%q, %v", g.Error, err)
	}
	w.AsSystem(t, "delete from agent_tokens where agent_id = $1", []any{w.agent.ID})
	if got, err := w.sent(t, r); err != nil || len(w.requests) != 2 {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

// What an older release took for a managed account names its member again only by a call.
func TestExchange_ManagedAccountIsNotKept(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	_, err := w.sent(t, r)
	must(t, err)
	for _, status := range []string{"status = 'active'", "status = 'revoked', error = 'x'"} {
		w.AsSystem(t, "update credentials set grant_meta = grant_meta - 'exchange', expires_at = now() + interval '1 hour', "+status, nil)
		if u, err := r.Resolve(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID}); u != nil || err != nil {
			t.Errorf("%s: a sync got %v, %v", status, u, err)
		}
		n := len(w.requests)
		if got, err := w.sent(t, r); err != nil || len(w.requests) != n+1 || !strings.HasPrefix(got, fmt.Sprintf("Bearer %d.", n+1)) {
			t.Errorf("%s: %q, %v", status, got, err)
		}
	}
}

func TestExchange_DisconnectedStaysSo(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	w.agent = w.Agent(t) // without a member
	r := w.newResolver()
	_, err := w.sent(t, r)
	must(t, err)
	must(t, w.Door().Connectors().DeleteCredential(t.Context(), w.connector.ID, &w.agent.ID, ""))
	if got, err := w.sent(t, r); err == nil || len(w.requests) != 1 || w.Count(t, "credentials") != 0 {
		t.Errorf("%q, %v", got, err)
	}
	must(t, w.Door().Agents().MakePersonal(t.Context(), w.member.UserID, w.agent.ID))
	if got, err := w.sent(t, r); err == nil || len(w.requests) != 1 {
		t.Errorf("of a member now: %q, %v", got, err)
	}
}

// Single sign-on has no part in accounts from token exchange: they stay at its end, only their token is requested again, and a sign-in
// revives none.
func TestExchange_SignInsChangeNoAccount(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	_, err := w.sent(t, r)
	must(t, err)
	const issuer = "https://login.example"
	must(t, w.Door().SSO().Save(t.Context(), connectors.SSO{Issuer: issuer, ClientID: "patchbay", GroupsClaim: "groups"}, "secret"))
	must(t, w.Door().SSO().DeleteTokens(t.Context()))
	if got, err := w.sent(t, r); err != nil || len(w.requests) != 2 {
		t.Errorf("after the end of sign-ins: %q, %v", got, err)
	}
	w.AsSystem(t, "update credentials set status = 'revoked', error = 'refused by the server'", nil)
	must(t, w.Door().SSO().SaveTokens(t.Context(), w.member.UserID, issuer, store.SSOTokens{IDToken: "x"}))
	if got, err := w.sent(t, r); err == nil || len(w.requests) != 2 {
		t.Errorf("a sign-in revived a refused account: %q", got)
	}
}
