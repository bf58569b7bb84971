package manage_test

import (
	"context"
	"errors"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/manage"
)

func TestPreviewShaping_WaitsForItsPlace(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	b.Synced(t, c.ID, "search")
	b.Grant(t, agent.ID, c.ID)
	ref := manage.ShapingRef{Agent: connectors.Ref(agent.Slug), Connector: connectors.Ref(c.Slug), Tool: "search"}
	release := b.reg.HoldPreviews(b.Tenant)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.reg.PreviewShaping(ctx, b.admin, ref, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("without a place: %v", err)
	}
	release()
	if _, err := b.reg.PreviewShaping(t.Context(), b.admin, ref, &connectors.Shaping{Budget: 500}); err != nil {
		t.Errorf("with a place: %v", err)
	}
}
