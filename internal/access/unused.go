package access

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// Unused is what an agent was granted and did not call.
type Unused struct {
	View  *View
	Since time.Time
	Tools []*Tool // that it sees, could call all the time since then, and did not
	Young int     // it sees besides, but was granted, or its server listed, only since then: too early to tell
	Use   store.ToolUse
}

// Unused looks for tools that an agent sees and has not called since then. It is a look at the past alone: nothing is taken away.
func (k *Keeper) Unused(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref, since time.Time) (Unused, error) {
	view, err := k.Fresh(ctx, tenant, agent)
	if err != nil {
		return Unused{}, err
	}
	use, err := k.store.Tenant(tenant).ToolUse(ctx, view.Agent.ID, since)
	if err != nil {
		return Unused{}, err
	}
	return view.unused(use, since), nil
}

func (v *View) unused(use store.ToolUse, since time.Time) Unused {
	u := Unused{View: v, Since: since, Use: use}
	for _, t := range v.Tools {
		key := store.ToolKey{ConnectorID: t.Reach.Connector.ID, Tool: t.Name}
		switch _, called := use.Called[key]; {
		case called:
		case use.New[key] || t.Reach.Grant.CreatedAt.After(since):
			u.Young++
		default:
			u.Tools = append(u.Tools, t)
		}
	}
	return u
}
