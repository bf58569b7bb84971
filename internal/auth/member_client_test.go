package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// byToken is the actor of a client's token, where programs are admitted.
func (w world) byToken(t *testing.T, token secret.Text) (auth.Actor, error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp/admin", nil)
	r.Header.Set("Authorization", "Bearer "+token.Reveal())
	ctx, _, err := w.auth.IdentifyBearer(r)
	if err != nil {
		return auth.Actor{}, err
	}
	a, _ := auth.ActorFrom(ctx)
	return a, nil
}

// program makes one that a member let act as them, and its token.
func (w world) program(t *testing.T, user connectors.UserID, scope connectors.ClientScope) (connectors.AgentClientID, secret.Text) {
	t.Helper()
	id := w.ProgramAsIn(t, w.Tenant, user, scope)
	return id, w.MemberAccessToken(t, w.Tenant, id)
}

func TestMemberToken_HasCurrentRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.person(t, connectors.RoleOwner) // a tenant keeps one
	m := w.person(t, connectors.RoleAdmin)
	id, whole := w.program(t, m.UserID, connectors.ScopeAdmin)
	_, reads := w.program(t, m.UserID, connectors.ScopeAdminRead)
	for _, role := range []connectors.Role{connectors.RoleAdmin, connectors.RoleMember, connectors.RoleViewer, connectors.RoleAuditor, connectors.RoleOwner} {
		if err := w.Door().People().SetRole(t.Context(), m.UserID, role); err != nil {
			t.Fatal(err)
		}
		a, err := w.byToken(t, whole)
		if err != nil || a.Role != role || a.Kind != auth.KindPerson || *a.UserID != m.UserID || a.Program == nil || a.Program.ID != id || a.ReauthenticatedAt != nil {
			t.Errorf("as %s: %+v, %v", role, a, err)
		}
		a, err = w.byToken(t, reads)
		if err != nil || a.Role.May(connectors.PermOperate) || a.Role.May(connectors.PermManage) || !a.Role.May(connectors.PermRead) {
			t.Errorf("as %s, reading only: %s, %v", role, a.Role, err)
		}
		if may := a.Role.May(connectors.PermBodies); may != role.May(connectors.PermBodies) {
			t.Errorf("as %s, reading only: it reads what is kept of calls: %t", role, may)
		}
	}
	e, err := w.byToken(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	if e := e.Event("agent.create", "x"); e.Program == nil || e.ActorType != "person" || *e.ActorID != m.UserID.UUID {
		t.Errorf("what it does is on record as %+v", e)
	}
}

func TestMemberToken_OnlyAsBearer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleOwner)
	_, token := w.program(t, m.UserID, connectors.ScopeAdmin)
	for scheme, good := range map[string]bool{"Bearer": true, "bearer": true, "Basic": false, "Token": false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp/admin", nil)
		r.Header.Set("Authorization", scheme+" "+token.Reveal())
		if _, _, err := w.auth.IdentifyBearer(r); good != (err == nil) || !good && !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

func TestAProgramLosesWhatItsMemberLoses(t *testing.T) {
	t.Parallel()
	for name, loses := range map[string]func(w world, m connectors.Member, id connectors.AgentClientID) error{
		"an owner signs them out everywhere": func(w world, m connectors.Member, _ connectors.AgentClientID) error {
			return w.auth.SignOutMember(t.Context(), w.owner(t), m.UserID)
		},
		"they sign out everywhere": func(w world, m connectors.Member, _ connectors.AgentClientID) (err error) {
			w.signedIn(t, m.UserID).do(func(ctx context.Context) {
				var a auth.Actor
				if a, err = w.auth.FromSession(ctx); err == nil {
					err = w.auth.SignOutEverywhere(ctx, a)
				}
			})
			return err
		},
		"they choose another password": func(w world, m connectors.Member, _ connectors.AgentClientID) (err error) {
			w.signedIn(t, m.UserID).do(func(ctx context.Context) {
				var a auth.Actor
				if a, err = w.auth.FromSession(ctx); err == nil {
					err = w.auth.ChangePassword(ctx, a, password, "another long password")
				}
			})
			return err
		},
		"they are removed": func(w world, m connectors.Member, _ connectors.AgentClientID) error {
			_, err := w.Door().People().RemoveMember(t.Context(), m.UserID)
			return err
		},
		"the program is ended": func(w world, _ connectors.Member, id connectors.AgentClientID) error {
			return w.Door().Agents().DeleteClient(t.Context(), id)
		},
		"single sign-on is the only way now": func(w world, _ connectors.Member, _ connectors.AgentClientID) error {
			w.singleSignOn(t, w.Tenant, new(w.person(t, connectors.RoleOwner).UserID))
			return nil
		},
		"an hour goes by": func(w world, _ connectors.Member, _ connectors.AgentClientID) error {
			w.clock.forward(61 * time.Minute)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m, other := w.person(t, connectors.RoleAdmin), w.person(t, connectors.RoleAdmin)
			id, token := w.program(t, m.UserID, connectors.ScopeAdmin)
			_, others := w.program(t, other.UserID, connectors.ScopeAdmin)
			if _, err := w.byToken(t, token); err != nil {
				t.Fatal(err)
			}
			if err := loses(w, m, id); err != nil {
				t.Fatal(err)
			}
			_, err := w.byToken(t, token)
			wantKind(t, err, fault.Unauthenticated)
			if _, err := w.byToken(t, others); err != nil && !strings.Contains(name, "single") && !strings.Contains(name, "hour") {
				t.Errorf("another member's program: %v", err)
			}
		})
	}
}

func TestProgram_NewConsentAfterSignOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleAdmin)
	if err := w.auth.SignOutMember(t.Context(), w.owner(t), m.UserID); err != nil {
		t.Fatal(err)
	}
	_, token := w.program(t, m.UserID, connectors.ScopeAdmin)
	if _, err := w.byToken(t, token); err != nil {
		t.Error(err)
	}
}

// A person disabled at the provider loses clients: without a sign-in there for a session's lifetime a client
// ends.
func TestProgram_LastsWhileMemberSignsInBySSO(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleAdmin)
	w.singleSignOn(t, w.Tenant, new(w.person(t, connectors.RoleOwner).UserID))
	signIn := func() {
		t.Helper()
		if err := w.Door().SSO().BindSSOSubject(t.Context(), store.SSOSubject{Issuer: "https://login.example.com", ID: "m"}, m.UserID, m.Email); err != nil {
			t.Fatal(err)
		}
	}
	id, token := w.program(t, m.UserID, connectors.ScopeAdmin)
	w.AsSystem(t, "update agent_clients set by_sso = true where id = $1", []any{id.UUID})
	w.AsSystem(t, "update member_tokens set expires_at = now() + interval '90 days'", nil)
	_, err := w.byToken(t, token)
	wantKind(t, err, fault.Unauthenticated) // never signed in there
	signIn()
	if a, err := w.byToken(t, token); err != nil || !a.BySSO {
		t.Errorf("%+v, %v", a, err)
	}
	w.clock.forward(auth.SessionLifetime + time.Minute)
	_, err = w.byToken(t, token)
	wantKind(t, err, fault.Unauthenticated)
	w.AsSystem(t, "update sso_identities set signed_in_at = $1", []any{w.clock.Now()})
	if _, err := w.byToken(t, token); err != nil {
		t.Errorf("after they signed in there again: %v", err)
	}
	if err := w.Door().People().EndSSOSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = w.byToken(t, token)
	wantKind(t, err, fault.Unauthenticated)
}

func TestProgram_RequiresMembersSecondFactor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleAdmin)
	_, token := w.program(t, m.UserID, connectors.ScopeAdmin)
	w.AsSystem(t, "update tenants set second_factor_required = true where id = $1", []any{w.Tenant.UUID})
	_, err := w.byToken(t, token)
	wantKind(t, err, fault.Denied)
}

func TestMemberToken_IsNoOtherBearer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleAdmin)
	_, token := w.program(t, m.UserID, connectors.ScopeAdmin)
	_, err := w.auth.FromBearer(t.Context(), "Bearer "+token.Reveal())
	wantKind(t, err, fault.Unauthenticated)
	agent := w.Agent(t)
	ofAgent := w.AccessToken(t, w.Tenant, w.ProgramIn(t, w.Tenant, agent.ID, m.UserID), "/mcp")
	body := strings.TrimPrefix(ofAgent.Reveal(), string(secret.AgentBearer))
	for name, text := range map[string]secret.Text{
		"an agent's":                    ofAgent,
		"an agent's, called a member's": secret.Text(string(secret.MemberBearer) + body),
		"an invented one":               secret.NewBearer(secret.MemberBearer, store.NewMemberTokenID().UUID).Text(),
		"a part of one":                 token[:len(token)-9],
	} {
		_, err := w.byToken(t, text)
		if !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
