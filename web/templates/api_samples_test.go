package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

// apiSamples are the pages of an HTTP API.
func apiSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f, api := with(frame("Notes", templates.NavConnectors, inConnectors)), head(templates.TabOperations, stateOK)
	api.IsAPI = true
	choices := []templates.Option{{Label: "Any"}, {Value: "read", Label: "read"}}
	operations := templates.ConnectorOperationsPage{
		Frame: f, Head: api, Title: "Notes 2.1", Facts: []templates.Fact{{Label: "Format", Value: "OpenAPI 3.1.0"}, {Label: "Server", Value: "https://api.example.com/v2", Mono: true}},
		Filter: templates.Form{Values: map[string]string{"q": "note"}}, Filtered: true, Tags: choices, Methods: choices, States: choices, Count: "312 operations", SelectAll: "Pick all 312",
		Total: "12 of 312 picked · about 4,300 tokens", Page: templates.OperationsPart{Text: "51–100 of 312", Prev: "1", Next: "3", PrevHref: "/connectors/linear/operations", NextHref: "/connectors/linear/operations?page=3"},
		Rows: []templates.OperationRow{
			{Key: "GET /notes", Method: "GET", Path: "/notes", Title: "List notes", Name: "listNotes", Tokens: "120", Picked: true, New: true, Href: "/connectors/linear/tools/listNotes"},
			{Key: "DELETE /notes/{id}", Method: "DELETE", Path: "/notes/{id}", Name: "deleteNote", Tokens: "80", Deprecated: true},
			{Key: "POST /odd", Method: "POST", Path: "/odd", Name: "odd", Problem: "The address of the server isn't a valid URL."},
		},
		Add: []string{"GET /tags"}, Drop: []string{"PUT /tags"},
		Endpoints: []templates.EndpointRow{{Name: "ping", Method: "GET", URL: "https://api.example.com/ping", Tokens: "40", Href: "/connectors/linear/endpoint?name=ping"}},
	}
	pages["operations"] = templates.ConnectorOperations(operations)
	viewer := operations
	viewer.Frame = asViewer(f)
	pages["operations-viewer"] = templates.ConnectorOperations(viewer)
	none := operations
	none.Rows, none.Endpoints, none.Page, none.Problem = nil, nil, templates.OperationsPart{}, "The document has no operations."
	pages["operations-none"] = templates.ConnectorOperations(none)
	pages["operations-server"] = templates.ConnectorOperations(templates.ConnectorOperationsPage{Frame: f, Head: head(templates.TabOperations, stateOK)})
	endpoint := templates.ConnectorEndpointPage{
		Frame: f, Head: api, Before: "ping", Notes: []string{"Cookies were left out."}, Tokens: "40 tokens", Params: toolViews[0].Params,
		Form:   templates.Form{Values: map[string]string{"name": "ping", "method": "GET", "url": "https://api.example.com/ping"}, Errors: map[string]string{"filter": "The filter isn't valid."}},
		Result: &templates.Result{State: templates.State{Kind: templates.StateOK, Text: "Done"}, Blocks: []templates.ResultBlock{{Kind: templates.BlockJSON, Text: "{}"}}},
	}
	pages["endpoint"] = templates.ConnectorEndpoint(endpoint)
	pages["endpoint-new"] = templates.ConnectorEndpoint(templates.ConnectorEndpointPage{Frame: f, Head: api})
	pages["endpoint-server"] = templates.ConnectorEndpoint(templates.ConnectorEndpointPage{Frame: f, Head: head(templates.TabOperations, stateOK)})
	form := connectorForm()
	form.Values["transport"] = "api"
	pages["connector-new-api"] = templates.ConnectorForm(templates.ConnectorFormPage{Frame: f, Form: form, Test: &templates.TestResult{
		Kind: templates.StateOK, Summary: "Notes 2 has 3 operations.", SignIn: &templates.SignInOffer{Auth: "bearer", Name: "Bearer token"},
	}})
	pages["connector-new-found"] = templates.ConnectorForm(templates.ConnectorFormPage{Frame: f, Form: connectorForm(), Test: &templates.TestResult{
		Kind: templates.StateWarn, Summary: "This is an HTTP API: Notes 2 with 3 operations.", Action: &templates.Link{Text: "Add as HTTP API", Href: "/connectors/new?kind=http"},
	}})
	answer := templates.APIAnswer{
		Action: "/connectors/linear/tools/listNotes/answer", Can: true, HasPages: true, Form: templates.Form{Values: map[string]string{"filter": ".items", "max_pages": "3"}},
		Result: &templates.Result{State: templates.State{Kind: templates.StateOK, Text: "Filtered response"}, Blocks: []templates.ResultBlock{{Kind: templates.BlockJSON, Text: "[]"}}},
	}
	answer.Annotations = templates.Form{Values: map[string]string{"annotations.readOnlyHint": "true"}, Errors: map[string]string{"annotations.openWorldHint": "Pick one of the options."}}
	pages["tool-api"] = templates.Tool(templates.ToolPage{Frame: f, Tool: toolViews[0], Answer: &answer})
	pages["tool-api-viewer"] = templates.Tool(templates.ToolPage{Frame: asViewer(f), Tool: toolViews[0], Answer: &templates.APIAnswer{Facts: []templates.Fact{{Label: "jq filter", Value: "none"}}}})
}
