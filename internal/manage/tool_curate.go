package manage

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// MaxPatches bounds the tools of one change.
const MaxPatches = 2000

// CurateTools changes an admin's settings of tools: whether they are served, their alias, description and tags.
// It is atomic and returns the number of changed tools.
func (r *Registry) CurateTools(ctx context.Context, a auth.Actor, ref connectors.Ref, patches []connectors.ToolPatch) (changed int, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return 0, err
	}
	if len(patches) == 0 || len(patches) > MaxPatches {
		return 0, fault.Errorf(fault.Invalid, "Choose 1–%d tools.", MaxPatches)
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, ref)
		if err != nil {
			return err
		}
		if err := tx.Tools().Lock(ctx, c.ID); err != nil {
			return err
		}
		all, err := tx.Tools().Curated(ctx, c.ID)
		if err != nil {
			return err
		}
		done, err := applyPatches(all, patches)
		if err != nil || len(done) == 0 {
			return err
		}
		if err := tx.Tools().Curate(ctx, c.ID, curatedTools(done)); err != nil {
			return err
		}
		changed = len(done)
		return tx.Audit().Record(ctx, curationEvent(a, c, done))
	})
	if err != nil {
		return 0, err
	}
	return changed, nil
}

// toolCuration is one changed tool.
type toolCuration struct{ before, after store.CuratedTool }

func curatedTools(list []toolCuration) []store.CuratedTool {
	tools := make([]store.CuratedTool, len(list))
	for i, c := range list {
		tools[i] = c.after
	}
	return tools
}

// applyPatches applies patches to a connector's tools and returns those that changed.
func applyPatches(all []store.CuratedTool, patches []connectors.ToolPatch) ([]toolCuration, error) {
	edited := slices.Clone(all)
	indexes := make(map[string]int, len(all))
	for i, t := range all {
		indexes[t.Name] = i
	}
	for _, p := range patches {
		i, found := indexes[p.Tool]
		if !found {
			return nil, fault.Errorf(fault.NotFound, "No such tool.")
		}
		next, err := p.Apply(edited[i].Curation)
		if err != nil {
			return nil, err
		}
		edited[i].Curation = next
	}
	var done []toolCuration
	var renamed []string
	named := make([]connectors.ToolNames, len(edited))
	for i, t := range edited {
		if named[i] = t.Named(); t.Alias != all[i].Alias {
			renamed = append(renamed, t.Name)
		}
		if !t.Same(all[i].Curation) {
			done = append(done, toolCuration{before: all[i], after: t})
		}
	}
	return done, connectors.CheckNames(named, renamed)
}

// curationEvent is the audit event with each tool before and after.
func curationEvent(a auth.Actor, c connectors.Connector, done []toolCuration) store.Event {
	e := a.Event("tool.curate", c.Slug)
	e.Before, e.After = store.State{}, store.State{}
	tools := make([]string, len(done))
	for i, d := range done {
		tools[i] = d.after.Name
		addToState(e.Before, d.before)
		addToState(e.After, d.after)
	}
	e.Detail = map[string]any{"connector_id": c.ID.String(), "tools": tools}
	if len(done) == 1 {
		e.Target = c.Slug + "/" + done[0].after.Name
	}
	return e
}

// addToState adds a tool to an audit state of several tools.
func addToState(s store.State, t store.CuratedTool) {
	s[t.Name+" enabled"], s[t.Name+" alias"] = t.Enabled, t.Alias
	s[t.Name+" agent_description"], s[t.Name+" tags"] = shortenText(t.AgentText), append([]string{}, t.Tags...)
	s[t.Name+" calls_per_minute"], s[t.Name+" calls_per_day"] = t.Quota.PerMinute, t.Quota.PerDay
}

// maxAuditText bounds a text in the audit log, in characters. An entry may be about thousands of tools and is
// kept forever.
const maxAuditText = 200

// shortenText returns a long text's beginning with a hash of the whole.
func shortenText(text string) string {
	all := []rune(text)
	if len(all) <= maxAuditText {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s… (%d characters, sha256 %x)", string(all[:maxAuditText]), len(all), sum[:8])
}
