package agentview

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// viewBuilder turns database rows into a [View]. definitions holds every listed definition; none is nil after
// buildView.
type viewBuilder struct {
	cache       *Cache
	began       time.Time // when the read of rows began, by the process's clock
	rows        store.Access
	definitions map[connectors.Hash]*definition
	view        *View
	reaches     []*ConnectorView // of rows.Reaches, also of disabled connectors
	reachesByID map[connectors.ConnectorID][]*ConnectorView
	allowed     map[connectors.AllowanceKey]connectors.Allowance
}

func newViewBuilder(cache *Cache, rows store.Access, began time.Time) *viewBuilder {
	slices.SortFunc(rows.Reaches, func(a, b store.AccessConnector) int { return cmp.Compare(a.Slug, b.Slug) })
	return &viewBuilder{cache: cache, rows: rows, began: began, definitions: map[connectors.Hash]*definition{}}
}

// toolRows returns the rows of one connector. The rows are sorted by connector.
func (b *viewBuilder) toolRows(id connectors.ConnectorID) []store.AccessTool {
	from, _ := slices.BinarySearchFunc(b.rows.Tools, id, compareConnector)
	rows := b.rows.Tools[from:]
	if end := slices.IndexFunc(rows, func(t store.AccessTool) bool { return t.ConnectorID != id }); end >= 0 {
		rows = rows[:end]
	}
	return rows
}

func (b *viewBuilder) buildView() *View {
	b.view = &View{
		Tenant:            b.rows.Tenant,
		Agent:             b.rows.Agent,
		tools:             map[string]*Tool{},
		connectors:        map[string]*ConnectorView{},
		prompts:           map[string]exposedPrompt{},
		watchedConnectors: map[connectors.ConnectorID]bool{},
		cache:             b.cache,
		search:            &toolIndex{},
	}
	b.allowed = make(map[connectors.AllowanceKey]connectors.Allowance, len(b.rows.Allowances))
	for _, a := range b.rows.Allowances {
		b.allowed[a.AllowanceKey] = a
	}
	b.addConnectors()
	b.addSkills()
	b.addTools()
	b.view.Lean = b.view.isLean()
	for k := range kindCount {
		b.view.lists[k] = b.cache.internList(k, b.listEntries(k))
	}
	return b.view
}

// findMissingDefinitions returns the hashes of listed definitions that are not in memory, and the size in bytes
// of those that are.
func (b *viewBuilder) findMissingDefinitions() (missing []connectors.Hash, bytes int64) {
	for _, row := range b.rows.Reaches {
		connector := &ConnectorView{Slug: row.Slug, Grant: row.Grant.At(b.rows.Now), Connector: row.Connector, Account: row.Account, granted: row.Grant}
		for _, tool := range b.toolRows(row.Connector.ID) {
			if !isListed(blockedReason(connector, tool)) {
				continue
			}
			if _, asked := b.definitions[*tool.Accepted]; asked {
				continue
			}
			d := b.cache.definitions.get(*tool.Accepted)
			if b.definitions[*tool.Accepted] = d; d == nil {
				missing = append(missing, *tool.Accepted)
			} else {
				bytes += int64(len(d.raw))
			}
		}
	}
	return missing, bytes
}

// addConnectors adds the connectors and their items. A disabled connector is in reaches only.
func (b *viewBuilder) addConnectors() {
	b.reachesByID = make(map[connectors.ConnectorID][]*ConnectorView, len(b.rows.Reaches))
	for _, row := range b.rows.Reaches {
		connector := &ConnectorView{
			Slug:         row.Slug,
			Connector:    row.Connector,
			Grant:        row.Grant.At(b.rows.Now),
			Account:      row.Account,
			granted:      row.Grant,
			Capabilities: row.Connector.Capabilities,
			Allowances:   map[string]time.Time{},
			tools:        map[string]*Tool{},
			cache:        b.cache,
		}
		b.setEnds(connector)
		connector.hasTasks, connector.hasTaskExtension = mcp.DeclaredTasks(connector.Capabilities)
		b.reaches = append(b.reaches, connector)
		b.reachesByID[row.Connector.ID] = append(b.reachesByID[row.Connector.ID], connector)
		b.view.watchedConnectors[row.Connector.ID] = true
		if row.Connector.Enabled {
			b.view.Connectors = append(b.view.Connectors, connector)
			b.view.connectors[row.Slug] = connector
		}
	}
	for _, a := range b.rows.Allowances {
		for _, connector := range b.reachesByID[a.ConnectorID] {
			if a.Kind == connectors.CallTool || a.AccountName != connector.ChosenAccount() {
				continue
			}
			if connector.itemAllowances == nil {
				connector.itemAllowances = map[connectors.AllowanceKey]time.Time{}
			}
			connector.itemAllowances[a.AllowanceKey] = a.Until
			b.view.bytes += int64(len(a.Tool))
		}
	}
	for _, i := range b.rows.Items {
		reaches := b.reachesByID[i.ConnectorID]
		if len(reaches) == 0 {
			continue
		}
		raw, defect := mcp.NormalizeItem(itemLists[i.Kind], i.Raw)
		if defect != "" { // stored by a release that did not check items
			continue
		}
		i.Raw = raw
		for _, connector := range reaches {
			connector.Items = append(connector.Items, i.Item)
		}
		b.view.bytes += int64(len(i.Raw) + len(i.Key))
	}
}

// ChosenAccount is the name of the account if the grant binds several; empty: it does not. Then each call and each allowance is for
// one of them.
func (connector *ConnectorView) ChosenAccount() string {
	if strings.Contains(connector.Slug, ".") { // no connector's own slug has one
		return connector.Grant.Account()
	}
	return ""
}

// addTools adds the tools of each connector under their exposed names.
func (b *viewBuilder) addTools() {
	for _, connector := range b.reaches {
		b.addReachTools(connector, b.toolRows(connector.Connector.ID))
		slices.SortFunc(connector.Tools, func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) }) // the database may collate differently
		b.view.Tools = append(b.view.Tools, connector.Tools...)
	}
}

func compareConnector(t store.AccessTool, id connectors.ConnectorID) int {
	return bytes.Compare(t.ConnectorID.UUID[:], id.UUID[:])
}

func (b *viewBuilder) addReachTools(connector *ConnectorView, rows []store.AccessTool) {
	called := newAgentToolNames(rows)
	if called != nil {
		connector.byConnectorName = make(map[string]*Tool, len(rows))
	}
	var present []string // a removed tool must not take the name of a present one
	for _, row := range rows {
		if !row.Removed {
			present = append(present, called.nameFor(row.Name))
		}
	}
	limit := b.view.Agent.NameLimit
	names := connectors.ExposedNamesWithin(limit, connector.Slug, present)
	for _, row := range rows {
		t := b.newTool(connector, row, called.nameFor(row.Name))
		if t.Exposed = names[t.ConnectorName]; t.Exposed == "" || row.Removed {
			t.Exposed = connectors.ExposedNameWithin(limit, connector.Slug, t.ConnectorName)
		}
		connector.tools[t.Name] = t
		if _, taken := connector.byConnectorName[t.ConnectorName]; called != nil && (!taken || !row.Removed) {
			connector.byConnectorName[t.ConnectorName] = t
		}
		key := connectors.AllowanceKey{ConnectorID: connector.Connector.ID, Kind: connectors.CallTool, Tool: t.Name, AccountName: connector.ChosenAccount()}
		if a, hasAllowance := b.allowed[key]; hasAllowance && t.Listed() && a.Definition == t.Hash {
			connector.Allowances[t.Name] = a.Until // an allowance is for one definition only
		}
		if _, taken := b.view.tools[t.Exposed]; !taken || !row.Removed {
			b.view.tools[t.Exposed] = t
		}
		b.view.bytes += toolOverheadBytes
		if t.Listed() {
			connector.Tools = append(connector.Tools, t)
			b.view.bytes += connector.addUILinks(t)
		}
	}
}

// toolOverheadBytes is the estimated memory of one tool in a view, without its definition.
const toolOverheadBytes = 600

// listEntries returns the entries of a list over all connectors.
func (b *viewBuilder) listEntries(k Kind) []listEntry {
	if k == Tools && b.view.Lean {
		return appendResultReader(b.view.leanEntries(), b.view.Shapes(), b.view.ResultReader())
	}
	var all []listEntry
	for _, connector := range b.view.Connectors {
		all = append(all, b.reachEntries(connector, k)...)
	}
	if k == Tools {
		all = appendResultReader(all, b.view.Shapes(), b.view.ResultReader())
	}
	return all
}

func (b *viewBuilder) reachEntries(connector *ConnectorView, k Kind) []listEntry {
	if k == Tools {
		return connector.toolEntries(true)
	}
	items := connector.GrantedItems(k.itemKind())
	if k != Prompts {
		return itemEntries(items, k, func(key string) string { return connector.Expose(key) })
	}
	names := connector.promptNames(b.view.Agent.NameLimit)
	for key, name := range names {
		b.view.prompts[name] = exposedPrompt{reach: connector, name: key}
	}
	return itemEntries(items, k, func(key string) string { return names[key] })
}

// renderList renders the list of this connector alone, under the server's own names.
func (connector *ConnectorView) renderList(k Kind) *servedList {
	if k == Tools {
		return connector.cache.internList(k, appendResultReader(connector.toolEntries(false), connector.shapes, connector.ResultReader()))
	}
	entries := itemEntries(connector.GrantedItems(k.itemKind()), k, func(string) string { return "" })
	for i := range entries {
		entries[i].values = nil
	}
	return connector.cache.internList(k, entries)
}

// toolEntries returns the listed tools, under their exposed names or the server's.
func (connector *ConnectorView) toolEntries(exposed bool) []listEntry {
	entries := make([]listEntry, len(connector.Tools))
	for i, t := range connector.Tools {
		if exposed {
			entries[i] = t.exposedEntry()
		} else {
			entries[i] = t.def.newListEntry("", t.OffersTasks)
		}
	}
	return entries
}

// itemLists maps an item kind to its MCP list.
var itemLists = map[connectors.ItemKind]mcp.ListKind{
	connectors.ItemPrompt: mcp.Prompts, connectors.ItemResource: mcp.Resources, connectors.ItemTemplate: mcp.ResourceTemplates,
}

// keyMembers names the JSON member that identifies an entry of each list.
var keyMembers = [kindCount]string{Tools: "name", Prompts: "name", Resources: "uri", Templates: "uriTemplate"}

func itemEntries(items []connectors.Item, k Kind, name func(key string) string) []listEntry {
	entries := make([]listEntry, 0, len(items))
	for _, item := range items {
		e := listEntry{raw: item.Raw, name: name(item.Key)}
		forEachMember(item.Raw, func(member string, value byteRange) {
			if member == keyMembers[k] {
				e.values = append(e.values, value)
			}
		})
		if len(e.values) > 0 { // without a key it cannot be renamed
			entries = append(entries, e)
		}
	}
	return entries
}

// hashEntries hashes everything that a list serves.
func hashEntries(k Kind, entries []listEntry) listHash {
	h := sha256.New()
	put := func(b []byte) {
		h.Write(binary.AppendUvarint(nil, uint64(len(b))))
		h.Write(b)
	}
	put([]byte(k.resultMember()))
	for _, e := range entries {
		put(e.raw)
		put([]byte(e.name))
		flags := byte(min(len(e.values), 1))
		if e.offersTasks {
			flags |= 2
		}
		put([]byte{flags})
		if len(e.links) > 0 {
			put([]byte(e.slug))
		}
	}
	return listHash(h.Sum(nil))
}
