package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

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

// ItemFilter selects items of a connector.
type ItemFilter struct {
	Connector connectors.ConnectorID
	Kind      connectors.ItemKind
	Query     string // a text in key, name, title or description; empty: all items
	Page
}

// ListItems lists a connector's items of one kind in the server's order. With a query it reads all of them, which are
// at most 8 MiB.
func (t Connectors) ListItems(ctx context.Context, f ItemFilter) (List[connectors.StoredItem], error) {
	list, _, err := t.itemPage(ctx, f)
	return list, err
}

// ItemPage is ListItems with the number of items on all pages.
func (t Connectors) ItemPage(ctx context.Context, f ItemFilter) (list List[connectors.StoredItem], total int, err error) {
	err = t.asTenant().Snapshot(ctx, func(tx *Tenant) error {
		if list, total, err = tx.Connectors().itemPage(ctx, f); err != nil || strings.TrimSpace(f.Query) != "" {
			return err
		}
		counts, err := tx.Connectors().CountItems(ctx, f.Connector)
		total = counts.Of(f.Kind).Total
		return err
	})
	return list, total, err
}

// itemPage also returns the number of items that match the query, on all pages.
func (t Connectors) itemPage(ctx context.Context, f ItemFilter) (List[connectors.StoredItem], int, error) {
	at, err := f.parseCursor("items", 1)
	if err != nil {
		return List[connectors.StoredItem]{}, 0, err
	}
	after := int64(0)
	if at != nil {
		if after, err = strconv.ParseInt(at[0], 10, 32); err != nil {
			return List[connectors.StoredItem]{}, 0, newCursorError(err)
		}
	}
	p := dbgen.ConnectorItemPageParams{TenantID: t.id, ConnectorID: f.Connector, Kind: f.Kind, AfterPosition: int32(after)}
	query, matching := strings.TrimSpace(f.Query), 0
	if query == "" {
		p.MaxRows = new(f.rowLimit())
	} else {
		p.AfterPosition = 0
	}
	rows, err := t.q.ConnectorItemPage(ctx, p)
	if err != nil {
		return List[connectors.StoredItem]{}, 0, err
	}
	item := func(r dbgen.ConnectorItemPageRow) connectors.StoredItem { return toStoredItem(f.Kind, r) }
	if query != "" {
		rows = slices.DeleteFunc(rows, func(r dbgen.ConnectorItemPageRow) bool { return !item(r).Matches(query) })
		matching = len(rows)
		rows = slices.DeleteFunc(rows, func(r dbgen.ConnectorItemPageRow) bool { return int64(r.Position) <= after })
		rows = rows[:min(len(rows), int(f.rowLimit()))]
	}
	position := func(r dbgen.ConnectorItemPageRow) []string { return []string{strconv.Itoa(int(r.Position))} }
	return newList(f.Page, rows, item, "items", position), matching, nil
}

func toStoredItem(kind connectors.ItemKind, r dbgen.ConnectorItemPageRow) connectors.StoredItem {
	return connectors.StoredItem{
		Item: connectors.Item{Kind: kind, Key: r.Key, Raw: r.Raw}, FirstSeenAt: r.FirstSeenAt.UTC(), ChangedAt: r.ChangedAt.UTC(),
	}
}

// CountItems returns the numbers of a connector's items, without differences.
func (t Connectors) CountItems(ctx context.Context, id connectors.ConnectorID) (counts connectors.ItemCounts, err error) {
	rows, err := t.q.ConnectorItemNumbers(ctx, t.id, id)
	for _, r := range rows {
		counts.Of(r.Kind).Total = int(r.Items)
	}
	return counts, err
}

// SaveItems replaces a connector's items, and returns how they differ from those before. Later syncs compare with hash.
func (t Connectors) SaveItems(
	ctx context.Context, id connectors.ConnectorID, hash *connectors.Hash, items []connectors.Item,
) (counts connectors.ItemCounts, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.SetItemsHash(ctx, hashBytes(hash), tx.id, id) // locks the connector
		if err := affectedError(n, err, "connector"); err != nil {
			return err
		}
		known, err := tx.q.ItemStates(ctx, tx.id, id)
		if err != nil {
			return err
		}
		params := tx.itemColumns(id, items)
		counts = carryItemTimes(&params, known)
		err = tx.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
			if err := q.DeleteItems(ctx, tx.id, id); err != nil || len(items) == 0 {
				return err
			}
			return q.InsertItems(ctx, params)
		})
		return tx.notifyChange(err, "connector", id)
	})
	return counts, err
}

func (t *tenant) itemColumns(id connectors.ConnectorID, items []connectors.Item) dbgen.InsertItemsParams {
	p := dbgen.InsertItemsParams{TenantID: t.id, ConnectorID: id}
	for i, item := range items {
		p.Kinds = append(p.Kinds, string(item.Kind))
		p.Positions = append(p.Positions, int32(i+1))
		p.Keys = append(p.Keys, cleanText(item.Key))
		p.Raws = append(p.Raws, item.Raw)
	}
	return p
}

type itemKey struct {
	kind connectors.ItemKind
	key  string
}

// carryItemTimes sets the times of new rows from the known ones, and counts the differences.
func carryItemTimes(p *dbgen.InsertItemsParams, known []dbgen.ItemStatesRow) (counts connectors.ItemCounts) {
	before := make(map[itemKey]dbgen.ItemStatesRow, len(known))
	for _, row := range known {
		before[itemKey{row.Kind, row.Key}] = row
	}
	now := time.Now()
	for i, key := range p.Keys {
		kind := connectors.ItemKind(p.Kinds[i])
		count, hash := counts.Of(kind), sha256.Sum256(p.Raws[i])
		old, isKnown := before[itemKey{kind, key}]
		delete(before, itemKey{kind, key})
		count.Total++
		switch {
		case !isKnown:
			count.Added++
			old.FirstSeenAt, old.ChangedAt = now, now
		case string(old.Hash) != string(hash[:]):
			count.Changed++
			old.ChangedAt = now
		}
		p.FirstSeenAts, p.ChangedAts = append(p.FirstSeenAts, old.FirstSeenAt), append(p.ChangedAts, old.ChangedAt)
	}
	for removed := range before {
		counts.Of(removed.kind).Removed++
	}
	return counts
}

func hashBytes(h *connectors.Hash) []byte {
	if h == nil {
		return nil
	}
	return h[:]
}

// encodeItemCounts returns the counts as JSON; nil: not known.
func encodeItemCounts(counts *connectors.ItemCounts) []byte {
	if counts == nil {
		return nil
	}
	raw, err := json.Marshal(counts)
	if err != nil {
		panic(err) // numbers always marshal
	}
	return raw
}

// decodeItemCounts is the inverse of encodeItemCounts.
func decodeItemCounts(raw []byte) *connectors.ItemCounts {
	var counts connectors.ItemCounts
	if raw == nil || json.Unmarshal(raw, &counts) != nil {
		return nil
	}
	return &counts
}
