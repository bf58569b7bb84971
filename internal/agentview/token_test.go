package agentview_test

import (
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestByToken_ReturnsAgentView(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	v, token, err := b.cache.ByToken(t.Context(), b.Token(t, agent.ID))
	if err != nil {
		t.Fatal(err)
	}
	if v.Agent.ID != agent.ID || v.Tenant.ID != b.Tenant || token.AgentID != agent.ID {
		t.Errorf("view of %v in %v", v.Agent.ID, v.Tenant.ID)
	}
	if v.Tool(connectors.ExposedName(c.Slug, "search")) == nil {
		t.Errorf("tools: %v", exposedNames(v))
	}
}

func TestByToken_WarmTokenNeedsNoQuery(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, _ := b.newGrantedAgent(t, "search")
	text := b.Token(t, agent.ID)
	b.waitForNotices(t)
	v := b.byToken(t, text)
	eventually(t, "the use is noted", func() bool {
		list, err := b.Door().Agents().Tokens(t.Context(), agent.ID, store.Page{})
		return err == nil && list.Items[0].LastUsedAt != nil
	})
	eventually(t, "100 requests run no query", func() bool { // but for the cache's own queries
		before := b.Queries()
		for range 100 {
			if b.byToken(t, text) != v {
				t.Fatal("another view")
			}
		}
		return b.Queries() == before
	})
}

func TestByToken_ColdTokenCostsThreeRoundTrips(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, _ := b.newGrantedAgent(t, "search", "create")
	text := b.Token(t, agent.ID)
	k := agentview.New(agentview.Options{Store: b.St})
	before := b.RoundTrips()
	if _, _, err := k.ByToken(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	if n := b.RoundTrips() - before; n != 3 { // the token, the view, the definitions
		t.Errorf("%d round trips", n)
	}
}

func TestByToken_RefusesMalformedTokens(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, _ := b.newGrantedAgent(t)
	whole := b.Token(t, agent.ID).Reveal()
	made := secret.NewBearer(secret.AgentBearer, [16]byte{1})
	for name, text := range map[string]string{
		"empty":        "",
		"cut":          whole[:len(whole)-1],
		"longer":       whole + "a",
		"another end":  whole[:len(whole)-8] + "00000000",
		"an API key":   secret.NewBearer(secret.KeyBearer, [16]byte{1}).Text().Reveal(),
		"made up":      made.Text().Reveal(),
		"other secret": secret.NewBearer(secret.AgentBearer, idOf(t, whole)).Text().Reveal(),
	} {
		_, _, err := b.cache.ByToken(t.Context(), secret.Text(text))
		if wantKind(t, err, fault.Unauthenticated); t.Failed() {
			t.Errorf("%s", name)
		}
	}
}

func idOf(t *testing.T, text string) [16]byte {
	t.Helper()
	b, ok := secret.ParseBearer(secret.AgentBearer, secret.Text(text))
	if !ok {
		t.Fatal("no token")
	}
	return b.ID
}

func TestByToken_RefusesExpiredToken(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	now := time.Now()
	k := newConnectedCache(t, w.St, agentview.Options{Now: func() time.Time { return now }})
	agent := w.Agent(t)
	end := now.Add(time.Minute)
	text := w.Token(t, agent.ID, func(n *store.NewAgentToken) { n.ExpiresAt = &end })
	if _, _, err := k.ByToken(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	now = end
	_, _, err := k.ByToken(t.Context(), text)
	wantKind(t, err, fault.Unauthenticated)
}

// Each change is made by one process and takes effect in another within a second.
func TestTokenRevocation_ReachesOtherProcesses(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *testEnv, agent connectors.Agent, token connectors.AgentToken) error{
		"it is revoked": func(b *testEnv, agent connectors.Agent, token connectors.AgentToken) error {
			_, err := b.Door().Agents().DeleteToken(b.ctx, agent.ID, token.ID)
			return err
		},
		"the agent is disabled": func(b *testEnv, agent connectors.Agent, _ connectors.AgentToken) error {
			agent.Enabled = false
			_, err := b.Door().Agents().Update(b.ctx, agent)
			return err
		},
		"the agent is deleted": func(b *testEnv, agent connectors.Agent, _ connectors.AgentToken) error {
			return b.Door().Agents().Delete(b.ctx, agent.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			other := newConnectedCache(t, b.openOtherStore(t), agentview.Options{})
			agent, _ := b.newGrantedAgent(t, "search")
			text, token := b.TokenIn(t, b.Tenant, agent.ID)
			for _, k := range []*agentview.Cache{b.cache, other} {
				if _, _, err := k.ByToken(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			if err := end(b, agent, token); err != nil {
				t.Fatal(err)
			}
			for _, k := range []*agentview.Cache{b.cache, other} {
				eventually(t, name, func() bool {
					_, _, err := k.ByToken(t.Context(), text)
					return fault.Is(err, fault.Unauthenticated)
				})
			}
		})
	}
}

func TestCache_SeparatesTenants(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, _ := b.newGrantedAgent(t, "search")
	their := b.AgentIn(t, b.Other)
	theirs, _ := b.TokenIn(t, b.Other, their.ID)
	if v := b.byToken(t, theirs); v.Tenant.ID != b.Other || len(v.Tools) != 0 {
		t.Errorf("the other tenant sees %v", exposedNames(v))
	}
	_, err := b.cache.ByAgent(t.Context(), b.Other, connectors.Ref(agent.ID.String()))
	wantKind(t, err, fault.NotFound)
	_, err = b.cache.ByAgent(t.Context(), b.Other, connectors.Ref(agent.Slug))
	wantKind(t, err, fault.NotFound)
}

func TestChange_IsVisibleWhenRequestReturns(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	for range 50 {
		b.view(t, agent.ID)
		if err := b.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
			t.Fatal(err)
		}
		if v := b.view(t, agent.ID); len(v.Tools) != 0 {
			t.Fatalf("still there: %v", exposedNames(v))
		}
		b.Grant(t, agent.ID, c.ID)
		if v := b.view(t, agent.ID); len(v.Tools) != 1 {
			t.Fatal("not there yet")
		}
	}
}

func TestUnknownToken_IsQueriedOncePerSecond(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, _ := b.newGrantedAgent(t, "search")
	text := b.Token(t, agent.ID)
	list, err := b.Door().Agents().Tokens(t.Context(), agent.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Door().Agents().DeleteToken(t.Context(), agent.ID, list.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	k := agentview.New(agentview.Options{Store: b.St, Now: func() time.Time { return now }})
	asked := func() (n int64) {
		t.Helper()
		before := b.Queries()
		_, _, err := k.ByToken(t.Context(), text)
		wantKind(t, err, fault.Unauthenticated)
		return b.Queries() - before
	}
	first := asked()
	if again := asked(); first == 0 || again != 0 {
		t.Errorf("%d queries, then %d", first, again)
	}
	if now = now.Add(time.Second); asked() != first {
		t.Error("it is not looked for any more")
	}
}
