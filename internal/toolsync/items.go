package toolsync

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

const (
	// maxItemsTime bounds the listing of prompts and resources, which a sync can do without.
	maxItemsTime = 10 * time.Second
	// maxItemsBytes bounds the items of a connector, which every process keeps in memory.
	maxItemsBytes = 8 << 20
)

// itemList is a list of items and the server capability that announces it.
type itemList struct {
	capability string
	list       mcp.ListKind
	kind       connectors.ItemKind
}

var itemLists = []itemList{
	{"prompts", mcp.Prompts, connectors.ItemPrompt},
	{"resources", mcp.Resources, connectors.ItemResource},
	{"resources", mcp.ResourceTemplates, connectors.ItemTemplate},
}

// serverItems are the prompts, resources and templates of a server.
type serverItems struct {
	items       []connectors.Item
	quarantined []connectors.Quarantined // entries that the official SDKs reject
	unread      []connectors.ItemKind    // kinds that could not be read: the known items stay
}

// quarantineSource names the list of a quarantined item. Tools need no such sentence.
var quarantineSource = map[connectors.ItemKind]string{
	connectors.ItemPrompt:   "Listed as a prompt.",
	connectors.ItemResource: "Listed as a resource.",
	connectors.ItemTemplate: "Listed as a resource template.",
}

// addList adds the entries of one list. Malformed ones are also stored in quarantine; package agentview does not
// serve them.
func (o *serverItems) addList(l itemList, raws []json.RawMessage) {
	o.items = append(o.items, connectors.ReadItems(l.kind, raws)...)
	for _, raw := range raws {
		if _, defect := mcp.NormalizeItem(l.list, raw); defect != "" {
			o.quarantined = append(o.quarantined, connectors.Quarantined{Name: connectors.ItemKey(l.kind, raw), Reason: defect + " " + quarantineSource[l.kind], Raw: raw})
		}
	}
}

// readItems lists the items that the capabilities announce. A failure here does not fail the sync.
func (s *Syncer) readItems(ctx context.Context, session *mcp.Session, c connectors.Connector) serverItems {
	var capabilities map[string]json.RawMessage
	_ = json.Unmarshal(session.Capabilities(), &capabilities)
	ctx, cancel := context.WithTimeout(ctx, min(maxItemsTime, c.Timeout))
	defer cancel()
	var items serverItems
	size := 0
	for _, l := range itemLists {
		if capability := capabilities[l.capability]; capability == nil || string(capability) == "null" {
			continue
		}
		list, err := session.List(ctx, l.list)
		if failure, ok := errors.AsType[*mcp.Error](err); ok && failure.RPCCode == mcp.CodeMethodNotFound {
			continue // many servers have resources and no templates
		}
		for _, raw := range list.Items {
			size += len(raw)
		}
		if err != nil || size > maxItemsBytes {
			items.unread = append(items.unread, l.kind)
			s.log.InfoContext(ctx, "items not read", slog.String("connector_id", c.ID.String()),
				slog.String("kind", string(l.kind)), slog.Int("bytes", size), slog.Any("error", err))
			continue
		}
		items.addList(l, list.Items)
	}
	return items
}

// saveItems stores the items if they changed, and adds their numbers to the observation. It waits for the database: the next
// sync may be far away. A failure is logged and does not fail the sync.
func (r *run) saveItems(ctx context.Context, items serverItems) {
	if err := r.store.RetryStarted(ctx, func(ctx context.Context) error { return r.storeItems(ctx, items) }); err != nil {
		r.log.WarnContext(ctx, "items not stored", slog.String("connector_id", r.connector.ID.String()), slog.Any("error", err))
	}
}

func (r *run) storeItems(ctx context.Context, items serverItems) error {
	st := r.store.Tenant(r.tenant)
	if len(items.unread) > 0 {
		if r.connector.ItemsHash == nil && len(items.items) == 0 {
			return nil
		}
		known, err := st.Connectors().Items(ctx, r.connector.ID)
		if err != nil {
			return err
		}
		items.items = items.mergeKnown(known)
	}
	hash := connectors.HashItems(items.items)
	if equalHashes(hash, r.connector.ItemsHash) {
		if r.observation.Items == nil { // else this sync has stored them
			r.observation.Items = new(connectors.CountItems(items.items))
		}
		return nil
	}
	counts, err := st.Connectors().SaveItems(ctx, r.connector.ID, hash, items.items)
	if err == nil {
		r.connector.ItemsHash, r.observation.Items = hash, &counts
	}
	return err
}

// mergeKnown replaces the kinds that could not be read by their known items, in the order of the lists.
func (o serverItems) mergeKnown(known []connectors.Item) []connectors.Item {
	unread := map[connectors.ItemKind]bool{}
	for _, kind := range o.unread {
		unread[kind] = true
	}
	var all []connectors.Item
	for _, l := range itemLists {
		source := o.items
		if unread[l.kind] {
			source = known
		}
		for _, item := range source {
			if item.Kind == l.kind {
				all = append(all, item)
			}
		}
	}
	return all
}

func equalHashes(a, b *connectors.Hash) bool {
	return a == b || a != nil && b != nil && *a == *b
}
