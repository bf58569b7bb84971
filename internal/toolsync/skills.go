package toolsync

import (
	"context"
	"errors"
	"log/slog"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
	"patchbay/internal/store"
)

// maxSkillsBytes bounds the skills of a connector, which every process keeps in memory.
const maxSkillsBytes = 8 << 20

// serverSkills are the skills of a server.
type serverSkills struct {
	skills      []connectors.Definition
	quarantined []connectors.Quarantined // entries that are not served
	unread      bool                     // they could not be read: the known skills stay
}

// readSkills lists the skills of a server that declares them. A failure here does not fail the sync.
func (s *Syncer) readSkills(ctx context.Context, session *mcp.Session, c connectors.Connector) serverSkills {
	if mcp.Extensions(session.Capabilities(), mcp.MaxServerExtensions)[revision.SkillsExtension] == nil {
		return serverSkills{}
	}
	ctx, cancel := context.WithTimeout(ctx, min(maxItemsTime, c.Timeout))
	defer cancel()
	list, err := session.List(ctx, mcp.Skills)
	size := 0
	for _, raw := range list.Items {
		size += len(raw)
	}
	if err == nil && size > maxSkillsBytes {
		err = errors.New("the skills are larger than 8 MiB")
	}
	if err != nil {
		s.log.InfoContext(ctx, "skills not read", slog.String("connector_id", c.ID.String()), slog.Any("error", err))
		return serverSkills{unread: true}
	}
	var found serverSkills
	seen := map[string]bool{}
	for _, raw := range list.Items {
		skill, defect := connectors.ReadSkill(raw)
		if defect == "" && seen[skill.Name] {
			defect = "An earlier skill has this URI."
		}
		if defect != "" {
			found.quarantined = append(found.quarantined, connectors.Quarantined{Name: &skill.Name, Reason: defect + " Listed as a skill.", Raw: raw})
			continue
		}
		seen[skill.Name] = true
		found.skills = append(found.skills, skill)
	}
	return found
}

// saveSkills stores the skills if they changed. A failure is logged and does not fail the sync: agents are served what was
// accepted before.
func (r *run) saveSkills(ctx context.Context, found serverSkills) {
	err := r.store.RetryStarted(ctx, func(ctx context.Context) error {
		return retryOutdated(ctx, func() error { return r.storeSkills(ctx, found) })
	})
	if err != nil {
		r.log.WarnContext(ctx, "skills not stored", slog.String("connector_id", r.connector.ID.String()), slog.Any("error", err))
	}
}

func (r *run) storeSkills(ctx context.Context, found serverSkills) error {
	hash := connectors.HashSkills(found.skills, found.quarantined)
	if found.unread || equalHashes(hash, r.connector.SkillsHash) {
		return nil
	}
	st := r.store.Tenant(r.tenant)
	known, err := st.Skills().Baseline(ctx, r.connector.ID)
	if err != nil {
		return err
	}
	// The policy decides also at the first sync: unlike tools, skills are instructions that no person has read.
	c := connectors.Comparison{Old: known.Skills, List: found.skills, Policy: known.Policy, Done: ctx.Done()}
	if hashes := c.AcceptedNeeded(); len(hashes) > 0 {
		if c.Accepted, err = st.Tools().Definitions(ctx, hashes); err != nil {
			return err
		}
	}
	diff := connectors.Diff(c)
	if err := ctx.Err(); err != nil { // a diff that ctx ended is incomplete
		return err
	}
	err = st.Skills().Save(ctx, r.connector.ID, store.SkillWrite{
		Run: r.id, Hash: hash, Diff: diff, Definitions: found.skills, Withheld: connectors.WithheldSkills(found.quarantined),
	})
	if err == nil {
		r.connector.SkillsHash = hash
	}
	return err
}
