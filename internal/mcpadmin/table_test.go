package mcpadmin_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcpadmin"
)

type operation struct {
	ID       string                `json:"operationId"`
	May      connectors.Permission `json:"x-permission"`
	Confirms string                `json:"x-reauthentication"`
	route    string                // "METHOD /path"
}

func (w *testEnv) operations(t *testing.T) map[string]operation {
	t.Helper()
	res, err := w.http.Get(w.url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var document struct {
		Paths map[string]map[string]operation
	}
	if err := json.NewDecoder(res.Body).Decode(&document); err != nil {
		t.Fatal(err)
	}
	all := map[string]operation{}
	for path, methods := range document.Paths {
		for method, op := range methods {
			op.route = strings.ToUpper(method) + " " + path
			all[op.ID] = op
		}
	}
	return all
}

func TestTools_PermissionMatchesAPI(t *testing.T) {
	t.Parallel()
	operations := newWorld(t).operations(t)
	for _, row := range mcpadmin.Table() {
		if len(row.Asks) == 0 {
			t.Errorf("%s asks the API for nothing", row.Name)
		}
		needs := connectors.PermRead
		for _, id := range row.Asks {
			op, there := operations[id]
			switch {
			case !there:
				t.Errorf("%s: the API has no operation %s", row.Name, id)
			case op.May != connectors.PermRead && needs != connectors.PermRead && op.May != needs:
				t.Errorf("%s asks for what needs %s and for what needs %s", row.Name, needs, op.May)
			case op.May != connectors.PermRead:
				needs = op.May
			}
		}
		if row.May != needs {
			t.Errorf("%s needs %s, and what it asks for needs %s", row.Name, row.May, needs)
		}
	}
}

func TestTools_ListedAndAllowedByRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, role := range connectors.Roles {
		t.Run(string(role), func(t *testing.T) {
			t.Parallel()
			a := w.connect(t, w.newAPIKey(t, w.Tenant, role), newest, "")
			var may []string
			for _, row := range mcpadmin.Table() {
				if role.May(row.May) {
					may = append(may, row.Name)
					continue
				}
				code, says := a.callRefused(t, row.Name, exampleArguments[row.Name])
				if code != "denied" || says != "Requires the "+string(connectors.LowestRole(row.May))+" role; yours is "+string(role)+"." {
					t.Errorf("%s: %s, %s", row.Name, code, says)
				}
			}
			slices.Sort(may)
			if diff := cmp.Diff(may, a.listNames(t)); diff != "" {
				t.Errorf("listed (-may +listed):\n%s", diff)
			}
		})
	}
	if requests := w.takeRequests(); len(requests) > 0 {
		t.Errorf("the API was asked %q", requests)
	}
}

var exampleArguments = map[string]map[string]any{
	"list_connectors":         {"limit": 10},
	"list_agents":             {"limit": 10},
	"set_tool_list":           {"agent": "support", "tool_list": "lean"},
	"shorten_answers":         {"agent": "support", "connector": "linear", "tool": "search", "budget": 500},
	"explain_access":          {"agent": "support", "tool": "mcp_linear__search"},
	"list_tool_changes":       {"state": "any"},
	"list_audit_events":       {"action": "connector", "since": "2026-01-31T08:00:00Z"},
	"reset_usage_stats":       {},
	"get_usage_stats":         {"hours": 168, "by": "tool"},
	"list_tool_calls":         {"status": "error"},
	"add_connector":           {"name": "Notes", "url": "https://mcp.example.com/mcp", "auth_type": "bearer"},
	"test_connector":          {"url": "http://127.0.0.1:9/mcp"},
	"sync_tools":              {"connector": "linear"},
	"connect_account":         {"connector": "linear"},
	"list_accounts":           {"connector": "linear"},
	"use_account_for_syncs":   {"connector": "linear", "account": "work"},
	"add_http_api":            {"name": "Notes", "document_url": "http://127.0.0.1:9/openapi.json"},
	"get_http_api":            {"connector": "linear"},
	"set_document":            {"connector": "linear", "document_url": "http://127.0.0.1:9/openapi.json"},
	"list_operations":         {"connector": "linear"},
	"pick_operations":         {"connector": "linear", "add": []string{"GET /notes"}},
	"save_endpoint":           {"connector": "linear", "name": "ping", "url": "http://127.0.0.1:9/ping"},
	"delete_endpoint":         {"connector": "linear", "endpoint": "ping"},
	"grant_tools":             {"agent": "support", "connector": "linear", "tools": []string{"search"}},
	"review_tool_change":      {"connector": "linear", "tool": "search", "hash": "00", "verdict": "reject"},
	"list_access_requests":    {"state": "any"},
	"ask_access":              {"agent": "support", "connector": "linear", "tools": []string{"search"}, "reason": "For the report.", "until": "2100-01-31T08:00:00Z"},
	"decide_access_request":   {"request": "01a1fc26-6580-76b4-afdf-295314fc6074", "verdict": "accept"},
	"withdraw_access_request": {"request": "01a1fc26-6580-76b4-afdf-295314fc6074"},
	"decide_approval":         {"call": "01a1fc26-6580-76b4-afdf-295314fc6074", "verdict": "deny"},
}

// A tool calls only the operations in its row.
func TestTools_CallOnlyDeclaredOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	operations := w.operations(t)
	w.seedTool(t)
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleOwner), newest, "accept")
	for _, row := range mcpadmin.Table() {
		arguments, there := exampleArguments[row.Name]
		if !there {
			t.Errorf("%s has no example", row.Name)
			continue
		}
		w.takeRequests()
		if misfit := a.tryTool(t, row.Name, arguments); misfit != "" {
			t.Errorf("%s: %s", row.Name, misfit)
		}
		requests := w.takeRequests()
		if len(requests) == 0 {
			t.Errorf("%s asked the API for nothing", row.Name)
		}
		for _, request := range requests {
			if !slices.ContainsFunc(row.Asks, func(id string) bool { return matchesRoute(operations[id].route, request) }) {
				t.Errorf("%s asks %s, which is not in its row", row.Name, request)
			}
		}
	}
}

func matchesRoute(route, request string) bool {
	pattern := regexp.MustCompile(`\\\{[a-z_]+\\\}`).ReplaceAllString(regexp.QuoteMeta(route), "[^/]+")
	return regexp.MustCompile("^" + pattern + "$").MatchString(request)
}
