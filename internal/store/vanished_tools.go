package store

import (
	"context"

	"patchbay/internal/connectors"
)

// noteVanished stores the loss of all or most tools of a connector with its notice, or counts those that returned.
func (t *tenant) noteVanished(ctx context.Context, id connectors.ConnectorID, d connectors.ToolDiff) error {
	_, before, vanished := d.Vanished()
	if !vanished {
		if d.HasReturned() {
			return t.q.RecountVanished(ctx, t.id, id)
		}
		return nil
	}
	loss, err := t.q.BeginVanish(ctx, int32(before), t.id, id)
	if err != nil {
		return rowError(err, "connector")
	}
	row, err := t.q.ConnectorName(ctx, t.id, id)
	if err != nil {
		return rowError(err, "connector")
	}
	name := connectors.ConnectorName{ID: id, Slug: row.Slug, Name: row.Name}
	return t.noticeWriter().addUnmerged(ctx, connectors.ToolsVanishedNotice(name, connectors.VanishedTools{
		Tools: int(loss.VanishedTools), Of: int(loss.VanishedOf),
	}, d.Removed))
}

// AcknowledgeVanished ends the loss of tools. A connector without one stays as it is.
func (t Tools) AcknowledgeVanished(ctx context.Context, id connectors.ConnectorID) error {
	return t.q.AcknowledgeVanished(ctx, t.id, id)
}
