package store

import (
	"bytes"
	"context"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// writeTools writes a run's changes in one round trip. Definitions precede the tools that refer to them. The
// connector comes last because removed tools copy their last sighting from it.
func (t *tenant) writeTools(ctx context.Context, run dbgen.SyncRun, res SyncResult) error {
	id := run.ConnectorID
	writes := slices.Concat(res.Diff.Added, res.Diff.Changed)
	return t.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
		if defs := neededDefinitions(writes, res); len(defs) > 0 {
			if err := q.InsertDefinitions(ctx, t.definitionColumns(defs)); err != nil {
				return err
			}
		}
		if len(res.Diff.Added) > 0 {
			if err := q.WriteTools(ctx, t.toolColumns(id, res.Diff.Added)); err != nil {
				return err
			}
		}
		if len(res.Diff.Changed) > 0 {
			if err := q.ChangeTools(ctx, dbgen.ChangeToolsParams(t.toolColumns(id, res.Diff.Changed))); err != nil {
				return err
			}
		}
		if len(res.Diff.Removed) > 0 {
			if err := q.RemoveTools(ctx, t.id, id, cleanAll(res.Diff.Removed)); err != nil {
				return err
			}
		}
		if err := q.DeleteQuarantined(ctx, t.id, id); err != nil {
			return err
		}
		if len(res.Quarantined) > 0 {
			if err := q.InsertQuarantined(ctx, t.quarantineColumns(id, res.Quarantined)); err != nil {
				return err
			}
		}
		if err := t.writeChanges(ctx, q, run, res.Diff); err != nil {
			return err
		}
		return q.FinishChangedConnector(ctx, t.stampColumns(toSyncRun(run), res))
	})
}

// neededDefinitions returns the definitions that the writes refer to, unique and sorted by hash.
func neededDefinitions(writes []connectors.ToolWrite, res SyncResult) []connectors.Definition {
	wanted := make(map[connectors.Hash]bool, len(writes))
	for _, w := range writes {
		wanted[w.Current] = true
	}
	var defs []connectors.Definition
	for _, d := range res.Definitions {
		if wanted[d.Hash] {
			wanted[d.Hash] = false
			defs = append(defs, d)
		}
	}
	if w := res.Diff.Instructions; w != nil {
		defs = append(defs, w.Definitions...)
	}
	slices.SortFunc(defs, func(a, b connectors.Definition) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	return defs
}

func (t *tenant) definitionColumns(defs []connectors.Definition) dbgen.InsertDefinitionsParams {
	p := dbgen.InsertDefinitionsParams{TenantID: t.id}
	for i := range defs {
		view := connectors.DecodeTool(defs[i].Raw) // searchable fields
		p.Hashes = append(p.Hashes, defs[i].Hash[:])
		p.Raws = append(p.Raws, defs[i].Raw)
		p.Titles = append(p.Titles, cleanText(view.DisplayTitle()))
		p.Descriptions = append(p.Descriptions, cleanText(view.Description))
		p.Words = append(p.Words, cleanText(splitWords(defs[i].Name)))
	}
	return p
}

func (t *tenant) toolColumns(id connectors.ConnectorID, writes []connectors.ToolWrite) dbgen.WriteToolsParams {
	p := dbgen.WriteToolsParams{TenantID: t.id, ConnectorID: id}
	for i := range writes {
		w := &writes[i]
		var accepted []byte
		if w.Accepted != nil {
			accepted = w.Accepted[:]
		}
		p.Names = append(p.Names, cleanText(w.Name))
		p.CurrentHashes = append(p.CurrentHashes, w.Current[:])
		p.AcceptedHashes = append(p.AcceptedHashes, accepted)
		p.Reviews = append(p.Reviews, string(w.Review))
	}
	return p
}

func (t *tenant) quarantineColumns(id connectors.ConnectorID, entries []connectors.Quarantined) dbgen.InsertQuarantinedParams {
	p := dbgen.InsertQuarantinedParams{TenantID: t.id, ConnectorID: id}
	for i, e := range entries {
		p.Positions = append(p.Positions, int32(i+1))
		p.Names = append(p.Names, cleanText(textOrEmpty(e.Name)))
		p.Reasons = append(p.Reasons, cleanText(e.Reason))
		p.Raws = append(p.Raws, e.Raw)
	}
	return p
}

func (t *tenant) stampColumns(run connectors.SyncRun, res SyncResult) dbgen.FinishChangedConnectorParams {
	p := dbgen.FinishChangedConnectorParams{
		TenantID:           t.id,
		ID:                 run.ConnectorID,
		TookMs:             run.Duration().Milliseconds(),
		ListHash:           res.ListHash[:],
		ToolCount:          int32(res.Total),
		AuthBehaviour:      string(res.AuthBehaviour),
		Era:                cleanText(res.Era),
		KnownS:             res.KnownFor.Seconds(),
		ServerName:         cleanText(res.Server.Name),
		ServerVersion:      cleanText(res.Server.Version),
		ServerTitle:        cleanText(res.Server.Title),
		ServerProtocol:     cleanText(res.Server.ProtocolVersion),
		ServerInstructions: cleanText(res.Server.Instructions),
		ServerCapabilities: res.Capabilities,
	}
	if w := res.Diff.Instructions; w != nil {
		p.InstructionsReview = string(w.Review)
		if w.Review != connectors.ReviewAccepted {
			waiting := cleanText(w.Accepted)
			p.AcceptedInstructions = &waiting
		}
	}
	return p
}

func cleanAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = cleanText(s)
	}
	return out
}
