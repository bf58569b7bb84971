package connectors

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/admin/shell"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

func TestTheForecastCountsAndLeads(t *testing.T) {
	t.Parallel()
	one := store.ExpiringCredential{ConnectorSlug: "notes", ConnectorName: "Notes", EndsAt: noon.Add(5 * time.Hour)}
	ofAgent := one
	ofAgent.AgentSlug, ofAgent.AgentName = "support", "Support"
	at := shell.NewWhen(t.Context(), one.EndsAt, noon)
	want := &templates.ExpiringAccounts{Title: "2 accounts to reconnect", Rows: []templates.ExpiringAccountRow{
		{Connector: "Notes", Href: "/connectors/notes/credentials#credential-shared", State: "ends", When: at},
		{Connector: "Notes", Agent: "Support", Href: "/connectors/notes/credentials#credential-support", State: "ends", When: at},
	}}
	if diff := cmp.Diff(want, expiringAccountsView(t.Context(), []store.ExpiringCredential{one, ofAgent}, noon)); diff != "" {
		t.Error(diff)
	}
	for n, want := range map[int]string{1: "1 account to reconnect", MaxExpiring: "20+ accounts to reconnect"} {
		if have := expiringAccountsView(t.Context(), make([]store.ExpiringCredential, n), noon).Title; have != want {
			t.Errorf("%d: %q", n, have)
		}
	}
}
