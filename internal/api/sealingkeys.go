package api

import (
	"context"
	"time"

	"patchbay/internal/auth"
)

// sealingKeysJSON is the state of the tenant's sealing keys.
type sealingKeysJSON struct {
	Keys       []sealingKeyJSON `json:"keys" nullable:"false" doc:"Oldest first."`
	Unfinished bool             `json:"rotation_unfinished" doc:"Whether a rotation is running or was interrupted. Finish it with patchbay keys rotate."`
	Own        bool             `json:"own" doc:"Whether the tenant has its own keys. false: the installation's key is used until the operator runs patchbay keys rotate."`
	CreatedAt  time.Time        `json:"created_at" doc:"When the first key was created."`
	RotatedAt  *time.Time       `json:"rotated_at" doc:"Null if never."`
}

// sealingKeyJSON is one key, by its name.
type sealingKeyJSON struct {
	ID     string `json:"id" doc:"Public id in hex, not secret."`
	Seals  bool   `json:"seals" doc:"Whether new values are encrypted with it. Other keys only decrypt."`
	Sealed int    `json:"sealed" doc:"Number of the tenant's values encrypted with it."`
	Known  bool   `json:"known" doc:"Whether the key is available. Values of an unknown key cannot be decrypted."`
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
