package admin

import (
	"fmt"

	"patchbay/internal/registry"
	"patchbay/web/templates"
)

// listingPreview is a registry's list, to choose from. Servers that are programs are counted, and not shown: nobody can choose them.
func listingPreview(report registry.ImportReport, whole bool) *templates.ListingPreview {
	p := &templates.ListingPreview{}
	programs := 0
	for _, e := range report.Entries {
		if len(e.Problems) > 0 && e.Problems[0].Location == "remotes" {
			programs++
			continue
		}
		p.Rows = append(p.Rows, listingRow(e))
	}
	p.Title = plural(len(p.Rows), "server")
	if programs > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("%s more to be started as programs, without an address, left out.", number(programs)))
	}
	if !whole {
		p.Remarks = append(p.Remarks, "The registry lists more than is shown here. Search for a name.")
	}
	return p
}

func listingRow(e registry.ImportedEntry) templates.ListingRow {
	row := templates.ListingRow{Name: e.Key, Address: e.Address, Summary: clean(e.Summary), Needs: listingNeeds(e), Said: e.Notices}
	switch e.Outcome {
	case registry.Created:
		row.Value = string(e.Document)
	case registry.Refused:
		row.State = templates.State{Kind: templates.StateBad, Text: "Cannot be added"}
		row.Said = importSaid(e)
	default:
		row.State = templates.State{Kind: templates.StateOK, Text: "Added"}
	}
	if e.Connector != nil {
		row.Href = connectorPath(e.Connector.Slug)
	}
	return row
}

// listingNeeds says which credential a server's headers ask for.
func listingNeeds(e registry.ImportedEntry) string {
	switch e.Missing.What {
	case "":
		return "None that the list tells of"
	case "token":
		return "Access token"
	case "key":
		return "API key"
	case "password":
		return "User name and password"
	default:
		return "Account (OAuth)"
	}
}
