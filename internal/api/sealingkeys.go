package api

import (
	"context"
	"time"

	"patchbay/internal/auth"
)

// sealingKeysJSON is how the keys are that seal the tenant's secrets.
type sealingKeysJSON struct {
	Keys       []sealingKeyJSON `json:"keys" nullable:"false" doc:"Oldest first."`
	Unfinished bool             `json:"rotation_unfinished" doc:"A rotation is under way, or was interrupted: patchbay keys rotate ends it."`
	Own        bool             `json:"own" doc:"They are the tenant's own. false: the installation's key seals its secrets, until the operator has run patchbay keys rotate."`
	CreatedAt  time.Time        `json:"created_at" doc:"When the first key was made."`
	RotatedAt  *time.Time       `json:"rotated_at" doc:"null: never."`
}

// sealingKeyJSON is one of them, by its name alone.
type sealingKeyJSON struct {
	ID     string `json:"id" doc:"Its public id, in hexadecimal. It is no secret."`
	Seals  bool   `json:"seals" doc:"What is stored from now on; the others only open."`
	Sealed int    `json:"sealed" doc:"How many values of the tenant it has sealed."`
	Known  bool   `json:"known" doc:"It is at hand; what an unknown key has sealed does not open."`
}

func (h *Handler) getSealingKeys(ctx context.Context, who auth.Actor, _ *struct{}) (*answer[sealingKeysJSON], error) {
	keys, err := h.auth.SealingKeys(ctx, who)
	if err != nil {
		return nil, err
	}
	view := sealingKeysJSON{Keys: []sealingKeyJSON{}, Unfinished: keys.Unfinished, Own: keys.Own, CreatedAt: keys.MadeAt, RotatedAt: keys.RotatedAt}
	for _, k := range keys.Keys {
		view.Keys = append(view.Keys, sealingKeyJSON{ID: k.ID.String(), Seals: k.Seals, Sealed: k.Sealed, Known: !k.Gone})
	}
	return &answer[sealingKeysJSON]{Body: view}, nil
}
