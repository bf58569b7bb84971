package templates_test

import (
	"maps"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"patchbay/web/templates"
)

// The samples are every page in each state that looks different, for tests and for a person's eye.

var (
	ago     = templates.When{Text: "2 minutes ago", Title: "21 Nov 2026, 10:12:09 UTC", ISO: "2026-11-21T10:12:09Z"}
	longAgo = templates.When{Text: "3 Nov 2026", Title: "3 Nov 2026, 09:00:00 UTC", ISO: "2026-11-03T09:00:00Z"}
	soon    = templates.When{Text: "in 5 hours", Title: "21 Nov 2026, 15:12:09 UTC", ISO: "2026-11-21T15:12:09Z"}
	never   = templates.When{Text: "never"}

	stateOK   = templates.State{Kind: templates.StateOK, Text: "Connected"}
	stateBusy = templates.State{Kind: templates.StateBusy, Text: "Syncing, page 2"}
	stateBad  = templates.State{Kind: templates.StateBad, Text: "Needs authorization"}
	stateWarn = templates.State{Kind: templates.StateWarn, Text: "Expires in 2 h"}
	stateOff  = templates.State{Kind: templates.StateOff, Text: "Disabled"}
)

func frame(title string, nav templates.Nav, crumbs ...templates.Crumb) templates.Frame {
	return templates.Frame{
		Title: title, Active: nav, Path: "/connectors", Crumbs: append(crumbs, templates.Crumb{Text: title}),
		Person:  &templates.Person{Name: "Ada Lovelace", Email: "ada@example.com", Role: "Owner"},
		Tenant:  templates.TenantChoice{Slug: "acme", Name: "Acme Inc"},
		Tenants: []templates.TenantChoice{{Slug: "acme", Name: "Acme Inc"}, {Slug: "globex", Name: "Globex"}},
		Can:     templates.Permissions{Sync: true, Manage: true, Own: true},
		Waiting: 3, Needs: 5,
	}
}

// asViewer is the frame of a viewer.
func asViewer(f templates.Frame) templates.Frame {
	f.Can = templates.Permissions{}
	f.Person = &templates.Person{Name: "Grace Hopper", Email: "grace@example.com", Role: "Viewer"}
	f.Tenants = f.Tenants[:1]
	return f
}

func connectorRow(id, name, url string, s templates.State, credential, tools string, last templates.When) templates.ConnectorRow {
	return templates.ConnectorRow{
		ID: "01890000-0000-7000-8000-00000000000" + id, Name: name, Href: "/connectors/c" + id, Mark: templates.Mark{Initial: name[:1]}, URL: url,
		State: s, Credential: credential, Tools: tools, LastSync: last, Actions: true, CanSync: true, ReturnTo: "/connectors",
	}
}

func connectorsPage(f templates.Frame) templates.ConnectorsPage {
	rows := []templates.ConnectorRow{
		connectorRow("1", "GitHub", "https://api.githubcopilot.com/mcp/", stateBusy, "Bearer · per agent", "22", ago),
		connectorRow("2", "Linear", "https://mcp.linear.app/mcp", stateOK, "Bearer · shared", "23", ago),
		connectorRow("3", "Render", "https://mcp.render.com/mcp", stateWarn, "Bearer · shared", "21", longAgo),
		connectorRow("4", "Sentry", "https://mcp.sentry.dev/mcp", stateBad, "Bearer · per agent", "0", never),
		connectorRow("5", "Stripe", "https://mcp.stripe.com", stateOK, "API key · shared", "31", longAgo),
		connectorRow("6", "Internal CRM", "https://crm.internal.example.com/a/very/long/path/that/does/not/end/soon/mcp", stateOK, "Basic · shared", "17", longAgo),
		connectorRow("7", "Everything", "http://127.0.0.1:3001/mcp", stateOff, "None", "14", longAgo),
	}
	if rows[0].Tags = []string{"crm"}; f.Can.Sync {
		rows[0].Box = "linear"
	}
	rows[3].Reason = "The server refused the credential (401)."
	rows[2].Remarks = []templates.Badge{{Kind: templates.BadgeRisk, Text: "down for days", Title: "First failure 3 Nov 2026"}, {Kind: templates.BadgeWarn, Text: "out of date"}}
	for i := range rows {
		rows[i].Figures = &templates.RowFigures{UsedBy: "2", UsedByHref: rows[i].Href + "/access", Calls: "41", Failed: "1 error", CallsHref: rows[i].Href + "/calls"}
		rows[i].Actions, rows[i].CanSync = f.Can.Sync, f.Can.Sync && rows[i].Name != "Everything"
	}
	return templates.ConnectorsPage{
		Frame: f, Rows: rows, Count: "7 connectors",
		Bulk: connectorBulk(f),
		Stats: []templates.Stat{
			{Label: "Connectors", Value: "7"},
			{Label: "Tools", Value: "148", Href: "/tools"},
			{Label: "Need attention", Value: "1", Kind: templates.StateBad, Href: "/connectors?status=needs_auth"},
			{Label: "Last sync", When: &ago},
		},
		Statuses: []templates.Option{{Label: "All states"}, {Value: "ok", Label: "Connected"}, {Value: "needs_auth", Label: "Needs authorization"}},
		Pager:    templates.Pager{Next: "/connectors?cursor=x"},
		Sweep: &templates.BulkSync{
			Kind: templates.StateBusy, Title: "Syncing all connectors", Count: "412 of 1,000 done", Open: true, Done: 412, Total: 1000,
			Failed: &templates.Link{Text: "3 failed", Href: "/connectors?status=error"},
		},
	}
}

func connectorBulk(f templates.Frame) *templates.ConnectorBulk {
	if !f.Can.Sync {
		return nil
	}
	return &templates.ConnectorBulk{ReturnTo: "/connectors", AllHref: "/connectors?choose=all", Agents: []templates.Option{{Label: "Choose an agent"}, {Value: "support", Label: "Support"}}}
}

func head(tab templates.ConnectorTab, s templates.State) templates.ConnectorHead {
	return templates.ConnectorHead{
		Enabled: true,
		ID:      "01890000-0000-7000-8000-000000000002", Slug: "linear", Name: "Linear", Mark: templates.Mark{Catalog: &templates.Monogram{Letters: "Li", Colour: "indigo"}}, URL: "https://mcp.linear.app/mcp",
		Href: "/connectors/linear", Tab: tab, State: s, ToolCount: "23",
	}
}

var toolViews = []templates.ToolView{
	{
		Name: "create_issue", Title: "Create issue", Description: "Create a new issue in a team, with a title, a description and labels. Returns the issue's identifier.",
		Href: "/connectors/linear/tools/create_issue", Connector: "Linear", ConnectorHref: "/connectors/linear",
		Badges: []templates.Badge{{Kind: templates.BadgeRisk, Text: "destructive"}, {Text: "open world"}},
		Params: []templates.Param{
			{Name: "team", Type: "string", Required: true, Description: "Key of the team"},
			{Name: "title", Type: "string", Required: true, Description: "Title of the issue"},
			{Name: "priority", Type: "integer", Description: "How urgent it is", Notes: []string{"0 to 4", "default 0"}},
			{Name: "labels", Type: "array of string"},
			{Name: "state.kind", Type: "enum", Notes: []string{"one of backlog, started, done"}},
		},
		Raw: "{\n  \"name\": \"create_issue\",\n  \"inputSchema\": {\n    \"type\": \"object\",\n    \"properties\": {\"team\": {\"type\": \"string\"}}\n  }\n}", FirstSeen: longAgo, Changed: ago, LastSeen: ago,
	},
	{
		Name: "list_issues", Title: "List issues", Description: "List issues by team, state, assignee or label.", Href: "/connectors/linear/tools/list_issues",
		Connector: "Linear", ConnectorHref: "/connectors/linear",
		Badges: []templates.Badge{{Kind: templates.BadgeGood, Text: "read-only"}, {Text: "idempotent"}}, Raw: "{}", FirstSeen: longAgo, Changed: longAgo, LastSeen: ago,
	},
	{
		Name: "archive_project", Description: "Archive a project.", Href: "/connectors/linear/tools/archive_project", Connector: "Linear", ConnectorHref: "/connectors/linear",
		Badges: []templates.Badge{{Kind: templates.BadgeWarn, Text: "removed"}}, Raw: "{}", FirstSeen: longAgo, Changed: longAgo, LastSeen: longAgo, Removed: &longAgo,
	},
}

var quarantined = []templates.QuarantinedTool{
	{Name: "(no name)", Reason: "It has no name.", Raw: "{\n  \"title\": \"?\"\n}"},
	{Name: "broken", Reason: "Its inputSchema is not an object.", Raw: "{\n  \"inputSchema\": 5\n}"},
}

var runs = []templates.SyncRunRow{
	{ID: "4", Trigger: "Manual", State: stateBusy, Started: ago},
	{ID: "3", Trigger: "Schedule", State: templates.State{Kind: templates.StateOK, Text: "Done"}, Started: ago, Duration: "1.2 s", Total: "23 tools", Added: 2, Changed: 1, Removed: 1, Quarantined: 2},
	{ID: "2", Trigger: "API", Agent: "Support", State: templates.State{Kind: templates.StateOK, Text: "Done"}, Started: longAgo, Duration: "480 ms", Total: "22 tools"},
	{ID: "1", Trigger: "Manual", State: templates.State{Kind: templates.StateBad, Text: "Failed"}, Started: longAgo, Duration: "30 s", Error: "The server didn't answer within 30 seconds."},
}

func overview(f templates.Frame) templates.ConnectorOverviewPage {
	return templates.ConnectorOverviewPage{
		Frame: f, Head: head(templates.TabOverview, stateBad),
		Attention: []templates.Attention{
			{Kind: templates.StateBad, Title: "Needs authorization", Text: "The server refused the credential (401). Set a new one.", When: &ago, Action: &templates.Link{Text: "Set credential", Href: "/connectors/linear/credentials"}},
			{Kind: templates.StateWarn, Title: "2 malformed tools", Text: "Invalid entries were left out. The rest synced.", Action: &templates.Link{Text: "Show them", Href: "/connectors/linear/tools"}},
		},
		Stats: []templates.Stat{{Label: "Tools", Value: "23"}, {Label: "Last sync", When: &ago}, {Label: "Next sync", Value: "in 13 minutes"}},
		Server: []templates.Fact{
			{Label: "Name", Value: "Linear MCP"}, {Label: "Version", Value: "1.4.2", Mono: true}, {Label: "Protocol", Value: "2025-06-18", Mono: true},
			{Label: "Scopes", Value: "A credential for everything"},
		},
		Connection: []templates.Fact{
			{Label: "Transport", Value: "Streamable HTTP"}, {Label: "Authentication", Value: "Bearer · shared"}, {Label: "Sync", Value: "every 15 minutes"},
			{Label: "Timeout", Value: "30 s, 3 retries"}, {Label: "Id", Value: "01890000-0000-7000-8000-000000000002", Mono: true, Copy: true}, {Label: "Added", When: &longAgo},
		},
		Health: healthSample, Charts: chartSample(),
		Instructions: "Use list_teams first.\nIssue identifiers look like ENG-12.",
		Runs:         runs[1:],
	}
}

func connectorForm() templates.Form {
	return templates.Form{Values: map[string]string{
		"name": "Linear", "url": "https://mcp.linear.app/mcp", "auth.type": "bearer", "credential_mode": "shared", "transport": "streamable_http",
		"timeout_ms": "30000", "retry_attempts": "3", "sync_interval_s": "900", "calls_per_minute": "0", "enabled": "true", "version": "3", "slug": "linear",
	}}
}

var roles = []templates.Option{{Value: "viewer", Label: "Viewer"}, {Value: "member", Label: "Member"}, {Value: "admin", Label: "Admin"}, {Value: "owner", Label: "Owner"}}

var linear = templates.Crumb{Text: "Linear", Href: "/connectors/linear"}

var inConnectors = templates.Crumb{Text: "Connectors", Href: "/connectors"}

func samples(asset templates.Assets) map[string]templ.Component {
	pages := map[string]templ.Component{}
	with := func(f templates.Frame) templates.Frame {
		f.Asset = asset
		return f
	}
	connectorSamples(pages, with)
	apiSamples(pages, with)
	credentialSamples(pages, with)
	accountSamples(pages, with)
	organisationSamples(pages, with)
	agentSamples(pages, with)
	auditSamples(pages, with)
	callSamples(pages, with)
	approvalSamples(pages, with)
	changeSamples(pages, with)
	trySamples(pages, with)
	noticeSamples(pages, with)
	homeSamples(pages, with)
	doorSamples(pages, with)
	return pages
}

func connectorSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	list := with(frame("Connectors", templates.NavConnectors))
	list.Flash = &templates.Flash{Kind: templates.FlashNotice, Text: "Discovered 23 tools from 'Linear'."}
	pages["connectors"] = templates.Connectors(connectorsPage(list))
	list.Flash = &templates.Flash{Kind: templates.FlashAlert, Text: "Sync failed: The server refused the request.", Said: templates.Quote{Label: "Server response", Text: "quota exceeded"}}
	pages["connectors-viewer"] = templates.Connectors(connectorsPage(asViewer(list)))
	list.Flash = nil
	pages["connectors-empty"] = templates.Connectors(templates.ConnectorsPage{Frame: list})
	none := connectorsPage(list)
	none.Rows, none.Filtered, none.Filter.Values, none.Count, none.Pager = nil, true, map[string]string{"q": "zebra"}, "0 connectors", templates.Pager{}
	pages["connectors-none"] = templates.Connectors(none)

	add := with(frame("Add connector", templates.NavConnectors, inConnectors))
	pages["connector-new"] = templates.ConnectorForm(templates.ConnectorFormPage{Frame: add, Form: connectorForm(), Test: &templates.TestResult{
		Kind: templates.StateOK, Summary: "Linear MCP answered with 3 tools.", Name: "Linear MCP", Short: true, Tools: toolViews, Quarantined: quarantined,
		Facts: []templates.Fact{{Label: "Server", Value: "Linear MCP 1.4.2"}, {Label: "Protocol", Value: "2025-06-18", Mono: true}},
	}})
	pages["connector-new-detected"] = templates.ConnectorForm(templates.ConnectorFormPage{Frame: add, Form: connectorForm(), Test: &templates.TestResult{
		Kind: templates.StateWarn, Summary: "This server uses OAuth at mcp.linear.app.", OffersOAuth: true, Help: "Choose “Account (OAuth)” under Authentication.",
	}})
	pages["connector-new-refused"] = templates.ConnectorForm(templates.ConnectorFormPage{Frame: add, Form: connectorForm(), Test: &templates.TestResult{
		Kind: templates.StateBad, Summary: "2 fields need attention.", Fields: []templates.FieldProblem{{Name: "url", Message: "Enter a URL."}, {Name: "auth.token", Message: "Enter the token."}},
	}})
	importSamples(pages, with)
	catalogSamples(pages, with)
	for _, auth := range []string{"oauth2", "client_credentials", "private_key_jwt"} {
		f := connectorForm()
		f.Values["auth.type"] = auth
		pages["connector-new-"+auth] = templates.ConnectorForm(templates.ConnectorFormPage{Frame: add, Form: f})
	}
	overridden := connectorForm()
	maps.Copy(overridden.Values, map[string]string{
		"auth.type": "oauth2", "auth.client_id": "0oa1b2c3d4", "auth.scopes": "read write", "auth.issuer": "https://login.example.com",
		"auth.no_resource": "true", "auth.token_endpoint_auth_method": "client_secret_post",
	})
	overridden.Errors = map[string]string{"auth.authorization_endpoint": "Enter an https:// URL with a host.", "auth.allow_missing_pkce_metadata": "Not for this type."}
	pages["connector-overridden"] = templates.ConnectorForm(templates.ConnectorFormPage{Frame: add, Form: overridden})

	wrong := connectorForm()
	wrong.Problem = "3 fields need attention."
	wrong.Errors = map[string]string{"url": "Use https, or a host that the operator has allowed.", "auth.token": "Enter the token.", "headers.X-Bad Name": "“X-Bad Name” is no header name."}
	pages["connector-wrong"] = templates.ConnectorForm(templates.ConnectorFormPage{Frame: add, Form: wrong, Test: &templates.TestResult{Kind: templates.StateBad, Summary: "No connection", Failure: &templates.Failure{
		Sentence: "The server refused the credential (401). Set a new one on the Credentials page.", Phase: "while initializing",
		Facts: []templates.Fact{{Label: "Code", Value: "unauthorized", Mono: true}, {Label: "HTTP status", Value: "401", Mono: true}},
	}}})

	one := func(title string) templates.Frame {
		return with(frame(title, templates.NavConnectors, inConnectors, linear))
	}
	pages["connector-overview"] = templates.ConnectorOverview(overview(with(frame("Linear", templates.NavConnectors, inConnectors))))
	pages["connector-tools"] = templates.ConnectorTools(templates.ConnectorToolsPage{Frame: one("Tools"), Head: head(templates.TabTools, stateOK), Rows: toolViews, Count: "3 tools", Quarantined: quarantined, Synced: true})
	allowing := overview(one("Non-MCP methods"))
	allowing.Method = &templates.MethodForm{Action: "/connectors/linear/methods", Allowed: []string{"acme/*"}}
	pages["connector-methods"] = templates.ConnectorOverview(allowing)
	method := templates.ConnectorMethodPage{Frame: allowing.Frame, Head: allowing.Head, Form: *allowing.Method, Said: templates.Quote{Label: "Server response", Text: "No."}}
	method.Form.PerAgent, method.Form.Form = true, templates.Form{Values: map[string]string{"method": "acme/a"}, Errors: map[string]string{"params": "Enter a JSON object."}}
	pages["connector-method"] = templates.ConnectorMethod(method)
	method.Result = &templates.Result{State: stateOK, Blocks: []templates.ResultBlock{{Kind: templates.BlockJSON, Text: "{}"}}, Link: &templates.Link{Text: "Open call", Href: "/calls/1"}}
	pages["connector-method-result"] = templates.ConnectorMethod(method)
	pages["connector-runs"] = templates.ConnectorRuns(templates.ConnectorRunsPage{Frame: one("Sync runs"), Head: head(templates.TabOverview, stateBusy), Rows: runs, Pager: templates.Pager{First: "/connectors/linear/runs", Next: "/connectors/linear/runs?cursor=x"}})
	itemSamples(pages, one, head, with(frame("Support", templates.NavAgents)))
	pages["connector-settings"] = templates.ConnectorSettings(templates.ConnectorSettingsPage{Frame: one("Settings"), Head: head(templates.TabSettings, stateOK), Form: connectorForm(), Stored: true, Enabled: true, ListeningSuspended: "The server sent over 600 messages in a minute. Ask its operator, then turn listening on.", Goes: []string{"23 tools and their history", "1 credential", "48 sync runs"}})
	pages["connector-settings-move"] = templates.ConnectorSettings(templates.ConnectorSettingsPage{Frame: one("Settings"), Head: head(templates.TabSettings, stateOK), Form: connectorForm(), Enabled: true, Drops: []string{`Disconnects accounts of 2 agents: "Ops", "Sales".`}})
	tool := with(frame("create_issue", templates.NavConnectors, inConnectors, linear))
	pages["tool"] = templates.Tool(templates.ToolPage{Frame: tool, Tool: toolViews[0], About: []templates.Fact{
		{Label: "Connector", Value: "Linear", Href: "/connectors/linear"}, {Label: "Exposed as", Value: "mcp_linear__create_issue", Mono: true, Copy: true},
		{Label: "First seen", When: &longAgo}, {Label: "Last change", When: &ago},
	}})
	curateSamples(pages, with, toolViews, func(tab templates.ConnectorTab) templates.ConnectorHead { return head(tab, stateOK) })
	pages["connector-access"] = templates.ConnectorAccess(templates.ConnectorAccessPage{
		Frame: one("Access"), Head: head(templates.TabAccess, stateOK), Kinds: []templates.Option{{Label: "Any access"}}, ReturnTo: "/connectors/linear/access", AllHref: "/connectors/linear/access?choose=all", Count: "2 agents",
		Rows: []templates.AgentReachRow{
			{Name: "Support", Slug: "support", Initial: "S", Href: "/agents/support/connectors/linear", State: stateOK, Tools: "All 23 tools", Approval: "Ask every time"},
			{Name: "Billing", Slug: "billing", Initial: "B", Href: "/agents/billing/connectors/linear", State: stateOff, Tools: "No access"},
		},
	})
	pages["connector-access-none"] = templates.ConnectorAccess(templates.ConnectorAccessPage{Frame: one("Access"), Head: head(templates.TabAccess, stateOK), Filtered: true, Count: "0 agents"})
	pages["connector-calls"] = templates.ConnectorCalls(templates.ConnectorCallsPage{
		Frame: one("Calls"), Head: head(templates.TabCalls, stateOK), Ranges: []templates.Option{{Value: "7d", Label: "Last 7 days"}}, Statuses: []templates.Option{{Label: "All states"}},
		List: templates.CallList{Asset: one("Calls").Asset, Rows: callRows, Count: "6 calls", Chart: callChart()}, AllHref: "/calls?connector=linear",
	})
	pages["connector-changes"] = templates.ConnectorChanges(templates.ConnectorChangesPage{Frame: one("Changes"), Head: head(templates.TabChanges, stateOK), List: templates.ChangeList{Asset: one("Changes").Asset, Count: "0 changes"}})
	pages["search"] = templates.Search(templates.SearchPage{Frame: with(frame("Search", templates.NavNone)), Query: "linear", Count: "2 found", Found: []templates.SearchGroup{
		{ID: "tools", Title: "Tools", List: []templates.SearchResult{{Icon: "wrench", Text: "create_issue", About: "Linear", Href: "/connectors/linear/tools/create_issue"}}},
		{ID: "syncs", Title: "Sync", List: []templates.SearchResult{{Icon: "refresh-cw", Text: "Sync Linear", Action: "/connectors/linear/sync_tools"}}},
	}})
	pages["search-nothing"] = templates.Search(templates.SearchPage{Frame: with(frame("Search", templates.NavNone)), Query: "x"})
	pages["tools"] = templates.Tools(templates.ToolsPage{Frame: with(frame("Tools", templates.NavTools)), Filter: templates.Form{Values: map[string]string{"q": "issue", "annotation": "destructiveHint"}}, Filtered: true, Connectors: []templates.Option{{Label: "All connectors"}, {Value: "linear", Label: "Linear"}}, States: []templates.Option{{Label: "Any state"}}, Hints: []templates.Option{{Label: "Any annotation"}, {Value: "destructiveHint", Label: "Destructive"}}, Rows: toolViews, Count: "3 tools"})
}

func importSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("Import connectors", templates.NavConnectors, inConnectors))
	rows := []templates.ImportRow{
		{Name: "linear", Address: "https://mcp.linear.app/mcp", Line: "line 3", State: templates.State{Kind: templates.StateWarn, Text: "Create, without its token"}, Notes: []string{"The token is missing; the document has ${LINEAR_TOKEN}. Set it."}},
		{Name: "render", Href: "/connectors/render", Address: "https://mcp.render.com/mcp", Line: "line 4", State: templates.State{Kind: templates.StateOK, Text: "Update"}, Notes: []string{"Changes: url, headers."}},
		{Name: "everything", Href: "/connectors/everything", Address: "https://everything.example.com/a/very/long/path/that/does/not/end/soon/mcp", Line: "line 5", State: templates.State{Kind: templates.StateOff, Text: "Leave unchanged"}},
		{Name: "files", Line: "line 6", State: templates.State{Kind: templates.StateBad, Text: "Refuse"}, Notes: []string{"Stdio commands aren't allowed here."}},
	}
	pages["connector-import"] = templates.ConnectorImport(templates.ConnectorImportPage{Frame: f})
	pages["connector-import-preview"] = templates.ConnectorImport(templates.ConnectorImportPage{Frame: f, Preview: &templates.ImportTable{
		Title: "1 to create, 1 to update, 1 unchanged, 1 refused", Kind: templates.StateWarn, Dry: true, Rows: rows,
	}})
	pages["connector-import-wrong"] = templates.ConnectorImport(templates.ConnectorImportPage{Frame: f, Form: templates.Form{
		Errors: map[string]string{"document": "Line 7: invalid JSON. A comma, colon or quote may be missing."},
	}})
	rows[0].Href, rows[0].Repair = "/connectors/linear", &templates.Link{Text: "Set it", Href: "/connectors/linear/credentials"}
	pages["connector-imported"] = templates.ConnectorImported(templates.ConnectorImportedPage{Frame: f, Table: templates.ImportTable{
		Title: "1 created, 1 updated, 1 unchanged, 1 refused", Kind: templates.StateWarn, Rows: rows,
	}})
}

func catalogSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("Catalog", templates.NavConnectors, inConnectors))
	page := templates.CatalogPage{
		Frame: f, Count: "3 servers", Categories: []templates.Option{{Label: "All categories"}, {Value: "projects", Label: "Projects and tasks"}},
		Auths: []templates.Option{{Label: "Any sign-in"}, {Value: "oauth2", Label: "Account (OAuth)"}},
		Cards: []templates.CatalogCard{
			{
				Name: "Linear", Icon: templates.Monogram{Letters: "Li", Colour: "indigo"}, Publisher: "Linear", Category: "Projects and tasks", Description: "Finds and creates issues.",
				URL: "https://mcp.linear.app/mcp", SignIn: "Account (OAuth)", Docs: "https://linear.app/docs/mcp", Add: "/catalog/linear/add", Added: &templates.Link{Text: "Linear", Href: "/connectors/linear"},
			},
			{
				Name: "A name that is far longer than any card of a catalog would ever like it to be", Icon: templates.Monogram{Letters: "An", Colour: "amber"}, Publisher: "Somebody else", Category: "In-house",
				Description: "Does a thing.", URL: "https://a.very.long.name.of.a.host.example.com/with/a/path/without/an/end/mcp", SignIn: "Access token", Note: "Enter a personal access token.", Own: true, Add: "/catalog/a/add",
			},
			{Name: "Docs", Icon: templates.Monogram{Letters: "Do", Colour: "teal"}, Category: "Documentation", Description: "Finds pages.", URL: "https://docs.example.com/mcp", SignIn: "No sign-in", Add: "/catalog/docs/add"},
		},
	}
	pages["catalog"] = templates.Catalog(page)
	page.Cards, page.Count, page.Query, page.Filtered = nil, "0 servers", "nothing", true
	pages["catalog-empty"] = templates.Catalog(page)
	f = with(frame("Import from registry", templates.NavConnectors, inConnectors))
	pages["listing"] = templates.Listing(templates.ListingPage{Frame: f})
	pages["listing-wrong"] = templates.Listing(templates.ListingPage{Frame: f, Form: templates.Form{
		Values: map[string]string{"url": "https://registry.example.com"}, Errors: map[string]string{"url": "The registry timed out.", "document": "Not valid JSON."},
	}})
	pages["listing-preview"] = templates.Listing(templates.ListingPage{Frame: f, Preview: &templates.ListingPreview{
		Title: "3 servers", Remarks: []string{"12 more left out: programs without a URL."}, Rows: []templates.ListingRow{
			{Name: "com.example/weather", Address: "https://weather.example.com/mcp", Summary: "<b>Tells</b> the weather.", Needs: "Access token", Value: `{"server":{"name":"com.example/weather"}}`},
			{Name: "com.example/notes", Address: "https://notes.example.com/mcp", Needs: "None listed", State: templates.State{Kind: templates.StateOK, Text: "Added"}, Href: "/connectors/notes"},
			{Name: "com.example/evil", Needs: "None listed", State: templates.State{Kind: templates.StateBad, Text: "Can't be added"}, Said: []string{"Enter an http:// or https:// URL with a host."}},
		},
	}})
}

func credentialSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("Credentials", templates.NavConnectors, inConnectors, linear))
	h := head(templates.TabCredentials, stateOK)
	pages["credentials-shared"] = templates.ConnectorCredentials(templates.ConnectorCredentialsPage{
		Frame: f, Head: h, Auth: "bearer", Mode: "shared", About: "One bearer token, shared by all agents.",
		Rows: []templates.CredentialRow{{Key: "shared", Who: "All agents", Stored: true, State: templates.State{Kind: templates.StateOK, Text: "Stored"}, Facts: setAndUsed, Action: "/connectors/linear/credential"}},
	})
	missing := templates.State{Kind: templates.StateOff, Text: "Not set"}
	pages["credentials-agents"] = templates.ConnectorCredentials(templates.ConnectorCredentialsPage{
		Frame: f, Head: h, Auth: "basic", Mode: "per_agent", About: "Each agent signs in with its own username and password.",
		Rows: []templates.CredentialRow{
			{Key: "support", Who: "Support", Href: "/agents/support", Stored: true, State: templates.State{Kind: templates.StateBad, Text: "Refused"}, Account: "support-bot", Facts: setAndUsed, Error: "The server refused it (401). Set a new one.", Action: "/connectors/linear/agents/support/credential"},
			{Key: "billing", Who: "Billing", Href: "/agents/billing", State: missing, Action: "/connectors/linear/agents/billing/credential", Open: true, Form: templates.Form{Errors: map[string]string{"password": "Enter the password."}}},
		},
	})
}

var setAndUsed = []templates.Fact{{Label: "Set", When: &longAgo}, {Label: "Last used", When: &ago}}

func accountSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("Credentials", templates.NavConnectors, inConnectors, linear))
	page := func(row ...templates.CredentialRow) templates.ConnectorCredentialsPage {
		return templates.ConnectorCredentialsPage{
			Frame: f, Head: head(templates.TabCredentials, stateOK), Auth: "oauth2", Mode: "shared",
			About: "Sign-in on the server's page, renewed while in use. One account for all agents.",
			Rows:  row, Diagnosis: &templates.Diagnosis{Title: "Diagnosis", Action: "/connectors/linear/diagnose"},
		}
	}
	renewed := []templates.Fact{{Label: "Token expires", When: &soon}, {Label: "Last renewed", When: &ago}, {Label: "Last used", When: &ago}}
	shared := templates.CredentialRow{Key: "shared", Who: "All agents", Action: "/connectors/linear", State: templates.State{Kind: templates.StateOff, Text: "Not connected"}}
	pages["account-none"] = templates.ConnectorCredentials(page(shared))
	shared.Stored, shared.State, shared.Account, shared.Facts = true, stateOK, "ada@example.com", renewed
	shared.Scopes = []string{"read", "write", "issues:create", "comments:create", "offline_access"}
	pages["account-connected"] = templates.ConnectorCredentials(page(shared))
	shared.State, shared.Error = templates.State{Kind: templates.StateBad, Text: "Needs reconnecting"}, "The authorization server ended access. Reconnect."
	linked := page(shared)
	linked.Link = &templates.ConnectLink{URL: "https://patchbay.example.com/connect/0Lq1nY8example-example-example-example-example", Ends: soon}
	pages["account-dead"] = templates.ConnectorCredentials(linked)

	agent := func(name string, s templates.State, stored bool) templates.CredentialRow {
		key := strings.ToLower(name)
		row := templates.CredentialRow{Key: key, Who: name, Href: "/agents/" + key, Action: "/connectors/linear/agents/" + key, State: s, Stored: stored}
		if stored {
			row.Facts, row.Scopes, row.Account = renewed, []string{"read"}, key+"-with-a-long-address@subsidiary.example.com"
		}
		return row
	}
	failing := agent("Billing", templates.State{Kind: templates.StateWarn, Text: "Refresh failed, retrying"}, true)
	failing.Error = "The authorization server can't be reached or failed. It may work later."
	for i := range 30 {
		failing.Scopes = append(failing.Scopes, "https://www.example.com/auth/service"+strconv.Itoa(i)+".readonly")
	}
	many := page(agent("Support", stateOK, true), agent("Research", stateWarn, true), failing, agent("Night", templates.State{Kind: templates.StateOff, Text: "Not connected"}, false))
	addManyAgents(&many)
	many.Link = &templates.ConnectLink{For: "Night", URL: linked.Link.URL, Ends: soon}
	pages["account-agents"] = templates.ConnectorCredentials(many)

	severalSamples(pages, shared, page)
	missingSamples(pages, f, page())

	diagnosed := page(shared)
	diagnosed.Diagnosis = diagnosis()
	pages["diagnosis"] = templates.ConnectorCredentials(diagnosed)
	failed := page(templates.CredentialRow{Key: "shared", Who: "All agents", Action: "/connectors/linear", State: templates.State{Kind: templates.StateOff, Text: "Not connected"}})
	failed.Diagnosis = diagnosis()
	failed.Diagnosis.Title, failed.Diagnosis.First = "Why it isn't connected", true
	failed.Diagnosis.Stages = failed.Diagnosis.Stages[:2]
	failed.Diagnosis.Stages[1].Steps[1].Kind = templates.StateBad
	failed.Diagnosis.Outcome, failed.Diagnosis.Scopes = failed.Diagnosis.Outcome[:1], nil
	failed.Diagnosis.Problem = &templates.Attention{
		Kind: templates.StateBad, Title: "Can't connect an account", Text: "Connection refused for safety: the issuer is https://mcp.linear.app, and its document says https://login.example.com.",
		Action: &templates.Link{Text: "Open settings", Href: "/connectors/linear/settings"},
	}
	pages["diagnosis-failed"] = templates.ConnectorCredentials(failed)

	machine := page(templates.CredentialRow{
		Key: "shared", Who: "All agents", Stored: true, State: templates.State{Kind: templates.StateOK, Text: "Stored"}, Account: "0oa1b2c3", Scopes: []string{"read"},
		Facts: append(setAndUsed[:1:1], renewed...), Action: "/connectors/linear/credential", ClientID: "0oa1b2c3", Open: true,
	})
	machine.Auth = "private_key_jwt"
	pages["credentials-machine"] = templates.ConnectorCredentials(machine)

	list := connectorsPage(with(frame("Connectors", templates.NavConnectors)))
	list.Rows[3].Credential, list.Rows[3].Repair = "OAuth · per agent", &templates.Link{Text: "Reconnect", Href: "/connectors/c4/credentials"}
	list.Expiring = &templates.ExpiringAccounts{Title: "2 accounts to reconnect", Rows: []templates.ExpiringAccountRow{
		{Connector: "Render", Href: "/connectors/c3/credentials#credential-shared", State: "ends", When: soon},
		{Connector: "Sentry", Agent: "Support", Href: "/connectors/c4/credentials#credential-support", State: "ends", When: soon},
	}}
	pages["connectors-lapsing"] = templates.Connectors(list)
}

func diagnosis() *templates.Diagnosis {
	return &templates.Diagnosis{
		Title: "Diagnosis", Action: "/connectors/linear/diagnose", Scopes: []string{"read", "write"},
		Stages: []templates.DiagnosisStage{
			{Name: "MCP server, without credentials", Steps: []templates.DiagnosisStep{
				{Kind: templates.StateOK, URL: "https://mcp.linear.app/mcp", Status: "401 Unauthorized", Read: "a challenge", Decided: "The challenge names the metadata."},
			}},
			{Name: "MCP server metadata", Steps: []templates.DiagnosisStep{
				{Kind: templates.StateOff, URL: "https://mcp.linear.app/.well-known/oauth-protected-resource/mcp", Status: "404 Not Found", Read: "an error", Decided: "No document; trying the next."},
				{Kind: templates.StateOK, URL: "https://mcp.linear.app/.well-known/oauth-protected-resource", Status: "200 OK", Read: "protected-resource metadata", Decided: "The resource's own document."},
			}},
			{Name: "Authorization server metadata", Steps: []templates.DiagnosisStep{
				{Kind: templates.StateOff, Decided: "Issuer from the connector: https://mcp.linear.app."},
				{Kind: templates.StateOK, URL: "https://mcp.linear.app/.well-known/oauth-authorization-server", Status: "200 OK", Read: "authorization-server metadata", Decided: "Authorization server found."},
			}},
		},
		Outcome: []templates.Fact{
			{Label: "Authorization server", Value: "https://mcp.linear.app", Mono: true}, {Label: "Authorization endpoint", Value: "linear.app", Mono: true},
			{Label: "Token endpoint", Value: "mcp.linear.app", Mono: true}, {Label: "Client", Value: "Registered when an account is connected."},
			{Label: "Resource", Value: "https://mcp.linear.app", Mono: true}, {Label: "Server requires", Value: "credential for everything"}, {Label: "Checked", When: &ago},
		},
	}
}

func organisationSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	members := []templates.MemberRow{
		{Name: "Ada Lovelace", Email: "ada@example.com", Initial: "A", Self: true, Role: "owner", RoleName: "Owner", State: templates.State{Kind: templates.StateOK, Text: "Active"}, Since: longAgo, Seen: ago, Action: "/members/1"},
		{Name: "Grace Hopper", Email: "grace@example.com", Initial: "G", Role: "viewer", RoleName: "Viewer", State: templates.State{Kind: templates.StateOff, Text: "Never signed in"}, Since: ago, Seen: never, Action: "/members/2"},
	}
	f := with(frame("Members", templates.NavMembers))
	pages["members"] = templates.Members(templates.MembersPage{Frame: f, Count: "2 members", Roles: roles, Names: roles, Rows: members})
	pages["members-invited"] = templates.Members(templates.MembersPage{
		Frame: f, Count: "2 members", Roles: roles, Names: roles, Rows: members, Mails: true, InvitedCount: "2 open",
		New: &templates.NewInvitation{Email: "joan@example.com", Role: "Member", URL: "https://patchbay.example.com/setup/invitation?token=abc", Ends: ago},
		Invited: []templates.InvitationRow{
			{Email: "joan@example.com", Role: "Member", By: "Ada Lovelace", State: templates.State{Kind: templates.StateBusy, Text: "Waiting"}, Sent: ago, Ends: ago, Action: "/invitations/1"},
			{Email: "hedy@example.com", Role: "Owner", State: templates.State{Kind: templates.StateWarn, Text: "Expired"}, Sent: longAgo, Ends: longAgo, Action: "/invitations/2"},
		},
		Invite: templates.Form{Values: map[string]string{"role": "viewer"}, Errors: map[string]string{"email": "Already a member."}},
	})
	f = with(frame("API keys", templates.NavAPIKeys))
	pages["api-keys"] = templates.APIKeys(templates.APIKeysPage{
		Frame: f, Count: "2 keys", Roles: roles,
		New: &templates.NewAPIKey{Name: "nightly export", Token: "pb_key_0189aaaabbbbccccddddeeeeffff0000_exampleexampleexampleexample_abc123", Example: "curl -H 'Authorization: Bearer pb_key_…' http://127.0.0.1:8080/api/v1/connectors"},
		Rows: []templates.APIKeyRow{
			{Name: "warehouse", Prefix: "pb_key_0189cccc", By: "Ada Lovelace", Role: "Viewer", State: templates.State{Kind: templates.StateWarn, Text: "Expires soon"}, Created: longAgo, LastUsed: ago, Expires: ago, Revoke: "/api-keys/3/revoke"},
			{Name: "nightly export", Prefix: "pb_key_0189aaaa", Role: "Member", State: templates.State{Kind: templates.StateOK, Text: "Active"}, Created: ago, LastUsed: never, Expires: never, Revoke: "/api-keys/1/revoke"},
			{Name: "old script", Prefix: "pb_key_0188bbbb", Role: "Admin", State: templates.State{Kind: templates.StateOff, Text: "Revoked"}, Created: longAgo, LastUsed: longAgo, Expires: longAgo},
		},
	})
	pages["api-keys-empty"] = templates.APIKeys(templates.APIKeysPage{Frame: f, Roles: roles, Soon: &templates.Attention{Kind: templates.StateWarn, Title: "“warehouse” expires soon", Text: "Make another key.", When: &ago}})
	pages["settings"] = templates.Settings(templates.SettingsPage{Frame: with(frame("Settings", templates.NavSettings)), Form: templates.Form{Values: map[string]string{"name": "Acme Inc", "call_history": "redacted", "approval_timeout_s": "300", "history_days": "30", "calls_per_minute": "0", "calls_per_day": "0"}}, Quota: templates.TenantQuota{MaxPerDay: "100,000 calls per day", Bars: quotaSamples}, Histories: histories, Approvals: histories, Keys: templates.SealingKeysPanel{Unfinished: true, Own: true, Keys: []templates.SealingKeyRow{{ID: "09c8b1aa", State: templates.State{Kind: templates.StateBusy, Text: "Decrypts older data"}, Sealed: "12"}, {ID: "2b41f007", State: stateOK, Sealed: "3"}}, Facts: []templates.Fact{{Label: "Made", When: &longAgo}}}, Installation: []templates.Fact{{Label: "Address", Value: "https://patchbay.example.com", Mono: true, Copy: true}}, History: templates.HistoryLimits{Min: "30", Max: "90"}, Facts: []templates.Fact{{Label: "Slug", Value: "acme", Mono: true, Copy: true}, {Label: "Made", When: &longAgo}}})
	pages["account"] = templates.Account(templates.AccountPage{Frame: with(frame("Account", templates.NavAccount)), Facts: []templates.Fact{{Label: "Name", Value: "Ada Lovelace"}, {Label: "Email", Value: "ada@example.com"}}, Form: templates.Form{Errors: map[string]string{"current_password": "Wrong password."}},
		Limits: "Session length: 24 hours idle, 7 days at most.",
		Sessions: []templates.SessionRow{
			{Device: "Firefox on Linux", Address: "192.0.2.7", Here: true, Began: longAgo, Seen: ago, Action: "/account/sessions/1/revoke"},
			{Device: "Unknown browser", Address: "2001:db8:85a3:8d3:1319:8a2e:370:7348", Began: longAgo, Seen: ago, Action: "/account/sessions/2/revoke"},
		}})
	pages["error"] = templates.Error(templates.ErrorPage{Frame: with(frame("Not found", templates.NavNone)), Status: 404, Title: "There is no such page", Text: "It may have been deleted, or it belongs to another organisation.", RequestID: "01890000-0000-7000-8000-0000000000ff", Links: []templates.Link{{Text: "Open connectors", Href: "/connectors"}}})
}
