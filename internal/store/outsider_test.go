package store_test

import (
	"context"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// newOutsider fills the victim's tenant with a row of every kind.
func newOutsider(t *testing.T) outsider {
	t.Helper()
	w := fixture.New(t)
	o := outsider{World: w, door: w.OtherDoor(), vault: w.St.Vault(w.Other)}
	o.connector = w.Connector(t)
	o.agent = w.Agent(t)
	o.member = w.Member(t, connectors.RoleOwner)
	o.key = w.APIKey(t, connectors.RoleAdmin)
	w.Credential(t, o.connector.ID, &o.agent.ID, "the victim's token")
	list, err := w.Door().Connectors().Credentials(t.Context(), o.connector.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	o.credential = list.Items[0]
	o.done = w.Synced(t, o.connector.ID, "search")
	prompts := []connectors.Item{{Kind: connectors.ItemPrompt, Key: "prompt", Raw: []byte(`{"name":"prompt"}`)}}
	if _, err := w.Door().Connectors().SaveItems(t.Context(), o.connector.ID, connectors.HashItems(prompts), prompts); err != nil {
		t.Fatal(err)
	}
	w.SkillIn(t, w.Tenant, o.connector.ID, true)
	o.fillAPI(t)
	if o.queued, err = w.Door().Syncs().Queue(t.Context(), store.NewRun{ConnectorID: o.connector.ID, Trigger: connectors.TriggerManual}); err != nil {
		t.Fatal(err)
	}
	busy := w.Connector(t)
	w.Synced(t, busy.ID, "search")
	o.running = w.Run(t, busy.ID)
	o.fillOAuth(t, busy)
	o.fillAccess(t)
	o.fillApprovals(t)
	o.fillChanges(t)
	o.fillNotices(t)
	o.fillStream(t)
	o.fillInvitations(t)
	o.fillAccessRequests(t)
	o.fillSessions(t)
	o.fillSSO(t)
	o.fillClients(t)
	o.fillAccounts(t)
	o.fillRegistries(t)
	o.fillSCIM(t)
	o.fillWorkloads(t)
	o.fillAuditStreams(t)
	o.fillExchanges(t)
	return o
}

// wantUntouched holds the victim's rows against what they were.
func (o outsider) wantUntouched(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	c, err := o.Door().Connectors().Get(ctx, connectors.Ref(o.connector.ID.String()))
	if err != nil || c.Version != o.connector.Version || len(c.DiscoveredTools) != 1 {
		t.Errorf("connector = %+v, %v", c, err)
	}
	if tools, err := o.Door().APIs().Tools(ctx, o.connector.ID); err != nil || len(tools) != 1 || tools[0].Name != "" {
		t.Errorf("tools of the API = %+v, %v", tools, err)
	}
	if run, err := o.Door().Syncs().Get(ctx, o.running.ID); err != nil || run.State != connectors.SyncRunning {
		t.Errorf("running run = %+v, %v", run, err)
	}
	if m, err := o.Door().People().Member(ctx, o.member.UserID); err != nil || m.Role != connectors.RoleOwner {
		t.Errorf("member = %+v, %v", m, err)
	}
	if _, text, err := o.St.Vault(o.Tenant).Secret(ctx, o.connector.ID, &o.agent.ID); err != nil || text.Reveal() != "the victim's token" {
		t.Errorf("secret: %v", err)
	}
}

// auditEvents counts the events of the outsider's tenant; -1: of the victim's there is one, besides that of its own signing key.
func auditEvents(ctx context.Context, o outsider) int {
	var mine, theirs int
	err := asSystem(ctx, o.Pool, `select count(*) filter (where tenant_id = $1), count(*) filter (where tenant_id = $2 and action <> 'signing_key.create') from audit_events`,
		[]any{o.Other, o.Tenant}, &mine, &theirs)
	if err != nil || theirs > 0 {
		return -1
	}
	return mine
}
