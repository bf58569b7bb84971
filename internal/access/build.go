package access

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// builder makes a view of what the database said. definitions holds all that are served: none of them is nil once the view is built.
type builder struct {
	keeper      *Keeper
	rows        store.Access
	definitions map[connectors.Hash]*definition
	view        *View
	byID        map[connectors.ConnectorID]*Reach
	allowed     map[allowedTool]connectors.Allowance
}

type allowedTool struct {
	connector connectors.ConnectorID
	tool      string
}

// newBuilder makes a builder of the rows of one moment, without definitions.
func newBuilder(k *Keeper, rows store.Access) *builder {
	slices.SortFunc(rows.Reaches, func(a, b store.AccessReach) int { return cmp.Compare(a.Connector.Slug, b.Connector.Slug) })
	return &builder{keeper: k, rows: rows, definitions: map[connectors.Hash]*definition{}}
}

// toolRows are the rows of a connector's tools.
func (b *builder) toolRows(id connectors.ConnectorID) []store.AccessTool {
	from, _ := slices.BinarySearchFunc(b.rows.Tools, id, byConnector)
	rows := b.rows.Tools[from:]
	if end := slices.IndexFunc(rows, func(t store.AccessTool) bool { return t.ConnectorID != id }); end >= 0 {
		rows = rows[:end]
	}
	return rows
}

func (b *builder) build() *View {
	b.view = &View{
		Tenant:  b.rows.Tenant,
		Agent:   b.rows.Agent,
		tools:   map[string]*Tool{},
		reaches: map[string]*Reach{},
		prompts: map[string]prompt{},
		watched: map[connectors.ConnectorID]bool{},
	}
	b.allowed = make(map[allowedTool]connectors.Allowance, len(b.rows.Allowances))
	for _, a := range b.rows.Allowances {
		b.allowed[allowedTool{a.ConnectorID, a.Tool}] = a
	}
	b.reaches()
	b.tools()
	for k := range kinds {
		b.view.lists[k] = b.keeper.list(k, b.entries(k))
	}
	b.serve()
	return b.view
}

// wanted tells which definitions are to be read: those that are listed, and that nobody has in memory; and how many bytes those have
// that somebody has.
func (b *builder) wanted() (missing []connectors.Hash, bytes int64) {
	for _, row := range b.rows.Reaches {
		r := &Reach{Grant: row.Grant, Connector: row.Connector}
		for _, tool := range b.toolRows(row.Connector.ID) {
			if !listed(held(r, tool)) {
				continue
			}
			if _, asked := b.definitions[*tool.Accepted]; asked {
				continue
			}
			d := b.keeper.definitions.get(*tool.Accepted)
			if b.definitions[*tool.Accepted] = d; d == nil {
				missing = append(missing, *tool.Accepted)
			} else {
				bytes += int64(len(d.raw))
			}
		}
	}
	return missing, bytes
}

// reaches takes over the connectors. Those that are disabled stand in byID alone.
func (b *builder) reaches() {
	b.byID = make(map[connectors.ConnectorID]*Reach, len(b.rows.Reaches))
	for _, row := range b.rows.Reaches {
		r := &Reach{
			Connector:    row.Connector,
			Grant:        row.Grant,
			Capabilities: row.Connector.Capabilities,
			Allowances:   map[string]time.Time{},
			tools:        map[string]*Tool{},
			keeper:       b.keeper,
		}
		b.byID[row.Connector.ID] = r
		b.view.watched[row.Connector.ID] = true
		if row.Connector.Enabled {
			b.view.Reaches = append(b.view.Reaches, r)
			b.view.reaches[row.Connector.Slug] = r
		}
	}
	for _, i := range b.rows.Items {
		r := b.byID[i.ConnectorID]
		if r == nil {
			continue
		}
		raw, defect := mcp.Conform(itemLists[i.Kind], i.Raw)
		if defect != "" { // it was stored before such items were set aside
			continue
		}
		i.Raw = raw
		r.Items = append(r.Items, i.Item)
		b.view.bytes += int64(len(i.Raw) + len(i.Key))
	}
}

// tools names the tools of each connector towards the agent.
func (b *builder) tools() {
	for _, row := range b.rows.Reaches {
		r := b.byID[row.Connector.ID]
		b.toolsOf(r, b.toolRows(row.Connector.ID))
		slices.SortFunc(r.Tools, func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) }) // not as the database collates
		b.view.Tools = append(b.view.Tools, r.Tools...)
	}
}

func byConnector(t store.AccessTool, id connectors.ConnectorID) int {
	return bytes.Compare(t.ConnectorID.UUID[:], id.UUID[:])
}

func (b *builder) toolsOf(r *Reach, rows []store.AccessTool) {
	called := agentNames(rows)
	if called != nil {
		r.called = make(map[string]*Tool, len(rows))
	}
	var there []string // a removed tool takes no name from one that is there
	for _, row := range rows {
		if !row.Removed {
			there = append(there, called.of(row.Name))
		}
	}
	limit := b.view.Agent.NameLimit
	names := connectors.ExposedNamesWithin(limit, r.Connector.Slug, there)
	for _, row := range rows {
		t := b.tool(r, row, called.of(row.Name))
		if t.Exposed = names[t.Called]; t.Exposed == "" || row.Removed {
			t.Exposed = connectors.ExposedNameWithin(limit, r.Connector.Slug, t.Called)
		}
		r.tools[t.Name] = t
		if _, taken := r.called[t.Called]; called != nil && (!taken || !row.Removed) {
			r.called[t.Called] = t
		}
		if a, there := b.allowed[allowedTool{r.Connector.ID, t.Name}]; there && t.Listed() && a.Definition == t.Hash {
			r.Allowances[t.Name] = a.Until // of another definition it says nothing
		}
		if _, taken := b.view.tools[t.Exposed]; !taken || !row.Removed {
			b.view.tools[t.Exposed] = t
		}
		b.view.bytes += toolBytes
		if t.Listed() {
			r.Tools = append(r.Tools, t)
		}
	}
}

// toolBytes is what one tool costs a view besides its definition.
const toolBytes = 600

// entries are what stands on a list of all connectors.
func (b *builder) entries(k Kind) []entry {
	var all []entry
	for _, r := range b.view.Reaches {
		all = append(all, b.entriesOf(r, k)...)
	}
	return all
}

func (b *builder) entriesOf(r *Reach, k Kind) []entry {
	if k == Tools {
		return r.toolEntries(true)
	}
	items := r.itemsOf(k)
	if k != Prompts {
		return itemEntries(items, k, func(key string) string { return r.Expose(key) })
	}
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = item.Key
	}
	names := connectors.ExposedNamesWithin(b.view.Agent.NameLimit, r.Connector.Slug, keys)
	for key, name := range names {
		b.view.prompts[name] = prompt{reach: r, name: key}
	}
	return itemEntries(items, k, func(key string) string { return names[key] })
}

// render makes the list of this connector alone, as its server said it.
func (r *Reach) render(k Kind) *list {
	if k == Tools {
		return r.keeper.list(k, r.toolEntries(false))
	}
	entries := itemEntries(r.itemsOf(k), k, func(string) string { return "" })
	for i := range entries {
		entries[i].values = nil
	}
	return r.keeper.list(k, entries)
}

// toolEntries are the listed tools, under their exposed names or their own.
func (r *Reach) toolEntries(exposed bool) []entry {
	entries := make([]entry, len(r.Tools))
	for i, t := range r.Tools {
		entries[i] = t.def.entry(exposed, t.Exposed)
	}
	return entries
}

func (r *Reach) itemsOf(k Kind) []connectors.Item {
	var items []connectors.Item
	for _, i := range r.Items {
		if kindOf(i.Kind) == k {
			items = append(items, i)
		}
	}
	return items
}

// itemLists are the lists of MCP on which items stand.
var itemLists = map[connectors.ItemKind]mcp.ListKind{
	connectors.ItemPrompt: mcp.Prompts, connectors.ItemResource: mcp.Resources, connectors.ItemTemplate: mcp.ResourceTemplates,
}

// keyMembers are the members by which items are named.
var keyMembers = [kinds]string{Tools: "name", Prompts: "name", Resources: "uri", Templates: "uriTemplate"}

func itemEntries(items []connectors.Item, k Kind, name func(key string) string) []entry {
	entries := make([]entry, 0, len(items))
	for _, item := range items {
		e := entry{raw: item.Raw, name: name(item.Key)}
		eachMember(item.Raw, func(member string, value span) {
			if member == keyMembers[k] {
				e.values = append(e.values, value)
			}
		})
		if len(e.values) > 0 { // else it could not be shown under another name
			entries = append(entries, e)
		}
	}
	return entries
}

// serve tells the listed tools where they stand on the list.
func (b *builder) serve() {
	for i, t := range b.view.Tools {
		t.Served = b.view.lists[Tools].served[i]
	}
}

// printOf identifies a list by all that stands on it.
func printOf(k Kind, entries []entry) imprint {
	h := sha256.New()
	put := func(b []byte) {
		h.Write(binary.AppendUvarint(nil, uint64(len(b))))
		h.Write(b)
	}
	put([]byte(k.member()))
	for _, e := range entries {
		put(e.raw)
		put([]byte(e.name))
		put([]byte{byte(min(len(e.values), 1))})
	}
	return imprint(h.Sum(nil))
}
