package admin

import (
	"fmt"
	"strings"

	"patchbay/internal/registry"
	"patchbay/web/templates"
)

// importTable is what became of a document, or what would.
func importTable(report registry.ImportReport) *templates.ImportTable {
	table := &templates.ImportTable{Dry: report.Dry, Title: importSummary(report), Kind: templates.StateOK}
	for _, e := range report.Entries {
		row := importRow(e, report.Dry)
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

func importSummary(report registry.ImportReport) string {
	if len(report.Entries) == 0 {
		return "The document lists no server"
	}
	words := map[registry.Outcome]string{registry.Created: "created", registry.Updated: "updated"}
	if report.Dry {
		words = map[registry.Outcome]string{registry.Created: "to create", registry.Updated: "to update"}
	}
	words[registry.Unchanged], words[registry.Refused] = "unchanged", "refused"
	var parts []string
	for _, o := range []registry.Outcome{registry.Created, registry.Updated, registry.Unchanged, registry.Refused} {
		if n := report.Count(o); n > 0 {
			parts = append(parts, number(n)+" "+words[o])
		}
	}
	return strings.Join(parts, ", ")
}

func importRow(e registry.ImportedEntry, dry bool) templates.ImportRow {
	row := templates.ImportRow{Name: e.Key, Address: e.Address, Line: fmt.Sprintf("line %d", e.Line), State: importState(e, dry), Said: importSaid(e)}
	if e.Connector == nil {
		return row
	}
	row.Href = connectorPath(e.Connector.Slug)
	if e.Missing.What != "" && !dry {
		row.Mend = &templates.Link{Text: "Set it", Href: credentialsPath(e.Connector.Slug)}
		if e.Missing.What == "account" {
			row.Mend.Text = "Connect"
		}
	}
	return row
}

func importState(e registry.ImportedEntry, dry bool) templates.State {
	said := map[registry.Outcome][2]string{
		registry.Created:   {"Created", "Create"},
		registry.Updated:   {"Updated", "Update"},
		registry.Unchanged: {"Unchanged", "Leave unchanged"},
		registry.Refused:   {"Refused", "Refuse"},
	}[e.Outcome]
	state := templates.State{Kind: templates.StateOK, Text: said[0]}
	if dry {
		state.Text = said[1]
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

// importSaid is what a person should know, the most important first.
func importSaid(e registry.ImportedEntry) []string {
	var said []string
	for _, p := range e.Problems {
		said = append(said, p.Message)
	}
	if e.Missing.Sentence != "" {
		said = append(said, e.Missing.Sentence)
	}
	said = append(said, e.Notices...)
	if len(e.Changed) > 0 {
		said = append(said, "Changes: "+strings.Join(e.Changed, ", ")+".")
	}
	return said
}
