package agentview

import (
	"context"
	"time"

	"patchbay/internal/store"
)

// ExplainTools returns [Cache.ExplainTool] for every tool of a granted connector, by upstream name; nil if the connector is
// not granted, or disabled. db is the snapshot in which the view was read.
func (c *Cache) ExplainTools(ctx context.Context, db store.Agents, v *View, connector string) (map[string]ToolAccess, error) {
	reach := v.connectors[connector]
	if reach == nil {
		return nil, nil //nolint:nilnil // that is the answer
	}
	credential, err := newCredentialWhy(ctx, db, v.Agent.ID, reach)
	if err != nil {
		return nil, err
	}
	now, whys := c.now(), make(map[string]ToolAccess, len(reach.tools))
	for name, t := range reach.tools {
		if v.tools[t.Exposed] == t { // the name of a removed tool may be taken
			w := v.ExplainTool(t.Exposed)
			w.Credential = credential
			whys[name] = w.withConclusions(now)
		}
	}
	return whys, nil
}

// withConclusions sets what follows from the tool, its credential and the time.
func (w ToolAccess) withConclusions(now time.Time) ToolAccess {
	if until := w.AllowedUntil; until != nil && !until.After(now) {
		w.AllowedUntil = nil
	}
	w.NeedsApproval = w.NeedsApproval && w.AllowedUntil == nil
	w.Callable = w.State == StateOK && w.Credential.isUsable()
	w.Advice = w.adviceText()
	return w
}
