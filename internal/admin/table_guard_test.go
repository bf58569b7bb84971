package admin_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tableFiles has every component of the templates with a table or a pager, and the page that has a file of its rows.
// A new one needs a row here, or in tablesWithoutFile.
var tableFiles = map[string]string{
	"APIKeys":            "/api-keys",
	"AgentAccess":        "/agents/{id}/access",
	"AgentConnect":       "/agents/{id}/connect",
	"AgentItems":         "/agents/{id}/resources",
	"AgentTools":         "/agents/{id}/tools",
	"agentTable":         "/agents",
	"Agents":             "/agents",
	"Approvals":          "/approvals",
	"Audit":              "/audit",
	"callsTable":         "/calls",
	"ConnectorPrompts":   "/connectors/{id}/prompts",
	"ConnectorResources": "/connectors/{id}/resources",
	"ConnectorRuns":      "/connectors/{id}/runs",
	"ConnectorTools":     "/connectors/{id}/tools",
	"Members":            "/members",
	"TasksList":          "/tasks",
	"Registries":         "/registries",
	"registryTable":      "/registries",
	"Tools":              "/tools",
	"Webhook":            "/webhooks/{id}",
	"Webhooks":           "/webhooks",
	"agentTokens":        "/agents/{id}/connect",
	"agentToolTable":     "/agents/{id}/tools",
	"auditTable":         "/audit",
	"callTable":          "/calls",
	"changesList":        "/changes",
	"connectorTable":     "/connectors",
	"credentialTable":    "/connectors/{id}/credentials",
	"deliveryTable":      "/webhooks/{id}",
	"grantTable":         "/agents/{id}/access",
	"runTable":           "/connectors/{id}/runs",
	"itemTable":          "/connectors/{id}/resources",
	"sessions":           "/account",
	"toolTable":          "/tools",
	"webhookTable":       "/webhooks",
}

// tablesWithoutFile have no file, with the reason.
var tablesWithoutFile = map[string]string{
	"auditStreamTable":   "at most five streams; the API lists them",
	"workloadTable":      "at most twenty workloads of an agent; the API lists them",
	"toolSearchTable":    "the ten best results of a search",
	"Change":             "the pager leads to other changes of one tool, and /changes has them all",
	"MissingCredentials": "the file of the credentials has its rows, with status=missing",
	"Notices":            "what is new for one person; the audit log and the webhooks have the same for programs",
	"AccessRequests":     "the API lists them whole, and the audit log has each",
	"accessRequestTable": "as AccessRequests",
	"requestedToolTable": "what one decision rests on; /tools has the tools",
	"AccessMatrix":       "the grants in another form; the file of an agent's access has them",
	"ConnectorAccess":    "as AccessMatrix",
	"agentReachTable":    "as AccessMatrix",
	"allowanceTable":     "an allowance ends within a day, and the audit log has each",
	"chartTable":         "the numbers of a chart; /calls has their calls",
	"endpointList":       "endpoints of one connector; /tools has their tools",
	"operationsTable":    "the operations of a document; the API lists them whole",
	"figureTable":        "the numbers of a chart; /calls has their calls",
	"importTable":        "a preview, before anything is stored",
	"invitations":        "they end within days, and the audit log has each",
	"listingPreview":     "a preview, before anything is stored",
	"params":             "the parameters of one tool; /tools has its definition",
	"requestTable":       "the requests of one run",
	"sealingKeys":        "a few keys of the installation, by their public ids",
	"signedInTable":      "programs of one page, which the API lists whole",
	"ssoDomains":         "a few domains of one form",
}

var (
	componentStart = regexp.MustCompile(`(?m)^templ (?:\([^)]*\) )?([A-Za-z]+)\(`)
	listMark       = regexp.MustCompile(`<table[ >]|@pager\(`)
)

// listComponents are the components with a table or a pager in the source of the templates.
func listComponents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "web", "templates", "*.templ"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d templates, %v", len(files), err)
	}
	var found []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		starts := componentStart.FindAllSubmatchIndex(text, -1)
		for i, at := range starts {
			end := len(text)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			source, name := text[at[0]:end], string(text[at[2]:at[3]])
			if n := bytes.Count(source, []byte("<table")); n > 1 {
				t.Errorf("%s has %d tables: one component has one", name, n)
			}
			if listMark.Match(source) {
				found = append(found, name)
			}
		}
	}
	return found
}

func TestEveryTable_HasAFileOrAReason(t *testing.T) {
	t.Parallel()
	found := listComponents(t)
	if len(found) < 30 {
		t.Fatalf("only %d components have a table: %v", len(found), found)
	}
	for _, name := range found {
		page, hasFile := tableFiles[name]
		_, hasReason := tablesWithoutFile[name]
		switch {
		case hasFile == hasReason:
			t.Errorf("the table of %s needs a file in tableFiles, or a reason in tablesWithoutFile, and not both", name)
		case hasFile && routeRoles[exportsOf+page] == "":
			t.Errorf("the file of %s has no route %s", name, exportsOf+page)
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(tableFiles)), slices.Collect(maps.Keys(tablesWithoutFile))) {
		if !slices.Contains(found, name) {
			t.Errorf("%s has no table", name)
		}
	}
	for route := range routeRoles {
		page, ok := strings.CutPrefix(route, exportsOf)
		if ok && !slices.Contains(slices.Collect(maps.Values(tableFiles)), page) {
			t.Errorf("the file of %s has no table", page)
		}
	}
}
