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

const (
	mostUnused     = 2 // looks for unused tools of one tenant at once: each goes through the calls of weeks
	unusedPatience = 2 * time.Second
)

// Unused looks for tools that an agent sees and has not called since then. It is a look at the past alone: nothing is taken away. A tenant
// has two looks at once; it is Unavailable for whoever waited two seconds for a turn.
func (k *Keeper) Unused(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref, since time.Time) (Unused, error) {
	leave, err := k.looks.enter(ctx, tenant, mostUnused, unusedPatience)
	if err != nil {
		return Unused{}, err
	}
	defer leave()
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
