package toolsync_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

func (b *bundle) credentials() *credentials.Resolver { return credentials.New(b.St) }

// authorizations are the Authorization headers of the list requests, in order.
func authorizations(up *mcptest.Server) []string {
	var sent []string
	for _, c := range up.Calls() {
		if c.Method == "initialize" {
			sent = append(sent, c.Header.Get("Authorization"))
		}
	}
	return sent
}

func wantSent(t testing.TB, up *mcptest.Server, want ...string) {
	t.Helper()
	got := authorizations(up)
	if len(got) != len(want) {
		t.Fatalf("sent %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("conversation %d sent %q, want %q", i+1, got[i], want[i])
		}
	}
}

func TestSync_SendsTheSharedCredential(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), Bearer: "s3cret"})
	c := b.addConnector(t, up.URL, bearer)
	b.storeToken(t, c, nil, "s3cret")

	b.mustSync(t, c)

	wantSent(t, up, "Bearer s3cret")
	list, err := b.Door().Connectors().Credentials(t.Context(), c.ID, storePage())
	if err != nil || list.Items[0].LastUsedAt == nil {
		t.Errorf("credentials = %+v, %v", list.Items, err)
	}
	if now := b.reload(t, c); now.AuthBehaviour != connectors.AuthUnknown {
		t.Errorf("auth behaviour = %s: an answer to a credential tells nothing", now.AuthBehaviour)
	}
}

func TestSync_RefusedCredentialNeedsAttention(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Bearer: "s3cret"})
	c := b.addConnector(t, up.URL, bearer)
	b.storeToken(t, c, nil, "wrong")

	_, err := b.run(t, c)

	f := wantFault(t, err, fault.Upstream, "unauthorized")
	if want := "The server refused the credential (401). Set a new one on the Credentials page."; f.Message != want {
		t.Errorf("message = %q", f.Message)
	}
	if now := b.reload(t, c); now.Status != connectors.StatusNeedsAuth {
		t.Errorf("status = %s", now.Status)
	}
}

func TestSync_SharedWithoutCredentialTriesAnonymously(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	open := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1)})
	c := b.addConnector(t, open.URL, bearer)
	b.mustSync(t, c)
	if now := b.reload(t, c); now.AuthBehaviour != connectors.AuthListOpen {
		t.Errorf("auth behaviour = %s", now.AuthBehaviour)
	}

	closed := newUpstream(t, mcptest.Script{Bearer: "s3cret"})
	c = b.addConnector(t, closed.URL, bearer)
	_, err := b.run(t, c)
	if f := wantFault(t, err, fault.Conflict, ""); f.Type != "credential-required" {
		t.Errorf("type = %q", f.Type)
	}
	now := b.reload(t, c)
	if now.Status != connectors.StatusNeedsAuth || now.AuthBehaviour != connectors.AuthAll {
		t.Errorf("status = %s, auth behaviour = %s", now.Status, now.AuthBehaviour)
	}
}

func TestSync_SendsTheNamedAgentsCredential(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), Bearer: "of-ann"})
	c, ann, bob := b.addConnector(t, up.URL, perAgent), b.Agent(t), b.Agent(t)
	b.storeToken(t, c, &ann.ID, "of-ann")

	run, err := b.runAs(t, c, &ann)
	if err != nil {
		t.Fatal(err)
	}
	if run.AgentID == nil || *run.AgentID != ann.ID {
		t.Errorf("agent = %v", run.AgentID)
	}
	wantSent(t, up, "Bearer of-ann")

	_, err = b.runAs(t, c, &bob)
	if f := wantFault(t, err, fault.Conflict, ""); f.Type != "credential-required" {
		t.Errorf("type = %q", f.Type)
	}
	wantSent(t, up, "Bearer of-ann") // not another agent's
}

func TestSync_PerAgentWithoutAgentTriesAnonymouslyFirst(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1)})
	c, ann := b.addConnector(t, up.URL, perAgent), b.Agent(t)
	b.storeToken(t, c, &ann.ID, "of-ann")

	b.mustSync(t, c)

	wantSent(t, up, "")
	if now := b.reload(t, c); now.AuthBehaviour != connectors.AuthListOpen {
		t.Errorf("auth behaviour = %s", now.AuthBehaviour)
	}
}

func TestSync_PerAgentWithoutAgentUsesTheLastCredential(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	behind := newUpstream(t, mcptest.Script{})
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), On: map[string]mcptest.Handler{"initialize": requireToken(behind)}})
	c, ann, bob := b.addConnector(t, up.URL, perAgent), b.Agent(t), b.Agent(t)
	b.storeToken(t, c, &bob.ID, "of-bob")
	b.storeToken(t, c, &ann.ID, "of-ann")
	if _, err := b.runAs(t, c, &bob); err != nil {
		t.Fatal(err)
	}

	b.mustSync(t, c)
	wantSent(t, up, "Bearer of-bob", "", "Bearer of-bob")
	if now := b.reload(t, c); now.AuthBehaviour != connectors.AuthAll {
		t.Errorf("auth behaviour = %s", now.AuthBehaviour)
	}

	b.mustSync(t, c) // stores that the list needs a credential
	wantSent(t, up, "Bearer of-bob", "", "Bearer of-bob", "Bearer of-bob")
}

// requireToken answers as s does to requests with any token.
func requireToken(s *mcptest.Server) mcptest.Handler {
	return func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		if r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		s.Default(w, r, c)
	}
}

func TestSync_PerAgentWithoutCredentialIsAConflict(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Bearer: "s3cret"})
	c := b.addConnector(t, up.URL, perAgent)
	_, err := b.run(t, c)
	if f := wantFault(t, err, fault.Conflict, ""); f.Type != "credential-required" {
		t.Errorf("type = %q", f.Type)
	}
	if run := b.lastRun(t, c); run.ErrorCode != "credential_required" {
		t.Errorf("run = %+v", run)
	}
	wantSent(t, up, "")
}

func TestSync_SendsNoCredentialOfAnotherAuthType(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1)})
	c := b.addConnector(t, up.URL, func(d *connectors.Draft) { d.Auth = connectors.Auth{Type: connectors.AuthAPIKey, Header: "X-Key"} })
	b.storeToken(t, c, nil, "a bearer token")
	b.mustSync(t, c)
	wantSent(t, up, "")
}

func TestSync_SendsExtraHeaders(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1)})
	c := b.addConnector(t, up.URL, func(d *connectors.Draft) { d.Headers = map[string]string{"X-Team": "eu"} })
	b.mustSync(t, c)
	for _, call := range up.Calls() {
		if call.Header.Get("X-Team") != "eu" || call.Header.Get("User-Agent") != "patchbay/test" {
			t.Errorf("%s had X-Team %q, User-Agent %q", call.Method, call.Header.Get("X-Team"), call.Header.Get("User-Agent"))
		}
	}
}

func TestSync_KeepsTheAccountOfTheGrant(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1)})
	c, ann := b.addConnector(t, up.URL, perAgent), b.Agent(t)
	for _, name := range []string{"work", "home"} {
		text, err := connectors.Secret{Token: secret.Text("of-" + name)}.Encode()
		must(t, err)
		must(t, b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
			ConnectorID: c.ID, AgentID: &ann.ID, Name: name, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: text,
		}))
	}
	b.Grant(t, ann.ID, c.ID, func(g *connectors.Grant) { g.Accounts = []string{"work"} })
	wait := b.BeforeQuery(t, "SealedCredentials", func() {
		must(t, b.Door().Tx(t.Context(), func(tx *store.Tenant) error {
			if err := tx.Accounts().Rename(t.Context(), c.ID, &ann.ID, "work", "was-work"); err != nil {
				return err
			}
			return tx.Accounts().Rename(t.Context(), c.ID, &ann.ID, "home", "work")
		}))
	})
	_, err := b.runAs(t, c, &ann)
	wait()
	if f := wantFault(t, err, fault.Conflict, ""); f.Type != credentials.TypeAccountChanged {
		t.Errorf("type = %q", f.Type)
	}
	wantSent(t, up)
}
