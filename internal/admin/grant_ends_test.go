package admin_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// addTemporaryGrant grants "search" up to an end, and "delete" up to its own.
func addTemporaryGrant(t *testing.T, d *dashboard, until, own time.Time) connectors.Grant {
	t.Helper()
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Synced(t, c.ID, "create", "delete", "search")
	g := connectors.Grant{
		AgentID: a.ID, ConnectorID: c.ID, Tools: []string{"search"}, Prompts: connectors.PromptsNone, Resources: connectors.ResourcesNone,
		Ends: &connectors.GrantEnds{Until: &until, Tools: map[string]*time.Time{"delete": &own}},
	}
	if err := d.Door().Agents().SetGrant(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	return g
}

func (d *dashboard) grantOf(g connectors.Grant) connectors.Grant {
	d.t.Helper()
	have, err := d.Door().Agents().Grant(d.t.Context(), g.AgentID, g.ConnectorID)
	if err != nil {
		d.t.Fatal(err)
	}
	return have.Grant
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// regrantForm is the form of the message's Undo.
func (p page) regrantForm(t *testing.T) url.Values {
	t.Helper()
	_, after, found := strings.Cut(p.Body, `action="/agents/support/connectors/linear"`)
	body, _, _ := strings.Cut(after, "</form>")
	if !found {
		t.Fatalf("the message offers no Undo\n%s", plainText(p.Body))
	}
	form := url.Values{}
	for _, field := range hiddenField.FindAllStringSubmatch(body, -1) {
		form.Add(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
	}
	return form
}

func TestGrantUndo_KeepsEnds(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	for name, ends := range map[string][2]time.Time{
		"ended":     {now.Add(-2 * time.Hour), now.Add(-time.Hour)},
		"temporary": {now.Add(time.Hour), now.Add(2 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDashboard(t)
			g := addTemporaryGrant(t, d, ends[0], ends[1])
			b := d.signInAsRole(connectors.RoleAdmin)
			removed := b.submit("/agents/support/connectors/linear/remove", nil)
			removed.want(t, http.StatusOK, "Access removed.")
			b.submit("/agents/support/connectors/linear", removed.regrantForm(t)).want(t, http.StatusOK, "“Support” can use")
			if diff := cmp.Diff(g.Ends, d.grantOf(g).Ends); diff != "" || d.grantOf(g).HasEnded(time.Now()) != (name == "ended") {
				t.Errorf("after Undo: %s", diff)
			}
		})
	}
}

func TestGrantForm_ToolsWithEnds(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	d := newDashboard(t)
	g := addTemporaryGrant(t, d, now.Add(time.Hour), now.Add(2*time.Hour))
	b := d.signInAsRole(connectors.RoleAdmin)
	const path = "/agents/support/connectors/linear"
	toolEnd := now.Add(2*time.Hour).Format(time.RFC3339) + " delete"
	page := b.get(path)
	page.want(t, http.StatusOK, "2 of 3 selected", "Access ends", "Ends on "+now.Add(2*time.Hour).Format("2 Jan 2006, 15:04:05 UTC"))
	if !strings.Contains(page.Body, `value="`+toolEnd+`"`) {
		t.Error("the form lacks the end of the tool")
	}
	until := now.Add(time.Hour).Format("2006-01-02T15:04:05")
	form := func(tools ...string) url.Values {
		return url.Values{"all": {"false"}, "tool": tools, "tool_end": {toolEnd}, "until": {"custom"}, "until_at": {until}}
	}
	b.submit(path, form("search", "delete")).want(t, http.StatusOK, "“Support” can use 2 tools of")
	if diff := cmp.Diff(g.Ends, d.grantOf(g).Ends); diff != "" {
		t.Errorf("a ticked tool: %s", diff)
	}
	b.submit(path, form("search")).want(t, http.StatusOK)
	if got := d.grantOf(g); got.At(now).Includes("delete") || got.Until() == nil {
		t.Errorf("an unticked tool: %+v", got)
	}
	earlier := form("search") // of a server of the previous release: no end, but a span
	earlier.Set("until", "")
	earlier.Set("until_in", "8h")
	b.post(path, earlier).want(t, http.StatusUnprocessableEntity, "Choose one of the listed values.")
	within := form("search")
	within.Set("until", "24h")
	b.submit(path, within).want(t, http.StatusOK)
	if until := d.grantOf(g).Until(); until == nil || until.Before(now.Add(23*time.Hour)) {
		t.Errorf("in a day is %v", until)
	}
	wrong := form("search")
	wrong.Set("until_at", "soon")
	b.post(path, wrong).want(t, http.StatusUnprocessableEntity, "Enter a date and time like")
	never := form("search")
	never.Set("until", "")
	b.submit(path, never).want(t, http.StatusOK)
	if until := d.grantOf(g).Until(); until != nil {
		t.Errorf("an empty end is %v", until)
	}
}

func TestGrantEnds_AreShown(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	d := newDashboard(t)
	addTemporaryGrant(t, d, now.Add(-2*time.Hour), now.Add(-time.Hour))
	b := d.signInAsRole(connectors.RoleAdmin)
	ended := "Ended on " + now.Add(-2*time.Hour).Format("2 Jan 2006, 15:04:05 UTC")
	for _, path := range []string{"/agents/support", "/agents/support/access", "/agents/support/connectors/linear", "/connectors/linear/access"} {
		b.get(path).want(t, http.StatusOK, ended)
	}
	b.get("/access").want(t, http.StatusOK, "Ended")
	b.get("/exports/agents/support/access?format=csv").want(t, http.StatusOK, "until,tool_ends,ended", now.Add(-2*time.Hour).Format("2006-01-02T15:04:05"))
}
