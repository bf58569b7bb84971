package catalog

import (
	"context"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/web/templates"
)

// listingPreview shows a registry's servers. Programs are only counted, because they cannot be chosen.
func listingPreview(ctx context.Context, report manage.ImportReport, complete bool) *templates.ListingPreview {
	p := &templates.ListingPreview{}
	programs := 0
	for _, e := range report.Entries {
		if len(e.Problems) > 0 && e.Problems[0].Location == "remotes" {
			programs++
			continue
		}
		p.Rows = append(p.Rows, listingRow(ctx, e))
	}
	p.Title = i18n.N(ctx, len(p.Rows), "%s server", "%s servers")
	if programs > 0 {
		p.Remarks = append(p.Remarks, i18n.T(ctx, "%s more left out: programs without a URL.", i18n.Number(ctx, programs)))
	}
	if !complete {
		p.Remarks = append(p.Remarks, i18n.T(ctx, "More in the registry. Search by name."))
	}
	return p
}

func listingRow(ctx context.Context, e manage.ImportedEntry) templates.ListingRow {
	row := templates.ListingRow{Name: e.Key, Address: e.Address, Summary: shell.CleanText(e.Summary), Needs: listingNeeds(ctx, e), Said: shell.TranslateAll(ctx, e.Notices)}
	switch e.Outcome {
	case manage.Created:
		row.Value = string(e.Document)
	case manage.Refused:
		row.State = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Can't be added")}
		row.Said = connectorpages.ImportNotes(ctx, e)
	default:
		row.State = templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Added")}
	}
	if e.Connector != nil {
		row.Href = shell.ConnectorPath(e.Connector.Slug)
	}
	return row
}

// listingNeeds says which credential a server's headers need.
func listingNeeds(ctx context.Context, e manage.ImportedEntry) string {
	switch e.Missing.What {
	case "":
		return i18n.T(ctx, "None listed")
	case "token":
		return i18n.T(ctx, "Access token")
	case "key":
		return i18n.T(ctx, "API key")
	case "password":
		return i18n.T(ctx, "Username and password")
	default:
		return i18n.T(ctx, "Account (OAuth)")
	}
}
