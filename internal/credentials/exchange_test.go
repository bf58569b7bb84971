package credentials_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

func TestExchange_TokenNamesMemberAndAgent(t *testing.T) {
	t.Parallel()
	for _, way := range connectors.TokenExchanges {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			w := newExchangeWorld(t, func(_ *exchangeWorld, d *connectors.Draft) { d.OAuth.TokenExchange = way })
			r := w.newResolver()
			for range 2 {
				if got, err := w.sent(t, r); err != nil || got != fmt.Sprintf("Bearer 1.%s.agent:%s", w.subject(), w.agent.ID) {
					t.Fatalf("%q, %v", got, err)
				}
			}
			form := w.requests[0]
			for name, want := range map[string]string{
				"grant_type": oauth.GrantTokenExchange, "requested_token_type": "urn:ietf:params:oauth:token-type:access_token", "resource": w.connector.URL, "scope": "",
				"subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "audience": "",
			} {
				if got := form.Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			claims := readClaims(t, form.Get("subject_token"))
			if claims["iss"] != w.issuer() || claims["aud"] != w.as.URL || claims["email"] != nil {
				t.Errorf("claims %v", claims)
			}
			if life := claims["exp"].(float64) - claims["iat"].(float64); life <= 0 || life > 300 {
				t.Errorf("valid for %v s", life)
			}
			if form.Has("actor_token") != (way == connectors.ExchangeActorToken) || form.Has("actor_token") && form.Get("actor_token_type") != "urn:ietf:params:oauth:token-type:jwt" {
				t.Errorf("actor token %q", form.Get("actor_token"))
			}
			g, err := w.St.Vault(w.Tenant).Grant(t.Context(), w.connector.ID, &w.agent.ID)
			must(t, err)
			if g.Member == nil || *g.Member != w.member.UserID || g.Account != w.member.Email || !g.Tokens.RefreshToken.Empty() {
				t.Errorf("%+v", g.Credential)
			}
		})
	}
}

func TestExchange_SubjectIsTheAgentWithoutAMember(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	w.agent = w.Agent(t)
	for name, caller := range map[string]connectors.Caller{"the agent": connectors.CallerAgent(w.agent.ID), "an API key": {}, "a person": connectors.CallerPerson(&w.member.UserID)} {
		if got, err := w.sent(t, w.newResolver(), caller); err != nil || got != fmt.Sprintf("Bearer 1.agent:%s.agent:%s", w.agent.ID, w.agent.ID) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	must(t, w.Door().Agents().MakePersonal(t.Context(), w.member.UserID, w.agent.ID)) // then the next token is the member's
	r := w.newResolver()
	if got, err := w.sent(t, r, connectors.CallerPerson(new(w.Member(t, connectors.RoleAdmin).UserID))); err == nil {
		t.Errorf("another caller: %q", got)
	}
	if got, err := w.sent(t, r); err != nil || got != fmt.Sprintf("Bearer 2.%s.agent:%s", w.subject(), w.agent.ID) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestExchange_ServesMemberAndAgentAlone(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	others := map[string]connectors.Caller{
		"an API key": {}, "an owner": connectors.CallerPerson(new(w.Member(t, connectors.RoleOwner).UserID)), "another agent": connectors.CallerAgent(w.Agent(t).ID),
	}
	r := w.newResolver()
	for name, caller := range others {
		_, err := w.sent(t, r, caller)
		wantMissing(t, err)
		if len(w.requests)+w.Count(t, "credentials") != 0 {
			t.Errorf("%s: %d requests", name, len(w.requests))
		}
	}
	_, err := w.sent(t, r, connectors.CallerPerson(&w.member.UserID))
	must(t, err)
	for _, state := range []string{"valid", "due"} {
		for name, caller := range others {
			got, err := w.sent(t, r, caller)
			if f := fault.As(err); got != "" || f == nil || f.Type != credentials.TypeManagedAccount || !strings.Contains(f.Message, "acts as its member") {
				t.Errorf("%s, %s: %q, %v", state, name, got, err)
			}
		}
		if headers, err := r.Headers(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID}); err == nil {
			t.Errorf("%s, exported: %v", state, headers)
		}
		w.expire(t)
	}
	if len(w.requests) != 1 {
		t.Errorf("%d requests", len(w.requests))
	}
	shared := w.Agent(t)
	_, err = r.Resolve(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &shared.ID})
	must(t, err)
	if headers, err := r.Headers(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &shared.ID}); err == nil {
		t.Errorf("of an agent without a member, exported: %v", headers)
	}
}

func TestExchange_AssertionGoesNowhereElse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*testing.T, *exchangeWorld)
		draft  func(*exchangeWorld, *connectors.Draft)
		says   string
		sent   string // authorization server that got an assertion, which is for it alone
	}{
		"the MCP server names an attacker's": {
			change: func(_ *testing.T, w *exchangeWorld) {
				w.resource = map[string]any{"authorization_servers": []string{w.evil.URL}}
			}, sent: "as",
		},
		"an attacker's metadata with a trusted issuer": {
			draft:  func(w *exchangeWorld, d *connectors.Draft) { d.OAuth.Issuer = w.evil.URL },
			change: func(_ *testing.T, w *exchangeWorld) { w.metadata = map[string]any{"issuer": w.as.URL} }, says: "blocked for safety",
		},
		"an attacker's issuer with a trusted endpoint": {
			draft: func(w *exchangeWorld, d *connectors.Draft) { d.OAuth.Issuer = w.evil.URL },
			change: func(_ *testing.T, w *exchangeWorld) {
				w.metadata = map[string]any{"token_endpoint": w.as.URL + "/token"}
			},
			says: "refuses the member", sent: "evil's aud",
		},
		"an admin's token endpoint": {draft: func(w *exchangeWorld, d *connectors.Draft) { d.OAuth.TokenEndpoint = w.evil.URL + "/token" }, says: "comes from metadata"},
		"an admin's resource":       {draft: func(_ *exchangeWorld, d *connectors.Draft) { d.OAuth.Resource = new("https://other.example/mcp") }, says: "comes from metadata"},
		"no issuer":                 {draft: func(_ *exchangeWorld, d *connectors.Draft) { d.OAuth.Issuer = "" }, says: "comes from metadata"},
		"no resource": {
			change: func(_ *testing.T, w *exchangeWorld) { w.resource = map[string]any{"resource": nil} }, says: "name its resource",
		},
		"a resource that is the whole host": {
			change: func(_ *testing.T, w *exchangeWorld) { w.resource = map[string]any{"resource": w.server.URL} }, says: "the connector's URL as its resource",
		},
		"not allowed by an owner": {
			change: func(t *testing.T, w *exchangeWorld) {
				must(t, w.Door().Accounts().SetTokenExchange(t.Context(), false))
			}, says: "has no connected account",
		},
		"a resource of another server": {
			change: func(_ *testing.T, w *exchangeWorld) { w.resource = map[string]any{"resource": w.evil.URL + "/mcp"} }, says: "blocked for safety",
		},
		"no grant type in metadata": {
			change: func(_ *testing.T, w *exchangeWorld) { w.metadata = map[string]any{"grant_types_supported": nil} }, says: "doesn't list token exchange",
		},
		"another grant type in metadata": {
			change: func(_ *testing.T, w *exchangeWorld) {
				w.metadata = map[string]any{"grant_types_supported": []string{oauth.GrantJWTBearer}}
			}, says: "doesn't list token exchange",
		},
		"an admin's token acts as the agent": {change: func(t *testing.T, w *exchangeWorld) { w.Token(t, w.agent.ID) }, says: "has no connected account"},
		"disconnected by a person": {change: func(t *testing.T, w *exchangeWorld) {
			_, err := w.sent(t, w.newResolver())
			must(t, err)
			must(t, w.Door().Connectors().DeleteCredential(t.Context(), w.connector.ID, &w.agent.ID, ""))
			w.requests, w.at = nil, nil
		}, says: "has no connected account"},
		"no address of Patchbay": {says: "needs the address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newExchangeWorld(t, func(w *exchangeWorld, d *connectors.Draft) {
				if tc.draft != nil {
					tc.draft(w, d)
				}
			})
			if tc.change != nil {
				tc.change(t, w)
			}
			got, err := w.sent(t, w.newResolver(func(o *credentials.Options) {
				if name == "no address of Patchbay" {
					o.BaseURL = ""
				}
			}))
			if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(fault.As(err).Message, tc.says)) {
				t.Errorf("%q, %v", got, err)
			}
			switch tc.sent {
			case "":
				if len(w.requests) != 0 {
					t.Errorf("requests for tokens: %v", w.at)
				}
			case "as":
				if !slices.Equal(w.at, []string{w.as.URL}) {
					t.Errorf("requests for tokens: %v", w.at)
				}
			default:
				if len(w.requests) != 1 || readClaims(t, w.requests[0].Get("subject_token"))["aud"] != w.evil.URL {
					t.Errorf("requests for tokens: %v", w.at)
				}
			}
		})
	}
}

// A tenant's connector at an authorization server that trusts another tenant's issuer gets no token there.
func TestExchange_OtherTenantIsNotTrusted(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	d := connectors.DraftOf(w.connector)
	other := w.ConnectorIn(t, w.Other, func(o *connectors.Draft) { *o = d })
	must(t, w.OtherDoor().Connectors().SetClientSecret(t.Context(), other, "secret of the client"))
	agent := w.AgentIn(t, w.Other)
	u, err := w.newResolver().Resolve(t.Context(), w.Other, other, credentials.Account{Agent: &agent.ID})
	if err == nil || u != nil || !strings.Contains(fault.As(err).Message, "refuses the member") {
		t.Fatalf("%v, %v", u, err)
	}
	if claims := readClaims(t, w.requests[0].Get("subject_token")); claims["iss"] != ownURL+credentials.IssuersPath+w.Other.String() {
		t.Errorf("claims %v", claims)
	}
}

// Each request has new assertions: the authorization server refuses one that it has seen.
func TestExchange_EachTokenAsksAnew(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	for n := range 3 {
		got, err := w.sent(t, r)
		if err != nil || !strings.HasPrefix(got, fmt.Sprintf("Bearer %d.", n+1)) {
			t.Fatalf("%q, %v", got, err)
		}
		w.expire(t)
	}
	w.set(func() { w.refuse = "invalid_grant" })
	for range 2 { // a suspended member
		if got, err := w.sent(t, r); err == nil || !strings.Contains(fault.As(err).Message, "refuses the member") {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if rows := w.RowTexts(t); len(w.requests) != 4 || strings.Contains(rows, w.requests[3].Get("subject_token")) {
		t.Errorf("%d requests, or a stored assertion", len(w.requests))
	}
	w.set(func() { w.refuse = "" })
	w.expire(t)
	if got, err := w.sent(t, r); err != nil || !strings.HasPrefix(got, "Bearer 5.") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestExchange_EndsWithMembershipAndSetting(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *exchangeWorld){
		"removed member": func(t *testing.T, w *exchangeWorld) {
			_, err := w.Door().People().RemoveMember(t.Context(), w.member.UserID)
			must(t, err)
			if n := w.Count(t, "credentials"); n != 0 {
				t.Errorf("%d accounts", n)
			}
			if got, err := w.sent(t, w.newResolver()); err == nil && strings.Contains(got, w.member.UserID.String()) { // the agent is the organisation's now
				t.Errorf("%q", got)
			}
			w.requests = w.requests[:1]
			must(t, w.Door().Agents().Delete(t.Context(), w.agent.ID))
		},
		"setting": func(t *testing.T, w *exchangeWorld) {
			w.connector.OAuth.TokenExchange = ""
			d := connectors.DraftOf(w.connector)
			_, err := w.Door().Connectors().Update(t.Context(), w.connector.ID, w.connector.Version, d)
			must(t, err)
			must(t, w.Door().Accounts().DeleteIssuedAccounts(t.Context(), w.connector.ID))
			if keys, err := credentials.NewPublicKeys(w.St).List(t.Context(), w.Tenant); err != nil || len(keys) != 0 {
				t.Errorf("%d keys, %v", len(keys), err)
			}
		},
		"setting, and the row stayed": func(_ *testing.T, w *exchangeWorld) { w.connector.OAuth.TokenExchange = "" },
		"moved":                       func(_ *testing.T, w *exchangeWorld) { w.connector.URL = w.evil.URL + "/mcp" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newExchangeWorld(t)
			r := w.newResolver()
			_, err := w.sent(t, r)
			must(t, err)
			end(t, w)
			got, err := w.sent(t, r)
			if stays := strings.Contains(name, "stayed") || name == "moved"; err == nil || len(w.requests) != 1 || !stays && w.Count(t, "credentials") != 0 {
				t.Errorf("%q, %v; %d requests, %d accounts", got, err, len(w.requests), w.Count(t, "credentials"))
			}
		})
	}
}

func TestExchange_OthersProgramsEndAccess(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	_, err := w.sent(t, r)
	must(t, err)
	w.Token(t, w.agent.ID)
	if got, err := w.sent(t, r); err == nil || len(w.requests) != 1 {
		t.Fatalf("%q, %v", got, err)
	}
	w.AsSystem(t, "delete from agent_tokens where agent_id = $1", []any{w.agent.ID})
	if got, err := w.sent(t, r); err != nil || !strings.HasPrefix(got, "Bearer 2.") {
		t.Errorf("after the token's end: %q, %v", got, err)
	}
}

func TestExchange_TokenIsBoundWhereOffered(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	w.metadata = map[string]any{"dpop_signing_alg_values_supported": []string{"ES256"}}
	w.resource = map[string]any{"dpop_bound_access_tokens_required": true}
	got, err := w.sent(t, w.newResolver())
	if err != nil || !strings.HasPrefix(got, "DPoP 1.") || w.proofs != 1 {
		t.Errorf("%q, %v; %d proofs", got, err, w.proofs)
	}
}

func TestExchange_ResponseIsAnAccessToken(t *testing.T) {
	t.Parallel()
	for _, answer := range []map[string]any{
		{"issued_token_type": nil}, {"issued_token_type": idJAG}, {"token_type": "N_A"},
	} {
		w := newExchangeWorld(t)
		w.answer = answer
		if got, err := w.sent(t, w.newResolver()); err == nil || !strings.Contains(fault.As(err).Message, "valid OAuth") {
			t.Errorf("%v: %q, %v", answer, got, err)
		}
	}
}
