package access

import (
	"context"
	"time"

	"patchbay/internal/store"
)

// Whys says of each tool of a connector that the agent was granted, by the upstream's name, what [Keeper.Why] says of one. There is nothing
// to say where the connector is not granted, or disabled. The door is a snapshot's, in which the view was read.
func (k *Keeper) Whys(ctx context.Context, door *store.Tenant, v *View, connector string) (map[string]Why, error) {
	reach := v.reaches[connector]
	if reach == nil {
		return nil, nil //nolint:nilnil // that is the answer
	}
	credential, err := credentialWhy(ctx, door, v, reach.Connector)
	if err != nil {
		return nil, err
	}
	now, whys := k.now(), make(map[string]Why, len(reach.tools))
	for name, t := range reach.tools {
		if v.tools[t.Exposed] == t { // another has taken the name of one that is gone
			w := v.Why(t.Exposed)
			w.Credential = credential
			whys[name] = w.concluded(now)
		}
	}
	return whys, nil
}

// concluded draws the conclusions from what is known of the tool, its credential and the time.
func (w Why) concluded(now time.Time) Why {
	if until := w.AllowedUntil; until != nil && !until.After(now) {
		w.AllowedUntil = nil
	}
	w.Asks = w.Asks && w.AllowedUntil == nil
	w.MayCall = w.State == StateOK && w.Credential.usable()
	w.Advice = w.advice()
	return w
}
