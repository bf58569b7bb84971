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

// Order is how a list is sorted. The zero value is the list's own order, by name. What a list cannot be sorted by leaves it in that.
type Order struct {
	By   string // "name", or one of the list's
	Down bool   // the greatest first; names follow each other upwards all the same where they do not decide
}

// What lists may be sorted by, besides "name".
var (
	ConnectorOrders = []string{"status", "tools", "synced"}
	AgentOrders     = []string{"state", "approval", "added"}
	ToolOrders      = []string{"connector", "changed"}
)

// statusRanks sorts what needs a person first.
var statusRanks = []string{
	string(connectors.StatusError), string(connectors.StatusNeedsAuth), string(connectors.StatusNeverSynced), string(connectors.StatusOK), string(connectors.StatusDisabled),
}

// among is the order, where a list can be sorted by it.
func (o Order) among(orders []string) Order {
	if o.By != "name" && !slices.Contains(orders, o.By) {
		return Order{}
	}
	return o
}

func (o Order) own() bool { return o == Order{} || o == Order{By: "name"} }

// namesDown tells whether the names that decide go downwards.
func (o Order) namesDown() bool { return o.By == "name" && o.Down }

// list names the cursors of a list in this order: they are of no use in another one.
func (o Order) list(name string) string {
	if o.Down {
		return name + " by " + o.By + ", down"
	}
	return name + " by " + o.By
}

// ordered is where a page in some order begins.
type ordered struct {
	key  *string // nil: the first page
	name string
	id   uuid.UUID
}

func (p Page) after(list string) (ordered, error) {
	at, err := p.position(p.Order.list(list), 3)
	if at == nil || err != nil {
		return ordered{}, err
	}
	id, err := cursorID(at[2])
	if err != nil {
		return ordered{}, err
	}
	return ordered{key: &at[0], name: at[1], id: *id}, nil
}

// split takes the time off a key that begins with one.
func (o *ordered) split() (moment time.Time, err error) {
	if o.key == nil {
		return time.Time{}, nil
	}
	first, rest, _ := strings.Cut(*o.key, " ")
	if moment, err = time.Parse(time.RFC3339Nano, first); err != nil {
		return time.Time{}, badCursor(err)
	}
	o.key = &rest
	return moment, nil
}

// connectorsOrdered is Connectors in another order: two queries, whatever its length. It belongs into a snapshot.
func (t *Tenant) connectorsOrdered(ctx context.Context, f ConnectorFilter) (List[connectors.Connector], error) {
	after, err := f.after("connectors")
	if err != nil {
		return List[connectors.Connector]{}, err
	}
	keys, err := t.q.ConnectorOrder(ctx, dbgen.ConnectorOrderParams{
		By: f.Order.By, Ranks: statusRanks, TenantID: t.id, Status: clean(string(f.Status)), Pattern: pattern(f.Query),
		AfterKey: after.key, Down: f.Order.Down, NamesDown: f.Order.namesDown(), AfterName: after.name, AfterID: after.id, MaxRows: f.rows(),
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
		return connectorOf(dbgen.ConnectorByRefRow(whole[k.ID]))
	}
	at := func(k dbgen.ConnectorOrderRow) []string { return []string{k.Key, k.Name, k.ID.String()} }
	return listOf(f.Page, keys, item, f.Order.list("connectors"), at), nil
}

func (t *Tenant) agentsOrdered(ctx context.Context, p Page) (List[connectors.Agent], error) {
	after, err := p.after("agents")
	if err != nil {
		return List[connectors.Agent]{}, err
	}
	rows, err := t.q.AgentOrder(ctx, dbgen.AgentOrderParams{
		By: p.Order.By, TenantID: t.id, AfterKey: after.key, Down: p.Order.Down, NamesDown: p.Order.namesDown(),
		AfterName: after.name, AfterID: after.id, MaxRows: p.rows(),
	})
	if err != nil {
		return List[connectors.Agent]{}, err
	}
	item := func(r dbgen.AgentOrderRow) connectors.Agent { return agentOf(r.Agent) }
	at := func(r dbgen.AgentOrderRow) []string { return []string{r.Key, r.Agent.Name, r.Agent.ID.String()} }
	return listOf(p, rows, item, p.Order.list("agents"), at), nil
}

// toolsOrdered is Tools in another order: two queries, whatever its length. It belongs into a snapshot.
func (t *Tenant) toolsOrdered(ctx context.Context, f ToolFilter) (List[connectors.Tool], error) {
	after, err := f.after("tools")
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	moment, err := after.split()
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	keys, err := t.q.ToolOrder(ctx, dbgen.ToolOrderParams{
		By: f.Order.By, TenantID: t.id, Connector: f.connector(), Removed: f.Removed,
		Tag: strings.ToLower(strings.TrimSpace(clean(f.Tag))), State: string(f.State), Says: saysTrue(f.Hint),
		Query: strings.TrimSpace(clean(f.Query)), Prefix: prefix(f.Query),
		AfterMoment: moment, AfterKey: after.key, Down: f.Order.Down, NamesDown: f.Order.namesDown(), AfterName: after.name, AfterID: after.id, MaxRows: f.rows(),
	})
	if err != nil || len(keys) == 0 {
		return List[connectors.Tool]{Items: []connectors.Tool{}}, err
	}
	type place struct {
		connector connectors.ConnectorID
		name      string
	}
	wanted, key := dbgen.ToolsNamedParams{TenantID: t.id, MaxBytes: MaxPageBytes}, make(map[place]string, len(keys))
	for _, k := range keys {
		wanted.Connectors, wanted.Names = append(wanted.Connectors, k.ConnectorID.UUID), append(wanted.Names, k.Name)
		key[place{k.ConnectorID, k.Name}] = k.Moment.UTC().Format(time.RFC3339Nano) + " " + k.Key
	}
	rows, err := t.q.ToolsNamed(ctx, wanted)
	if err != nil {
		return List[connectors.Tool]{}, err
	}
	item := func(r dbgen.ToolsNamedRow) connectors.Tool { return listedTool(dbgen.ToolsRow(r)) }
	at := func(r dbgen.ToolsNamedRow) []string {
		return []string{key[place{r.ConnectorID, r.Name}], r.Name, r.ConnectorID.String()}
	}
	return listUntil(f.Page, rows, item, f.Order.list("tools"), at, func(r dbgen.ToolsNamedRow) bool { return r.More }), nil
}
