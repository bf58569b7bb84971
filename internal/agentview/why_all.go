package agentview

import (
	"context"
	"time"

	"patchbay/internal/store"
)

// WhyAll returns [Cache.Why] for every tool of a granted connector, by upstream name; nil if the connector is
// not granted, or disabled. db is the snapshot in which the view was read.
func (c *Cache) WhyAll(ctx context.Context, db *store.Tenant, v *View, connector string) (map[string]Why, error) {
	reach := v.reaches[connector]
	if reach == nil {
		return nil, nil //nolint:nilnil // that is the answer
	}
	credential, err := newCredentialWhy(ctx, db, v, reach.Connector)
	if err != nil {
		return nil, err
	}
	now, whys := c.now(), make(map[string]Why, len(reach.tools))
	for name, t := range reach.tools {
		if v.tools[t.Exposed] == t { // the name of a removed tool may be taken
			w := v.Why(t.Exposed)
			w.Credential = credential
			whys[name] = w.withConclusions(now)
		}
	}
	return whys, nil
}

// withConclusions sets what follows from the tool, its credential and the time.
func (w Why) withConclusions(now time.Time) Why {
	if until := w.AllowedUntil; until != nil && !until.After(now) {
		w.AllowedUntil = nil
	}
	w.Asks = w.Asks && w.AllowedUntil == nil
	w.MayCall = w.State == StateOK && w.Credential.isUsable()
	w.Advice = w.adviceText()
	return w
}
