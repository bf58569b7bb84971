package registry

import (
	"context"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
)

// ShownChange is a tool change with what is different in it, and the definitions themselves.
type ShownChange struct {
	connectors.ToolChange
	Difference toolchange.Change
	BeforeRaw  []byte // nil: there was none
	AfterRaw   []byte // nil: removed
}

// ToolHistory is what became of one tool, or of the instructions, since the connector was first synced, the newest first. Differences are told anew from the
// definitions, so that what Patchbay learned since is in them; kinds and risk are those by which it was decided.
func (r *Registry) ToolHistory(
	ctx context.Context, tenant connectors.TenantID, ref connectors.Ref, tool string, p store.Page,
) (history store.List[ShownChange], err error) {
	err = r.store.Tenant(tenant).Snapshot(ctx, func(door *store.Tenant) error {
		history, err = toolHistory(ctx, door, ref, tool, p)
		return err
	})
	return history, err
}

func toolHistory(ctx context.Context, door *store.Tenant, ref connectors.Ref, tool string, p store.Page) (store.List[ShownChange], error) {
	c, err := door.Connector(ctx, ref)
	if err != nil {
		return store.List[ShownChange]{}, err
	}
	if err := exists(ctx, door, c, tool); err != nil {
		return store.List[ShownChange]{}, err
	}
	page, err := door.ToolChanges(ctx, c.ID, tool, p)
	if err != nil {
		return store.List[ShownChange]{}, err
	}
	raws, err := door.DefinitionsWithin(ctx, definitionsOf(page.Items...))
	if err != nil {
		return store.List[ShownChange]{}, err
	}
	out := store.List[ShownChange]{Items: make([]ShownChange, len(page.Items)), Next: page.Next}
	for i, change := range page.Items {
		if out.Items[i], err = showChange(ctx, door, c, change, raws); err != nil {
			return out, err
		}
		out.Items[i].BeforeRaw, out.Items[i].AfterRaw = nil, nil // those that were large need not be held together
	}
	return out, nil
}

// exists wants a tool to be there, or to have been; instructions there always are.
func exists(ctx context.Context, door *store.Tenant, c connectors.Connector, tool string) error {
	if tool == connectors.OfInstructions {
		return nil
	}
	_, err := door.Tool(ctx, c.ID, tool)
	return err
}

// ToolChangeAmong is one change of a tool, and the page of its history.
type ToolChangeAmong struct {
	Connector connectors.Connector
	Shown     *ShownChange // nil: the tool never changed
	Newest    bool         // Shown is the last change of all
	History   store.List[connectors.ToolChange]
}

// ToolChange is a change of a tool among its others; id nil: the newest one.
func (r *Registry) ToolChange(
	ctx context.Context, tenant connectors.TenantID, ref connectors.Ref, tool string, id *connectors.ToolChangeID, p store.Page,
) (among ToolChangeAmong, err error) {
	err = r.store.Tenant(tenant).Snapshot(ctx, func(door *store.Tenant) error {
		among, err = toolChange(ctx, door, ref, tool, id, p)
		return err
	})
	return among, err
}

func toolChange(
	ctx context.Context, door *store.Tenant, ref connectors.Ref, tool string, id *connectors.ToolChangeID, p store.Page,
) (among ToolChangeAmong, err error) {
	if among.Connector, err = door.Connector(ctx, ref); err != nil {
		return among, err
	}
	if among.History, err = door.ToolChanges(ctx, among.Connector.ID, tool, p); err != nil {
		return among, err
	}
	if len(among.History.Items) == 0 && p.Cursor == "" && id == nil {
		return among, exists(ctx, door, among.Connector, tool)
	}
	change, err := among.pick(ctx, door, tool, id)
	if err != nil {
		return among, err
	}
	shown, err := showChange(ctx, door, among.Connector, change, nil)
	among.Shown = &shown
	among.Newest = p.Cursor == "" && change.ID == among.History.Items[0].ID
	return among, err
}

// pick finds the change in the history, or asks for it.
func (among ToolChangeAmong) pick(ctx context.Context, door *store.Tenant, tool string, id *connectors.ToolChangeID) (connectors.ToolChange, error) {
	for _, c := range among.History.Items {
		if id == nil || c.ID == *id {
			return c, nil
		}
	}
	if id == nil {
		return connectors.ToolChange{}, fault.Errorf(fault.NotFound, "There is no such change.")
	}
	return door.ToolChange(ctx, among.Connector.ID, tool, *id)
}

// definitionsOf are the hashes that changes name, each once.
func definitionsOf(changes ...connectors.ToolChange) []connectors.Hash {
	seen := map[connectors.Hash]bool{}
	var all []connectors.Hash
	for _, c := range changes {
		for _, h := range []*connectors.Hash{c.Before, c.After} {
			if h != nil && !seen[*h] {
				seen[*h] = true
				all = append(all, *h)
			}
		}
	}
	return all
}

// showChange tells a change's differences; raws are definitions that are at hand.
func showChange(
	ctx context.Context, door *store.Tenant, c connectors.Connector, change connectors.ToolChange, raws map[connectors.Hash][]byte,
) (shown ShownChange, err error) {
	shown.ToolChange = change
	for _, h := range definitionsOf(change) {
		if raws[h] == nil {
			if raws, err = door.Definitions(ctx, definitionsOf(change)); err != nil {
				return shown, err
			}
			break
		}
	}
	if change.Before != nil {
		shown.BeforeRaw = raws[*change.Before]
	}
	if change.After != nil {
		shown.AfterRaw = raws[*change.After]
	}
	names, err := namesFor(ctx, door, c, change, shown)
	if err != nil {
		return shown, err
	}
	shown.Difference = toolchange.Compare(shown.BeforeRaw, shown.AfterRaw, names)
	return shown, nil
}

// namesFor are the tools that the changed one may be taken for, or talks about; asked for only where the sync found such.
func namesFor(ctx context.Context, door *store.Tenant, c connectors.Connector, change connectors.ToolChange, shown ShownChange) (*toolchange.Names, error) {
	if !slices.Contains(change.Kinds, toolchange.Shadows) {
		return nil, nil
	}
	words := append(toolchange.Mentions(shown.BeforeRaw, shown.AfterRaw), change.Tool)
	others, err := door.OtherTools(ctx, c.ID, words, change.Before == nil)
	if err != nil {
		return nil, err
	}
	return toolchange.NewNames(others, c.DiscoveredTools), nil
}
