package manage

import (
	"context"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
)

// ShownChange is a tool change with its differences and definitions.
type ShownChange struct {
	connectors.ToolChange
	Difference toolchange.Change
	BeforeRaw  []byte // nil: a new tool
	AfterRaw   []byte // nil: a removed tool
}

// ToolHistory returns the changes of a tool, or of the instructions, newest first. Differences are computed by
// the current code; kinds and risk are those of the decision.
func (r *Registry) ToolHistory(
	ctx context.Context, tenant connectors.TenantID, ref connectors.Ref, tool string, p store.Page,
) (history store.List[ShownChange], err error) {
	err = r.store.Tenant(tenant).Snapshot(ctx, func(db *store.Tenant) error {
		history, err = toolHistory(ctx, db, ref, tool, p)
		return err
	})
	return history, err
}

func toolHistory(ctx context.Context, db *store.Tenant, ref connectors.Ref, tool string, p store.Page) (store.List[ShownChange], error) {
	c, err := db.Connectors().Get(ctx, ref)
	if err != nil {
		return store.List[ShownChange]{}, err
	}
	if err := requireTool(ctx, db, c, tool); err != nil {
		return store.List[ShownChange]{}, err
	}
	page, err := db.Tools().ChangesOf(ctx, c.ID, tool, p)
	if err != nil {
		return store.List[ShownChange]{}, err
	}
	raws, err := db.Tools().DefinitionsWithin(ctx, definitionHashes(page.Items...))
	if err != nil {
		return store.List[ShownChange]{}, err
	}
	out := store.List[ShownChange]{Items: make([]ShownChange, len(page.Items)), Next: page.Next}
	for i, change := range page.Items {
		if out.Items[i], err = showChange(ctx, db.Tools(), c, change, raws); err != nil {
			return out, err
		}
		out.Items[i].BeforeRaw, out.Items[i].AfterRaw = nil, nil // large definitions must not add up in memory
	}
	return out, nil
}

// requireTool fails if a tool or a skill never existed. Instructions always exist.
func requireTool(ctx context.Context, db *store.Tenant, c connectors.Connector, tool string) (err error) {
	uri, isSkill := connectors.SkillOfTool(tool)
	switch {
	case tool == connectors.InstructionsTool:
	case isSkill:
		_, err = db.Skills().Get(ctx, c.ID, uri)
	default:
		_, err = db.Tools().Get(ctx, c.ID, tool)
	}
	return err
}

// ToolChangePage is one change of a tool and a page of its history.
type ToolChangePage struct {
	Connector connectors.Connector
	Shown     *ShownChange                 // nil: no change
	Newest    bool                         // Shown is the newest change
	Reached   []store.AgentChoice          // of a risky change that can be decided
	Earlier   *connectors.ServedDefinition // before Shown; nil: none, or agents have it
	History   store.List[connectors.ToolChange]
	Total     int // of all pages of History, up to one more than store.MaxTotal
}

// ToolChange returns a change of a tool with its history; a nil id means the newest one.
func (r *Registry) ToolChange(
	ctx context.Context, tenant connectors.TenantID, ref connectors.Ref, tool string, id *connectors.ToolChangeID, p store.Page,
) (among ToolChangePage, err error) {
	err = r.store.Tenant(tenant).Snapshot(ctx, func(db *store.Tenant) error {
		among, err = toolChange(ctx, db, ref, tool, id, p)
		return err
	})
	return among, err
}

func toolChange(
	ctx context.Context, db *store.Tenant, ref connectors.Ref, tool string, id *connectors.ToolChangeID, p store.Page,
) (among ToolChangePage, err error) {
	if among.Connector, err = db.Connectors().Get(ctx, ref); err != nil {
		return among, err
	}
	if among.History, err = db.Tools().ChangesOf(ctx, among.Connector.ID, tool, p); err != nil {
		return among, err
	}
	if among.Total, err = db.Lists().ToolChanges(ctx, among.Connector.ID, tool); err != nil {
		return among, err
	}
	if len(among.History.Items) == 0 && p.Cursor == "" && id == nil {
		return among, requireTool(ctx, db, among.Connector, tool)
	}
	change, err := among.findChange(ctx, db.Tools(), tool, id)
	if err != nil {
		return among, err
	}
	shown, err := showChange(ctx, db.Tools(), among.Connector, change, nil)
	among.Shown = &shown
	if err != nil {
		return among, err
	}
	among.Newest = p.Cursor == "" && change.ID == among.History.Items[0].ID
	if among.Newest && change.State.IsDecidable() && change.Risk == toolchange.High {
		among.Reached, err = db.Agents().AgentsGranted(ctx, among.Connector.ID, tool)
		return among, err // a decision comes before a way back
	}
	among.Earlier, err = findEarlier(ctx, db.Tools(), among, change)
	return among, err
}

// findEarlier finds the definition before a decided change, if agents are served another one now.
func findEarlier(ctx context.Context, db store.Tools, among ToolChangePage, change connectors.ToolChange) (*connectors.ServedDefinition, error) {
	if change.State == connectors.ChangeWaiting || change.Before == nil || change.After == nil || len(among.History.Items) == 0 {
		return nil, nil
	}
	last := among.History.Items[0]
	served := last.Before
	if last.State == connectors.ChangeAccepted || last.State == connectors.ChangeAutomatic {
		served = last.After
	}
	if last.After == nil || served != nil && *served == *change.Before || *last.After == *change.Before {
		return nil, nil // removed, served already, or the server's own
	}
	known, err := db.Served(ctx, among.Connector.ID, change.Tool, []connectors.Hash{*change.Before})
	if err != nil || len(known) == 0 {
		return nil, err
	}
	return &known[0], nil
}

// findChange finds a change on the history's page, or queries it.
func (among ToolChangePage) findChange(ctx context.Context, db store.Tools, tool string, id *connectors.ToolChangeID) (connectors.ToolChange, error) {
	for _, c := range among.History.Items {
		if id == nil || c.ID == *id {
			return c, nil
		}
	}
	if id == nil {
		return connectors.ToolChange{}, fault.Errorf(fault.NotFound, "No such change.")
	}
	return db.Change(ctx, among.Connector.ID, tool, *id)
}

// definitionHashes returns the distinct hashes in changes.
func definitionHashes(changes ...connectors.ToolChange) []connectors.Hash {
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

// showChange computes a change's differences; raws are definitions in memory.
func showChange(
	ctx context.Context, db store.Tools, c connectors.Connector, change connectors.ToolChange, raws map[connectors.Hash][]byte,
) (shown ShownChange, err error) {
	shown.ToolChange = change
	for _, h := range definitionHashes(change) {
		if raws[h] == nil {
			if raws, err = db.Definitions(ctx, definitionHashes(change)); err != nil {
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
	names, err := namesFor(ctx, db, c, change, shown)
	if err != nil {
		return shown, err
	}
	budget := toolchange.NewBudget(ctx.Done())
	if slices.Contains(change.Kinds, toolchange.EndpointChanged) {
		budget.IsForeign = func(string) bool { return true } // the sync found that
	}
	shown.Difference = budget.Compare(shown.BeforeRaw, shown.AfterRaw, names)
	return shown, nil
}

// namesFor returns the tools that a changed one imitates or names. It queries them only if the sync found any.
func namesFor(ctx context.Context, db store.Tools, c connectors.Connector, change connectors.ToolChange, shown ShownChange) (*toolchange.Names, error) {
	if !slices.Contains(change.Kinds, toolchange.Shadows) {
		return nil, nil
	}
	words := append(toolchange.Mentions(shown.BeforeRaw, shown.AfterRaw), change.Tool)
	others, err := db.Others(ctx, c.ID, words, change.Before == nil)
	if err != nil {
		return nil, err
	}
	return toolchange.NewNames(others, c.DiscoveredTools), nil
}
