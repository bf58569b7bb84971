package connectors

import (
	"context"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/web/templates"
)

// ImportTable shows the outcome of an import or of its preview.
func ImportTable(ctx context.Context, report manage.ImportReport) *templates.ImportTable {
	table := &templates.ImportTable{Dry: report.Dry, Title: importSummary(ctx, report), Kind: templates.StateOK, Imports: report.Count(manage.Created) + report.Count(manage.Updated)}
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
	case report.Count(manage.Refused) == len(report.Entries):
		table.Kind = templates.StateBad
	}
	return table
}

func importSummary(ctx context.Context, report manage.ImportReport) string {
	if len(report.Entries) == 0 {
		return i18n.T(ctx, "No servers found")
	}
	names := map[manage.Outcome]i18n.Key{
		manage.Created: "%s created", manage.Updated: "%s updated", manage.Unchanged: "%s unchanged", manage.Refused: "%s not imported",
	}
	if report.Dry {
		names[manage.Created], names[manage.Updated], names[manage.Refused] = "%s to create", "%s to update", "%s can't be imported"
	}
	var parts []string
	for _, o := range []manage.Outcome{manage.Created, manage.Updated, manage.Unchanged, manage.Refused} {
		if n := report.Count(o); n > 0 {
			parts = append(parts, i18n.T(ctx, names[o], i18n.Number(ctx, n)))
		}
	}
	return strings.Join(parts, ", ")
}

func importRow(ctx context.Context, e manage.ImportedEntry, dry bool) templates.ImportRow {
	row := templates.ImportRow{Name: e.Key, Address: e.Address, Line: i18n.T(ctx, "line %d", e.Line), State: importState(ctx, e, dry), Notes: ImportNotes(ctx, e)}
	if e.Connector == nil {
		return row
	}
	row.Href = shell.ConnectorPath(e.Connector.Slug)
	if e.Missing.What != "" && !dry {
		row.Repair = &templates.Link{Text: i18n.T(ctx, "Set it"), Href: shell.CredentialsPath(e.Connector.Slug)}
		if e.Missing.What == "account" {
			row.Repair.Text = i18n.T(ctx, "Connect")
		}
	}
	return row
}

func importState(ctx context.Context, e manage.ImportedEntry, dry bool) templates.State {
	texts := map[manage.Outcome][2]string{
		manage.Created:   {i18n.T(ctx, "Created"), i18n.T(ctx, "Create")},
		manage.Updated:   {i18n.T(ctx, "Updated"), i18n.T(ctx, "Update")},
		manage.Unchanged: {i18n.T(ctx, "Unchanged"), i18n.T(ctx, "Leave unchanged")},
		manage.Refused:   {i18n.T(ctx, "Not imported"), i18n.T(ctx, "Can't be imported")},
	}[e.Outcome]
	state := templates.State{Kind: templates.StateOK, Text: texts[0]}
	if dry {
		state.Text = texts[1]
	}
	switch {
	case e.Outcome == manage.Refused:
		state.Kind = templates.StateBad
	case e.Missing.What != "":
		state.Kind = templates.StateWarn
	case e.Outcome == manage.Unchanged:
		state.Kind = templates.StateOff
	}
	return state
}

// ImportNotes are remarks about an entry, most important first.
func ImportNotes(ctx context.Context, e manage.ImportedEntry) []string {
	var notes []string
	problems := e.Problems
	// Where programs are switched off, no path would be right.
	if i := slices.IndexFunc(problems, func(p fault.Field) bool { return p.Location == "transport" }); i >= 0 {
		problems = problems[i : i+1]
	}
	for _, p := range problems {
		notes = append(notes, i18n.TranslateKnown(ctx, p.Message))
	}
	if e.Missing.Sentence != "" {
		notes = append(notes, i18n.TranslateKnown(ctx, e.Missing.Sentence))
	}
	notes = append(notes, shell.TranslateAll(ctx, e.Notices)...)
	if len(e.Changed) > 0 {
		notes = append(notes, i18n.T(ctx, "Changes: %s.", strings.Join(e.Changed, ", ")))
	}
	return notes
}
