package api

import (
	"context"
	"time"

	"patchbay/internal/auth"
)

// sealingKeysJSON is the state of the tenant's sealing keys.
type sealingKeysJSON struct {
	Keys       []sealingKeyJSON `json:"keys" nullable:"false" doc:"Oldest first."`
	Unfinished bool             `json:"rotation_unfinished" doc:"A rotation is under way, or was interrupted: patchbay keys rotate ends it."`
	Own        bool             `json:"own" doc:"They are the tenant's own. false: the installation's key seals its secrets, until the operator has run patchbay keys rotate."`
	CreatedAt  time.Time        `json:"created_at" doc:"When the first key was made."`
	RotatedAt  *time.Time       `json:"rotated_at" doc:"null: never."`
}

// sealingKeyJSON is one key, by its name.
type sealingKeyJSON struct {
	ID     string `json:"id" doc:"Its public id, in hexadecimal. It is no secret."`
	Seals  bool   `json:"seals" doc:"What is stored from now on; the others only open."`
	Sealed int    `json:"sealed" doc:"How many values of the tenant it has sealed."`
	Known  bool   `json:"known" doc:"It is at hand; what an unknown key has sealed does not open."`
}

func (h *Handler) getSealingKeys(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[sealingKeysJSON], error) {
	keys, err := h.auth.SealingKeys(ctx, actor)
	if err != nil {
		return nil, err
	}
	view := sealingKeysJSON{Keys: []sealingKeyJSON{}, Unfinished: keys.Unfinished, Own: keys.Own, CreatedAt: keys.MadeAt, RotatedAt: keys.RotatedAt}
	for _, k := range keys.Keys {
		view.Keys = append(view.Keys, sealingKeyJSON{ID: k.ID.String(), Seals: k.IsPrimary, Sealed: k.Sealed, Known: !k.IsUnknown})
	}
	return &response[sealingKeysJSON]{Body: view}, nil
}
