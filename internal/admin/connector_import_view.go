package admin

import (
	"context"
	"strings"

	"patchbay/internal/registry"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// importTable shows the outcome of an import or of its preview.
func importTable(ctx context.Context, report registry.ImportReport) *templates.ImportTable {
	table := &templates.ImportTable{Dry: report.Dry, Title: importSummary(ctx, report), Kind: templates.StateOK}
	for _, e := range report.Entries {
		row := importRow(ctx, e, report.Dry)
		if row.State.Kind == templates.StateBad || row.State.Kind == templates.StateWarn {
			table.Kind = templates.StateWarn
		}
		table.Rows = append(table.Rows, row)
	}
	switch {
	case len(report.Entries) == 0:
		table.Kind = templates.StateOff
	case report.Count(registry.Refused) == len(report.Entries):
		table.Kind = templates.StateBad
	}
	return table
}

func importSummary(ctx context.Context, report registry.ImportReport) string {
	if len(report.Entries) == 0 {
		return words.T(ctx, "The document lists no server")
	}
	names := map[registry.Outcome]words.Key{
		registry.Created: "%s created", registry.Updated: "%s updated", registry.Unchanged: "%s unchanged", registry.Refused: "%s refused",
	}
	if report.Dry {
		names[registry.Created], names[registry.Updated] = "%s to create", "%s to update"
	}
	var parts []string
	for _, o := range []registry.Outcome{registry.Created, registry.Updated, registry.Unchanged, registry.Refused} {
		if n := report.Count(o); n > 0 {
			parts = append(parts, words.T(ctx, names[o], words.Number(ctx, n)))
		}
	}
	return strings.Join(parts, ", ")
}

func importRow(ctx context.Context, e registry.ImportedEntry, dry bool) templates.ImportRow {
	row := templates.ImportRow{Name: e.Key, Address: e.Address, Line: words.T(ctx, "line %d", e.Line), State: importState(ctx, e, dry), Notes: importNotes(ctx, e)}
	if e.Connector == nil {
		return row
	}
	row.Href = connectorPath(e.Connector.Slug)
	if e.Missing.What != "" && !dry {
		row.Repair = &templates.Link{Text: words.T(ctx, "Set it"), Href: credentialsPath(e.Connector.Slug)}
		if e.Missing.What == "account" {
			row.Repair.Text = words.T(ctx, "Connect")
		}
	}
	return row
}

func importState(ctx context.Context, e registry.ImportedEntry, dry bool) templates.State {
	texts := map[registry.Outcome][2]string{
		registry.Created:   {words.T(ctx, "Created"), words.T(ctx, "Create")},
		registry.Updated:   {words.T(ctx, "Updated"), words.T(ctx, "Update")},
		registry.Unchanged: {words.T(ctx, "Unchanged"), words.T(ctx, "Leave unchanged")},
		registry.Refused:   {words.T(ctx, "Refused"), words.T(ctx, "Refuse")},
	}[e.Outcome]
	state := templates.State{Kind: templates.StateOK, Text: texts[0]}
	if dry {
		state.Text = texts[1]
	}
	switch {
	case e.Outcome == registry.Refused:
		state.Kind = templates.StateBad
	case e.Missing.What != "":
		state.Kind = templates.StateWarn
	case e.Outcome == registry.Unchanged:
		state.Kind = templates.StateOff
	}
	return state
}

// importNotes are remarks about an entry, most important first.
func importNotes(ctx context.Context, e registry.ImportedEntry) []string {
	var notes []string
	for _, p := range e.Problems {
		notes = append(notes, words.Said(ctx, p.Message))
	}
	if e.Missing.Sentence != "" {
		notes = append(notes, words.Said(ctx, e.Missing.Sentence))
	}
	notes = append(notes, translateAll(ctx, e.Notices)...)
	if len(e.Changed) > 0 {
		notes = append(notes, words.T(ctx, "Changes: %s.", strings.Join(e.Changed, ", ")))
	}
	return notes
}
