package admin_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

const exportsOf = "GET /exports"

func TestTableFile_HasTheRoleOfItsPage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids, owner := d.ownThings(), d.signInAsRole(connectors.RoleOwner)
	c, err := d.Door().Connectors().Get(t.Context(), connectors.Ref(ids.connector))
	if err != nil {
		t.Fatal(err)
	}
	d.saveItems(c, greetPrompt, notesResource, dayTemplate)
	perAgent := ids // its connector needs credentials
	perAgent.connector = d.Connector(t, bearerAuth, func(c *connectors.Draft) { c.CredentialMode = connectors.CredentialPerAgent }).ID.String()
	owner.get("/exports/connectors?format=csv").want(t, http.StatusOK) // leaves an entry in the audit log
	for route, needs := range routeRoles {
		pattern, ok := strings.CutPrefix(route, exportsOf)
		if !ok {
			continue
		}
		if page := routeRoles["GET "+pattern]; page != needs {
			t.Errorf("%s is for %s, and its page for %s", route, needs, page)
		}
		path, filter := ids.fill(pattern), ""
		switch pattern {
		case "/changes":
			filter = "&state=all"
		case "/connectors/{id}/credentials":
			path = perAgent.fill(pattern)
		}
		owner.get(path+"?"+filter).want(t, http.StatusOK, `href="/exports`+path+`?format=csv`+filter+`"`, `href="/exports`+path+`?format=json`+filter+`"`)
		file := owner.get("/exports" + path + "?" + filter)
		file.want(t, http.StatusOK)
		lines, err := csv.NewReader(strings.NewReader(file.Body)).ReadAll()
		if err != nil || len(lines) < 2 || !strings.Contains(file.Header.Get("Content-Disposition"), ".csv") {
			t.Errorf("%s: %d lines, %v, %v", route, len(lines), err, file.Header)
		}
		var object struct {
			Rows     []map[string]any
			Complete bool
		}
		again := owner.get("/exports" + path + "?format=json" + filter)
		if err := json.Unmarshal([]byte(again.Body), &object); err != nil || len(object.Rows) < len(lines)-1 || !object.Complete {
			t.Fatalf("%s: %d rows, %v", route, len(object.Rows), err) // by now the log has the first file's entry
		}
		for name := range object.Rows[0] {
			if !slices.Contains(lines[0], name) {
				t.Errorf("%s: JSON has %s, and CSV does not", route, name)
			}
		}
		owner.get("/exports"+path+"?format=xls").want(t, http.StatusNotFound, "csv or json")
	}
}

func TestTableFile_KeepsThePagesFilter(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for _, name := range []string{"Alpha", "Beta", "=Alphabet"} {
		d.Connector(t, func(c *connectors.Draft) { c.Name = name })
	}
	b := d.signInAsRole(connectors.RoleViewer)
	b.get("/connectors?q=alpha&status=").want(t, http.StatusOK, `href="/exports/connectors?format=csv&q=alpha"`)
	file := b.get("/exports/connectors?q=alpha&format=csv")
	file.want(t, http.StatusOK, "Alpha", "'=Alphabet")
	if strings.Contains(file.Body, "Beta") {
		t.Error("what the page leaves out is in the file")
	}
	if none := b.get("/exports/calls?agent=nobody"); strings.Count(none.Body, "\n") != 1 {
		t.Errorf("calls of an unknown agent:\n%s", none.Body)
	}
	d.signInAsRole(connectors.RoleAdmin).get("/exports/audit?since=yesterday").want(t, http.StatusBadRequest, "2026-11-21")
}

func TestTableFile_HasEveryRowOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	const many = store.MaxLimit + 7
	for range many {
		d.Agent(t)
	}
	lines, err := csv.NewReader(strings.NewReader(d.signInAsRole(connectors.RoleViewer).get("/exports/agents?cursor=nonsense").Body)).ReadAll()
	if err != nil || len(lines) != many+1 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	seen := map[string]bool{}
	for _, line := range lines[1:] {
		if seen[line[0]] {
			t.Errorf("%s is there twice", line[0])
		}
		seen[line[0]] = true
	}
	if _, err := time.Parse(time.RFC3339, lines[1][len(lines[1])-1]); err != nil || !strings.HasSuffix(lines[1][len(lines[1])-1], "Z") {
		t.Errorf("a time is written %q", lines[1][len(lines[1])-1])
	}
}

func TestTableFile_IsAudited(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	b.get("/exports/audit?action=agent&format=json").want(t, http.StatusOK, "agent.create")
	b.get("/audit?action=table.export").want(t, http.StatusOK, "1 event", "table.export", "action=agent", "json")
	if p := b.do(http.MethodHead, "/exports/audit", nil); p.Status != http.StatusOK {
		t.Errorf("HEAD: %d", p.Status)
	}
	b.get("/audit?action=table.export").want(t, http.StatusOK, "1 event")
}

// The lowest role may export, and the audit log keeps the query for a year.
func TestTableFile_AuditEntryIsBounded(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signInAsRole(connectors.RoleViewer).get("/exports/agents?status=ok&x="+strings.Repeat("é", 5000)).want(t, http.StatusOK)
	events, err := d.Door().Audit().List(t.Context(), store.AuditFilter{Action: "table.export"})
	if err != nil || len(events.Items) != 1 {
		t.Fatalf("%d events, %v", len(events.Items), err)
	}
	if detail := string(events.Items[0].Detail); len(detail) > 1200 || !strings.Contains(detail, "status=ok") {
		t.Errorf("%d bytes: %.200s", len(detail), detail)
	}
}
