package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Items lists a connector's prompts, resources and templates, each kind in the server's order.
func (t Connectors) Items(ctx context.Context, id connectors.ConnectorID) ([]connectors.Item, error) {
	rows, err := t.q.ConnectorItems(ctx, t.id, id)
	if err != nil {
		return nil, err
	}
	items := make([]connectors.Item, len(rows))
	for i, r := range rows {
		items[i] = connectors.Item{Kind: r.Kind, Key: r.Key, Raw: r.Raw}
	}
	return items, nil
}

// SaveItems replaces a connector's items. Later syncs compare with hash.
func (t Connectors) SaveItems(ctx context.Context, id connectors.ConnectorID, hash *connectors.Hash, items []connectors.Item) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.SetItemsHash(ctx, hashBytes(hash), tx.id, id)
		if err := affectedError(n, err, "connector"); err != nil {
			return err
		}
		err = tx.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
			if err := q.DeleteItems(ctx, tx.id, id); err != nil || len(items) == 0 {
				return err
			}
			return q.InsertItems(ctx, tx.itemColumns(id, items))
		})
		return tx.notifyChange(err, "connector", id)
	})
}

func (t *tenant) itemColumns(id connectors.ConnectorID, itemColumns []connectors.Item) dbgen.InsertItemsParams {
	p := dbgen.InsertItemsParams{TenantID: t.id, ConnectorID: id}
	for i, item := range itemColumns {
		p.Kinds = append(p.Kinds, string(item.Kind))
		p.Positions = append(p.Positions, int32(i+1))
		p.Keys = append(p.Keys, cleanText(item.Key))
		p.Raws = append(p.Raws, item.Raw)
	}
	return p
}

func hashBytes(h *connectors.Hash) []byte {
	if h == nil {
		return nil
	}
	return h[:]
}
