package access_test

import (
	"testing"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestATokenOpensItsAgentsView(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	agent, c := b.granted(t, "search")
	v, token, err := b.keeper.ByToken(t.Context(), b.Token(t, agent.ID))
	if err != nil {
		t.Fatal(err)
	}
	if v.Agent.ID != agent.ID || v.Tenant.ID != b.Tenant || token.AgentID != agent.ID {
		t.Errorf("view of %v in %v", v.Agent.ID, v.Tenant.ID)
	}
	if v.Tool(connectors.ExposedName(c.Slug, "search")) == nil {
		t.Errorf("tools: %v", exposed(v))
	}
}

func TestAWarmTokenAsksTheDatabaseNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	agent, _ := b.granted(t, "search")
	text := b.Token(t, agent.ID)
	b.settle(t)
	v := b.byToken(t, text)
	soon(t, "the use is noted", func() bool {
		list, err := b.Door().AgentTokens(t.Context(), agent.ID, store.Page{})
		return err == nil && list.Items[0].LastUsedAt != nil
	})
	soon(t, "100 requests run no query", func() bool { // but for those of the keeper's own time, which may fall among them
		before := b.Queries()
		for range 100 {
			if b.byToken(t, text) != v {
				t.Fatal("another view")
			}
		}
		return b.Queries() == before
	})
}

func TestAColdTokenCostsThreeRoundTrips(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	agent, _ := b.granted(t, "search", "create")
	text := b.Token(t, agent.ID)
	k := access.New(access.Options{Store: b.St})
	before := b.RoundTrips()
	if _, _, err := k.ByToken(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	if n := b.RoundTrips() - before; n != 3 { // the token, the view, the definitions
		t.Errorf("%d round trips", n)
	}
}

func TestTextsThatAreNoTokenAreRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	agent, _ := b.granted(t)
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
		_, _, err := b.keeper.ByToken(t.Context(), secret.Text(text))
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

func TestATokenIsOutWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	now := time.Now()
	k := hearing(t, w.St, access.Options{Now: func() time.Time { return now }})
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

// Each of these is a change in one process, and is out in another one within a second.
func TestWhatEndsATokenIsFeltByOtherProcesses(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bundle, agent connectors.Agent, token connectors.AgentToken) error{
		"it is revoked": func(b *bundle, agent connectors.Agent, token connectors.AgentToken) error {
			_, err := b.Door().DeleteAgentToken(b.ctx, agent.ID, token.ID)
			return err
		},
		"the agent is disabled": func(b *bundle, agent connectors.Agent, _ connectors.AgentToken) error {
			agent.Enabled = false
			_, err := b.Door().UpdateAgent(b.ctx, agent)
			return err
		},
		"the agent is deleted": func(b *bundle, agent connectors.Agent, _ connectors.AgentToken) error {
			return b.Door().DeleteAgent(b.ctx, agent.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			other := hearing(t, b.process(t), access.Options{})
			agent, _ := b.granted(t, "search")
			text, token := b.TokenIn(t, b.Tenant, agent.ID)
			for _, k := range []*access.Keeper{b.keeper, other} {
				if _, _, err := k.ByToken(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
			if err := end(b, agent, token); err != nil {
				t.Fatal(err)
			}
			for _, k := range []*access.Keeper{b.keeper, other} {
				soon(t, name, func() bool {
					_, _, err := k.ByToken(t.Context(), text)
					return fault.Is(err, fault.Unauthenticated)
				})
			}
		})
	}
}

func TestTenantsDoNotMeetInOneKeeper(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	agent, _ := b.granted(t, "search")
	their := b.AgentIn(t, b.Other)
	theirs, _ := b.TokenIn(t, b.Other, their.ID)
	if v := b.byToken(t, theirs); v.Tenant.ID != b.Other || len(v.Tools) != 0 {
		t.Errorf("the other tenant sees %v", exposed(v))
	}
	_, err := b.keeper.ByAgent(t.Context(), b.Other, connectors.Ref(agent.ID.String()))
	wantKind(t, err, fault.NotFound)
	_, err = b.keeper.ByAgent(t.Context(), b.Other, connectors.Ref(agent.Slug))
	wantKind(t, err, fault.NotFound)
}

func TestAChangeIsThereWhenTheOneWhoMadeItIsAnswered(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	agent, c := b.granted(t, "search")
	for range 50 {
		b.view(t, agent.ID)
		if err := b.Door().DropAgentGrant(t.Context(), agent.ID, c.ID); err != nil {
			t.Fatal(err)
		}
		if v := b.view(t, agent.ID); len(v.Tools) != 0 {
			t.Fatalf("still there: %v", exposed(v))
		}
		b.Grant(t, agent.ID, c.ID)
		if v := b.view(t, agent.ID); len(v.Tools) != 1 {
			t.Fatal("not there yet")
		}
	}
}

func TestATokenThatNobodyKnowsIsLookedForOnceASecond(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	agent, _ := b.granted(t, "search")
	text := b.Token(t, agent.ID)
	list, err := b.Door().AgentTokens(t.Context(), agent.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Door().DeleteAgentToken(t.Context(), agent.ID, list.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	k := access.New(access.Options{Store: b.St, Now: func() time.Time { return now }})
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
