package toolsync

import (
	"context"
	"log/slog"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// serverIcon is the icon that a session's server sent.
type serverIcon struct {
	icon  *connectors.Icon // nil: none that may be stored
	known bool             // the server was asked
}

func readIcon(session *mcp.Session) serverIcon {
	icons, known := session.Icons()
	return serverIcon{icon: connectors.ReadIcon(icons), known: known}
}

// saveIcon stores the icon if it is another one, as saveItems does with items.
func (r *run) saveIcon(ctx context.Context) {
	hash := r.icon.icon.Hash()
	if !r.icon.known || equalHashes(hash, r.connector.IconHash) {
		return
	}
	err := r.store.RetryStarted(ctx, func(ctx context.Context) error {
		return r.store.Tenant(r.tenant).Connectors().SaveIcon(ctx, r.connector.ID, r.icon.icon)
	})
	if err != nil {
		r.log.WarnContext(ctx, "icon not stored", slog.String("connector_id", r.connector.ID.String()), slog.Any("error", err))
		return
	}
	r.connector.IconHash = hash
}
