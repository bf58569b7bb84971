package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Icon reads the icon of a connector's server. It fails with NotFound if none is stored.
func (t Connectors) Icon(ctx context.Context, id connectors.ConnectorID) (connectors.Icon, error) {
	row, err := t.q.ConnectorIcon(ctx, t.id, id)
	return connectors.Icon{MediaType: row.MediaType, Picture: row.Picture}, rowError(err, "icon")
}

// Icons reads the icons of some connectors' servers. Connectors without one are left out; if none has one, nothing is read.
func (t Connectors) Icons(ctx context.Context, of []connectors.Connector) (map[connectors.ConnectorID]connectors.Icon, error) {
	var ids []connectors.ConnectorID
	for _, c := range of {
		if c.IconHash != nil {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // that is the answer
	}
	rows, err := t.q.ConnectorIcons(ctx, t.id, connectorUUIDs(ids))
	icons := make(map[connectors.ConnectorID]connectors.Icon, len(rows))
	for _, r := range rows {
		icons[r.ConnectorID] = connectors.Icon{MediaType: r.MediaType, Picture: r.Picture}
	}
	return icons, err
}

// ConnectorMark is what shows a connector in a list besides its name.
type ConnectorMark struct {
	URL      string
	IconHash *connectors.Hash // nil: its server sent no icon
}

// Marks reads the marks of some connectors, by slug.
func (t Connectors) Marks(ctx context.Context, slugs []string) (map[string]ConnectorMark, error) {
	if len(slugs) == 0 {
		return nil, nil //nolint:nilnil // that is the answer
	}
	rows, err := t.q.ConnectorMarks(ctx, t.id, slugs)
	marks := make(map[string]ConnectorMark, len(rows))
	for _, r := range rows {
		marks[r.Slug] = ConnectorMark{URL: r.Url, IconHash: toHash(r.IconHash)}
	}
	return marks, err
}

// SaveIcon replaces the icon of a connector's server. nil: it has none any more.
func (t Connectors) SaveIcon(ctx context.Context, id connectors.ConnectorID, icon *connectors.Icon) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.SetIconHash(ctx, hashBytes(icon.Hash()), tx.id, id) // locks the connector
		if err := affectedError(n, err, "connector"); err != nil {
			return err
		}
		if icon == nil {
			err = tx.q.DeleteIcon(ctx, tx.id, id)
		} else {
			err = tx.q.PutIcon(ctx, dbgen.PutIconParams{TenantID: tx.id, ConnectorID: id, MediaType: icon.MediaType, Picture: icon.Picture})
		}
		return tx.notifyChange(err, "connector", id)
	})
}
