package toolsync_test

import (
	"slices"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
)

func TestPing_AsksServerAndStoresNothing(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]mcptest.Script{
		"ping":            {Bearer: "s3cret"}, // which mcptest refuses as an unknown method
		"server/discover": {Bearer: "s3cret", Modern: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			up := newUpstream(t, script)
			c := b.addConnector(t, up.URL, bearer)
			b.storeToken(t, c, nil, "s3cret")

			got, err := b.sync.Ping(t.Context(), b.Tenant, nil, connectors.Ref(c.Slug), nil)

			if err != nil || got.Error != nil || got.Server.Name != "mcptest" || got.Connect <= 0 || got.Ping <= 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			if methods := up.Methods(); !slices.Contains(methods, name) || slices.Contains(methods, "tools/list") {
				t.Errorf("the server got %v", methods)
			}
			if after := b.reload(t, c); after.ToolsLastSyncedAt != nil {
				t.Errorf("a ping counts as a sync: %+v", after)
			}
		})
	}
}

func TestPing_ReportsServerErrors(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"ping": mcptest.Status(503, remoteText)}})
	c := b.addConnector(t, up.URL)

	got, err := b.sync.Ping(t.Context(), b.Tenant, nil, connectors.Ref(c.Slug), nil)

	if err != nil || got.Error == nil || got.Error.Remote.HTTPStatus != 503 || got.Error.Remote.Said != remoteText {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestPing_RefusesDisabledAndForeignConnectors(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.Connector(t, func(d *connectors.Draft) { d.Enabled = false })
	if _, err := b.sync.Ping(t.Context(), b.Tenant, nil, connectors.Ref(c.Slug), nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("disabled: %v", err)
	}
	if _, err := b.sync.Ping(t.Context(), b.Other, nil, connectors.Ref(c.ID.String()), nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("foreign: %v", err)
	}
}
