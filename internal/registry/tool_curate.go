package registry

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

// MaxPatches is how many tools are changed at once.
const MaxPatches = 2000

// CurateTools changes what an admin says of a connector's tools towards agents: whether they are served, under which name, with which
// description, and the tags that people find them by. All of it is done, or nothing. It returns how many tools are different now.
func (r *Registry) CurateTools(ctx context.Context, a auth.Actor, ref connectors.Ref, patches []connectors.ToolPatch) (changed int, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return 0, err
	}
	if len(patches) == 0 || len(patches) > MaxPatches {
		return 0, fault.Errorf(fault.Invalid, "Choose 1 to %d tools.", MaxPatches)
	}
	err = r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connector(ctx, ref)
		if err != nil {
			return err
		}
		if err := tx.LockTools(ctx, c.ID); err != nil {
			return err
		}
		all, err := tx.CuratedTools(ctx, c.ID)
		if err != nil {
			return err
		}
		done, err := curate(all, patches)
		if err != nil || len(done) == 0 {
			return err
		}
		if err := tx.CurateTools(ctx, c.ID, after(done)); err != nil {
			return err
		}
		changed = len(done)
		return tx.Record(ctx, curation(a, c, done))
	})
	if err != nil {
		return 0, err
	}
	return changed, nil
}

// curated is a tool before and after.
type curated struct{ was, is store.CuratedTool }

func after(list []curated) []store.CuratedTool {
	tools := make([]store.CuratedTool, len(list))
	for i, c := range list {
		tools[i] = c.is
	}
	return tools
}

// curate applies the patches to all of a connector's tools, and returns those that are different then.
func curate(all []store.CuratedTool, patches []connectors.ToolPatch) ([]curated, error) {
	is := slices.Clone(all)
	at := make(map[string]int, len(all))
	for i, t := range all {
		at[t.Name] = i
	}
	for _, p := range patches {
		i, there := at[p.Tool]
		if !there {
			return nil, fault.Errorf(fault.NotFound, "There is no such tool.")
		}
		next, err := p.Apply(is[i].Curation)
		if err != nil {
			return nil, err
		}
		is[i].Curation = next
	}
	var done []curated
	var renamed []string
	named := make([]connectors.Named, len(is))
	for i, t := range is {
		if named[i] = t.Named(); t.Alias != all[i].Alias {
			renamed = append(renamed, t.Name)
		}
		if !t.Same(all[i].Curation) {
			done = append(done, curated{was: all[i], is: t})
		}
	}
	return done, connectors.CheckNames(named, renamed)
}

// curation is the event of a change, with what was and what is of each tool.
func curation(a auth.Actor, c connectors.Connector, done []curated) store.Event {
	e := a.Event("tool.curate", c.Slug)
	e.Before, e.After = store.State{}, store.State{}
	tools := make([]string, len(done))
	for i, d := range done {
		tools[i] = d.is.Name
		tell(e.Before, d.was)
		tell(e.After, d.is)
	}
	e.Detail = map[string]any{"connector_id": c.ID.String(), "tools": tools}
	if len(done) == 1 {
		e.Target = c.Slug + "/" + done[0].is.Name
	}
	return e
}

// tell adds a tool to a state that is about several.
func tell(s store.State, t store.CuratedTool) {
	s[t.Name+" enabled"], s[t.Name+" alias"] = t.Enabled, t.Alias
	s[t.Name+" agent_description"], s[t.Name+" tags"] = told(t.AgentText), append([]string{}, t.Tags...)
	s[t.Name+" calls_per_minute"], s[t.Name+" calls_per_day"] = t.Quota.PerMinute, t.Quota.PerDay
}

// mostTold is how much of a text an entry of the audit log tells, in characters: it may be about thousands of tools, and is kept for good.
const mostTold = 200

// told is a text, or its beginning with what tells it from another of the same beginning.
func told(text string) string {
	all := []rune(text)
	if len(all) <= mostTold {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s… (%d characters, sha256 %x)", string(all[:mostTold]), len(all), sum[:8])
}
