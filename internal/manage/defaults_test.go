package manage_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
)

func TestCreate_UsesTenantDefaults(t *testing.T) {
	t.Parallel()
	b := newCatalogEnv(t)
	own := connectors.Defaults{
		Approval: connectors.ApprovalTrustedOnly, SyncInterval: time.Hour, ToolChanges: connectors.ToolChangesHoldAll, Listen: connectors.ListenOff,
	}
	if err := b.Door().SetDefaults(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	b.admin.Tenant.Defaults = own
	begins := func(c connectors.Connector) connectors.Defaults {
		return connectors.Defaults{Approval: own.Approval, SyncInterval: c.SyncInterval, DefinitionAge: c.DefinitionAge, ToolChanges: c.ToolChanges, Listen: c.Listen}
	}
	offered, _, err := b.reg.AddOffer(t.Context(), b.admin, "linear")
	if err != nil {
		t.Fatal(err)
	}
	report, err := b.reg.Import(t.Context(), b.admin, []byte(`{"mcpServers": {"imported": {"url": "https://imported.example.com/"}}}`), manage.ImportOptions{})
	if err != nil || report.Count(manage.Created) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	for name, c := range map[string]connectors.Connector{"of the catalog": offered, "imported": *report.Entries[0].Connector} {
		if diff := cmp.Diff(own, begins(c)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	agent, err := b.reg.CreateAgent(t.Context(), b.admin, connectors.Agent{Name: "Support"})
	if err != nil || agent.Approval != own.Approval {
		t.Errorf("%+v, %v", agent, err)
	}
	said, err := b.reg.CreateAgent(t.Context(), b.admin, connectors.Agent{Name: "Sales", Approval: connectors.ApprovalAlwaysAsk})
	if err != nil || said.Approval != connectors.ApprovalAlwaysAsk {
		t.Errorf("%+v, %v", said, err)
	}
}

func TestExport_IsIndependentOfDefaults(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.create(t, connectors.Secret{})
	elsewhere := connectors.Defaults{Approval: connectors.ApprovalAuto, SyncInterval: time.Hour, ToolChanges: connectors.ToolChangesAuto, Listen: connectors.ListenOff}
	file, err := b.reg.Export(t.Context(), b.admin, clientconfig.Generic)
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	b.admin.Tenant.Defaults = elsewhere
	report, err := b.reg.Import(t.Context(), b.admin, document, manage.ImportOptions{})
	if err != nil || report.Count(manage.Created) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	again := report.Entries[0].Connector
	if again.SyncInterval != c.SyncInterval || again.DefinitionAge != c.DefinitionAge || again.ToolChanges != c.ToolChanges || again.Listen != c.Listen {
		t.Errorf("%+v, was %+v", again, c)
	}
}
