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
	// maxItemsTime is how long a server may take for its prompts and resources, which a sync can do without.
	maxItemsTime = 10 * time.Second
	// maxItemsBytes bounds what is kept of them in memory, by every process.
	maxItemsBytes = 8 << 20
)

// itemList is a list of items, and the capability with which a server says that it has one.
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

// offer is what a server offers besides its tools.
type offer struct {
	items  []connectors.Item
	aside  []connectors.Quarantined // entries that official SDKs refuse
	missed []connectors.ItemKind    // that could not be read: what was known of them stays
}

// asideOn says in a sentence on which list an entry stands that is set aside. (What stands on the list of tools needs no such sentence.)
var asideOn = map[connectors.ItemKind]string{
	connectors.ItemPrompt:   "It stands on the list of prompts.",
	connectors.ItemResource: "It stands on the list of resources.",
	connectors.ItemTemplate: "It stands on the list of resource templates.",
}

// add keeps the entries of one list. Those that are set aside are stored, too, and not served: package access leaves them out.
func (o *offer) add(l itemList, raws []json.RawMessage) {
	o.items = append(o.items, connectors.ReadItems(l.kind, raws)...)
	for _, raw := range raws {
		if _, defect := mcp.Conform(l.list, raw); defect != "" {
			o.aside = append(o.aside, connectors.Quarantined{Name: connectors.ItemKey(l.kind, raw), Reason: defect + " " + asideOn[l.kind], Raw: raw})
		}
	}
}

// readItems reads what the server offers besides tools. A server that does not say that it has such things is not asked. No failure
// here is one of the sync.
func (r *run) readItems(ctx context.Context, session *mcp.Session) offer {
	var has map[string]json.RawMessage
	_ = json.Unmarshal(session.Capabilities(), &has)
	ctx, cancel := context.WithTimeout(ctx, min(maxItemsTime, r.connector.Timeout))
	defer cancel()
	var found offer
	size := 0
	for _, l := range itemLists {
		if offered := has[l.capability]; offered == nil || string(offered) == "null" {
			continue
		}
		list, err := session.List(ctx, l.list)
		if failure, ok := errors.AsType[*mcp.Error](err); ok && failure.RPCCode == mcp.CodeMethodNotFound {
			continue // many have resources and no templates
		}
		for _, raw := range list.Items {
			size += len(raw)
		}
		if err != nil || size > maxItemsBytes {
			found.missed = append(found.missed, l.kind)
			r.log.InfoContext(ctx, "items not read", slog.String("connector_id", r.connector.ID.String()),
				slog.String("kind", string(l.kind)), slog.Int("bytes", size), slog.Any("error", err))
			continue
		}
		found.add(l, list.Items)
	}
	return found
}

// saveItems stores what the server offers where it differs from what is known. It is no failure of the sync either.
func (r *run) saveItems(ctx context.Context, found offer) {
	if err := r.keepItems(ctx, found); err != nil {
		r.log.WarnContext(ctx, "items not stored", slog.String("connector_id", r.connector.ID.String()), slog.Any("error", err))
	}
}

func (r *run) keepItems(ctx context.Context, found offer) error {
	st := r.store.Tenant(r.tenant)
	if len(found.missed) > 0 {
		if r.connector.ItemsHash == nil && len(found.items) == 0 {
			return nil
		}
		known, err := st.Items(ctx, r.connector.ID)
		if err != nil {
			return err
		}
		found.items = found.withKnown(known)
	}
	hash := connectors.HashItems(found.items)
	if same(hash, r.connector.ItemsHash) {
		return nil
	}
	return st.SaveItems(ctx, r.connector.ID, hash, found.items)
}

// withKnown are the items, with those that are known of the kinds that could not be read, in the order of the lists.
func (o offer) withKnown(known []connectors.Item) []connectors.Item {
	missed := map[connectors.ItemKind]bool{}
	for _, kind := range o.missed {
		missed[kind] = true
	}
	var all []connectors.Item
	for _, l := range itemLists {
		from := o.items
		if missed[l.kind] {
			from = known
		}
		for _, item := range from {
			if item.Kind == l.kind {
				all = append(all, item)
			}
		}
	}
	return all
}

func same(a, b *connectors.Hash) bool {
	return a == b || a != nil && b != nil && *a == *b
}
