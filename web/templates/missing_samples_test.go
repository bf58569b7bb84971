package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

// addManyAgents makes a page of credentials one of many.
func addManyAgents(many *templates.ConnectorCredentialsPage) {
	many.Mode = "per_agent"
	many.Missing = &templates.MissingNotice{Title: "12 agents need credentials", Path: "/connectors/linear/credentials/missing", URL: "https://patchbay.example.com/connectors/linear/credentials/missing"}
	many.States, many.Count = []templates.Option{{Value: "", Label: "All states"}, {Value: "missing", Label: "Not connected"}}, "50+ agents"
	many.Pager = templates.Pager{Next: "/connectors/linear/credentials?cursor=x", CSV: "/exports/connectors/linear/credentials?format=csv", JSON: "/exports/connectors/linear/credentials?format=json"}
}

// missingSamples are pages without credentials. page has no rows.
func missingSamples(pages map[string]templ.Component, f templates.Frame, page templates.ConnectorCredentialsPage) {
	none := page
	none.Mode, none.Filtered, none.Filter = "per_agent", true, templates.Form{Values: map[string]string{"q": "x", "status": "missing"}}
	pages["account-agents-none"] = templates.ConnectorCredentials(none)
	absent := templates.MissingCredentialsPage{Frame: f, Head: head(templates.TabCredentials, stateOK), Count: "4 agents", Rows: []templates.MissingCredentialRow{
		{Agent: "Night", Href: "/agents/night", Action: "/connectors/linear/agents/night/connect"}, {Agent: "Ada's", Href: "/agents/ada", Page: "/account/connections/1/2"},
		{Agent: "Grace's", Href: "/agents/grace", Member: "Grace Hopper"}, {Agent: "Research", Href: "/agents/research"},
	}}
	pages["missing"] = templates.MissingCredentials(absent)
	absent.Rows, absent.Count = nil, "0 agents"
	pages["missing-none"] = templates.MissingCredentials(absent)
}

// severalSamples are pages of a connector with several accounts.
func severalSamples(pages map[string]templ.Component, shared templates.CredentialRow, page func(...templates.CredentialRow) templates.ConnectorCredentialsPage) {
	work, home := shared, shared
	work.Key, work.Owner, work.First, work.Name, work.Syncs, work.Known, work.State, work.Error = "shared.work", "shared", true, "work", true, true, stateOK, ""
	home.Key, home.Owner, home.Name, home.ChoosesSyncs, home.Account, home.Last = "shared.home", "shared", "home", true, "ada@home.example.com", true
	pages["account-several"] = templates.ConnectorCredentials(page(work, home))
	refused := home
	refused.Adds, refused.Another = true, templates.Form{Values: map[string]string{"account": "work"}, Errors: map[string]string{"account": "This account name is taken."}}
	refused.Renames, refused.Rename = true, templates.Form{Values: map[string]string{"name": "Work"}, Errors: map[string]string{"name": "Use lowercase letters."}}
	pages["account-another"] = templates.ConnectorCredentials(page(work, refused))
}
