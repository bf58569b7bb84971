package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// SortOrder is the sort order of a list. The zero value is the default, by name. Unsupported orders fall back to
// it.
type SortOrder struct {
	By         string // "name", or an order of the list
	Descending bool   // descending; names as tie-breakers stay ascending
}

// Orders of the lists besides "name".
var (
	ConnectorOrders = []string{"status", "tools", "synced"}
	AgentOrders     = []string{"state", "approval", "added"}
	ToolOrders      = []string{"connector", "changed"}
)

// statusRanks sorts statuses that need a person first.
var statusRanks = []string{
	string(connectors.StatusError), string(connectors.StatusNeedsAuth), string(connectors.StatusNeverSynced), string(connectors.StatusOK), string(connectors.StatusDisabled),
}

// restrictTo returns the order if orders contains it, else the default.
func (o SortOrder) restrictTo(orders []string) SortOrder {
	if o.By != "name" && !slices.Contains(orders, o.By) {
		return SortOrder{}
	}
	return o
}

func (o SortOrder) isDefault() bool { return o == SortOrder{} || o == SortOrder{By: "name"} }

// isNameDescending reports whether names sort descending.
func (o SortOrder) isNameDescending() bool { return o.By == "name" && o.Descending }

// cursorName returns the cursor name of a list in this order. Cursors are invalid in another order.
func (o SortOrder) cursorName(name string) string {
	if o.Descending {
		return name + " by " + o.By + ", down"
	}
	return name + " by " + o.By
}

// orderPosition is the keyset position before a page.
type orderPosition struct {
	key  *string // nil: first page
	name string
	id   uuid.UUID
}

func (p Page) parseOrderCursor(list string) (orderPosition, error) {
	at, err := p.parseCursor(p.Order.cursorName(list), 3)
	if at == nil || err != nil {
		return orderPosition{}, err
	}
	id, err := cursorID(at[2])
	if err != nil {
		return orderPosition{}, err
	}
	return orderPosition{key: &at[0], name: at[1], id: *id}, nil
}

// splitTime cuts the leading time off the key.
func (o *orderPosition) splitTime() (moment time.Time, err error) {
	if o.key == nil {
		return time.Time{}, nil
	}
	first, rest, _ := strings.Cut(*o.key, " ")
	if moment, err = time.Parse(time.RFC3339Nano, first); err != nil {
		return time.Time{}, newCursorError(err)
	}
	o.key = &rest
	return moment, nil
}

// connectorsOrdered is [Connectors.List] in another order, in two queries. The caller provides a snapshot.
func (t *tenant) connectorsOrdered(ctx context.Context, f ConnectorFilter) (List[connectors.Connector], error) {
	after, err := f.parseOrderCursor("connectors")
	if err != nil {
		return List[connectors.Connector]{}, err
	}
	keys, err := t.q.ConnectorOrder(ctx, dbgen.ConnectorOrderParams{
		By: f.Order.By, Ranks: statusRanks, TenantID: t.id, Status: cleanText(string(f.Status)), Pattern: containsPattern(f.Query),
		Transport: cleanText(string(f.Transport)), AuthType: cleanText(string(f.AuthType)), Tag: cleanText(f.Tag),
		AfterKey: after.key, Down: f.Order.Descending, NamesDown: f.Order.isNameDescending(), AfterName: after.name, AfterID: after.id, MaxRows: f.rowLimit(),
	})
	if err != nil || len(keys) == 0 {
		return List[connectors.Connector]{Items: []connectors.Connector{}}, err
	}
	ids := make([]uuid.UUID, len(keys))
	for i, k := range keys {
		ids[i] = k.ID.UUID
	}
	rows, err := t.q.ConnectorsByName(ctx, dbgen.ConnectorsByNameParams{TenantID: t.id, Ids: ids, MaxRows: int32(len(ids))})
	if err != nil {
		return List[connectors.Connector]{}, err
	}
	whole := make(map[connectors.ConnectorID]dbgen.ConnectorsByNameRow, len(rows))
	for _, r := range rows {
		whole[r.Connector.ID] = r
	}
	item := func(k dbgen.ConnectorOrderRow) connectors.Connector {
		return toConnector(dbgen.ConnectorByRefRow(whole[k.ID]))
	}
	at := func(k dbgen.ConnectorOrderRow) []string { return []string{k.Key, k.Name, k.ID.String()} }
	return newList(f.Page, keys, item, f.Order.cursorName("connectors"), at), nil
}

func (t *tenant) agentsOrdered(ctx context.Context, f AgentFilter) (List[connectors.Agent], error) {
	p := f.Page
	after, err := p.parseOrderCursor("agents")
	if err != nil {
		return List[connectors.Agent]{}, err
	}
	rows, err := t.q.AgentOrder(ctx, dbgen.AgentOrderParams{
		By: p.Order.By, TenantID: t.id, Pattern: containsPattern(f.Query), Approval: cleanText(string(f.Approval)), Enabled: f.Enabled, Ids: f.ids, AfterKey: after.key, Down: p.Order.Descending, NamesDown: p.Order.isNameDescending(),
		AfterName: after.name, AfterID: after.id, MaxRows: p.rowLimit(),
	})
	if err != nil {
		return List[connectors.Agent]{}, err
	}
	item := func(r dbgen.AgentOrderRow) connectors.Agent { return toAgent(r.Agent) }
	at := func(r dbgen.AgentOrderRow) []string { return []string{r.Key, r.Agent.Name, r.Agent.ID.String()} }
	return newList(p, rows, item, p.Order.cursorName("agents"), at), nil
}

// toolsOrdered is [Tools.List] in another order, in two queries. The caller provides a snapshot.
func (t *tenant) toolsOrdered(ctx context.Context, f ToolFilter) (List[connectors.Tool], error) {
	after, err := f.parseOrderCursor("tools")
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	moment, err := after.splitTime()
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	words, pattern, err := splitToolQuery(f.Query)
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	keys, err := t.q.ToolOrder(ctx, dbgen.ToolOrderParams{
		By: f.Order.By, TenantID: t.id, Connector: f.connectorUUID(), Removed: f.Removed,
		Tag: strings.ToLower(strings.TrimSpace(cleanText(f.Tag))), State: string(f.State), Says: hintPattern(f.Hint),
		Query: words, Prefix: prefixPattern(words), Pattern: pattern,
		AfterMoment: moment, AfterKey: after.key, Down: f.Order.Descending, NamesDown: f.Order.isNameDescending(), AfterName: after.name, AfterID: after.id, MaxRows: f.rowLimit(),
	})
	if err != nil || len(keys) == 0 {
		return List[connectors.Tool]{Items: []connectors.Tool{}}, err
	}
	type place struct {
		connector connectors.ConnectorID
		name      string
	}
	wanted, key := dbgen.ToolsByNameParams{TenantID: t.id, MaxBytes: MaxPageBytes}, make(map[place]string, len(keys))
	for _, k := range keys {
		wanted.Connectors, wanted.Names = append(wanted.Connectors, k.ConnectorID.UUID), append(wanted.Names, k.Name)
		key[place{k.ConnectorID, k.Name}] = k.Moment.UTC().Format(time.RFC3339Nano) + " " + k.Key
	}
	rows, err := t.q.ToolsByName(ctx, wanted)
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	item := func(r dbgen.ToolsByNameRow) connectors.Tool { return toListedTool(dbgen.ToolsRow(r)) }
	at := func(r dbgen.ToolsByNameRow) []string {
		return []string{key[place{r.ConnectorID, r.Name}], r.Name, r.ConnectorID.String()}
	}
	return newListUntil(f.Page, rows, item, f.Order.cursorName("tools"), at, func(r dbgen.ToolsByNameRow) bool { return r.More }), nil
}
