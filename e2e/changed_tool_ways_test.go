//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/testing/browser"
	"patchbay/internal/testing/htmlcheck"
	"patchbay/internal/testing/pgtest"
)

// TestEveryClassOfChangeIsReviewedHoweverItIsFound has a server of a third-party SDK change its tools in every
// way: found by a manual sync, by a notification, and before a destructive call. Risky changes are held: agents
// get the accepted definition, and calls are refused with the reason, until an admin accepts. Others pass.
func TestEveryClassOfChangeIsReviewedHoweverItIsFound(t *testing.T) {
	t.Parallel()
	s := newReviewed(t)
	for _, way := range []string{"asked", "told", "called"} {
		for i, c := range changedTools {
			if way == "called" && c.gentle {
				continue
			}
			t.Run(way+"/"+c.class, func(t *testing.T) { s.at(t).meets(way, fmt.Sprintf("%s-%d", way, i), c) })
		}
	}
}

// reviewed is a running program with one connector that stays, Mail.
type reviewed struct {
	client
	owner    *person
	database *ownerConnection
	tab      *browser.Tab
	look     looker
}

func newReviewed(t *testing.T) *reviewed {
	t.Helper()
	h := newHome(t)
	url := pgtest.Empty(t)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+url)
	server := h.serve()
	s := &reviewed{owner: newPerson(t), database: &ownerConnection{t: t, url: url}, tab: browser.Open(t)}
	s.look = newLooker(t, s.tab)
	server.setUp(s.owner)
	s.client = client{t: t, base: server.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	signInTab(s.tab, server.base)
	s.connect("mail", newChanging(t, toolOf(t, mailTool)).url, "off")
	return s
}

func signInTab(tab *browser.Tab, base string) {
	tab.Go(base + "/login")
	tab.Fill("[name=email]", ownerEmail)
	tab.Fill("[name=password]", ownerPassword)
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/")
}

// at is the program for a test within the test.
func (s *reviewed) at(t *testing.T) *reviewed {
	within := *s
	within.t, within.owner, within.database = t, &person{t: t, client: s.owner.client}, &ownerConnection{t: t, url: s.database.url}
	return &within
}

func (s *reviewed) connect(slug, url, listen string) {
	s.t.Helper()
	s.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": slug, "slug": slug, "url": url, "sync_interval_s": 0, "listen": listen})
	s.must(http.StatusOK, http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
}

// changing is a server with a tool that changes, beside one that does not.
type changing struct {
	*sdk.Server
	url   string
	calls atomic.Int32
}

// staysTool may destroy something, so that the age of its definition is looked at.
const staysTool = `{"name":"stays","inputSchema":{"type":"object"}}`

func newChanging(t *testing.T, tool *sdk.Tool) *changing {
	t.Helper()
	u := &changing{Server: sdk.NewServer(&sdk.Implementation{Name: "changing", Version: "v1"}, nil)}
	u.lists(toolOf(t, staysTool))
	if tool != nil {
		u.lists(tool)
	}
	u.url = serve(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return u.Server }, nil))
	return u
}

// lists has the server list a tool as it is now. Listeners are notified.
func (u *changing) lists(tool *sdk.Tool) {
	u.AddTool(tool, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if tool.Name != "stays" {
			u.calls.Add(1)
		}
		return echo(ctx, r)
	})
}

// meets takes one change from the server to the decision.
func (s *reviewed) meets(way, slug string, c changedTool) {
	t, before, after := s.t, c.before(s.t), c.after(s.t)
	up := newChanging(t, before)
	listen := "off"
	if way == "told" {
		listen = "auto"
	}
	s.connect(slug, up.url, listen)
	defer s.must(http.StatusNoContent, http.MethodDelete, "/api/v1/connectors/"+slug, nil)
	robin := s.hire(slug, slug)
	if way != "called" { // where it is, the agent's first request is the call
		robin.sees(t, slug, c.name(t), before)
	}
	if way == "told" {
		s.listens(t, slug, nil)
	}

	if after == nil {
		up.RemoveTools(before.Name)
	} else {
		up.lists(after)
	}
	s.finds(way, slug, c, robin)
	change := s.onRecord(slug, c)
	s.isShown(slug, c, change)
	switch {
	case c.gone:
		robin.isRefused(t, slug, c.name(t), "no longer offers the tool")
		robin.sees(t, slug, c.name(t), nil)
		return
	case c.held():
		s.isHeld(slug, c, robin)
		if way == "called" && up.calls.Load() != 0 {
			t.Errorf("it was called %d times before anybody had looked", up.calls.Load())
		}
		s.must(http.StatusOK, http.MethodPost, "/api/v1/connectors/"+slug+"/tools/"+c.name(t)+"/accept", object{"hash": change["after_hash"]})
	}
	eventually(t, func() error { return robin.served(slug, c.name(t), after) })
	robin.calls(t, slug, c.name(t))
}

// finds has Patchbay meet the change.
func (s *reviewed) finds(way, slug string, c changedTool, robin agent) {
	s.t.Helper()
	switch way {
	case "asked":
		s.must(http.StatusOK, http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
	case "called":
		s.database.exec("update connectors set tools_last_synced_at = now() - interval '1 hour' where slug = '" + slug + "'")
		name := c.name(s.t)
		if c.before(s.t) == nil {
			name = "stays"
		}
		answer := <-robin.ask("mcp_"+slug+"__"+name, arguments)
		if refused := strings.Contains(string(answer.Result), `"isError":true`); answer.err != nil || refused != (c.before(s.t) != nil && (c.held() || c.gone)) {
			s.t.Errorf("the call that finds it is answered %s %+v, %v", answer.Result, answer.Error, answer.err)
		}
	}
}

// onRecord is the change as the API tells of it, once there is one.
func (s *reviewed) onRecord(slug string, c changedTool) object {
	s.t.Helper()
	var change object
	eventually(s.t, func() error {
		status, list := s.call(http.MethodGet, "/api/v1/connectors/"+slug+"/tools/"+c.name(s.t)+"/changes", nil)
		all, _ := list["items"].([]any)
		if status != http.StatusOK || len(all) != 1 {
			return fmt.Errorf("%d: %v", status, list)
		}
		change = all[0].(object)
		return nil
	})
	want := object{"risk": string(c.risk), "state": "automatic", "kinds": []any{}, "agents": 1.0}
	if c.held() {
		want["state"] = "waiting"
	}
	for _, k := range c.kinds {
		want["kinds"] = append(want["kinds"].([]any), string(k))
	}
	got := object{}
	for name := range want {
		got[name] = change[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("on record: %s", diff)
	}
	return change
}

// isShown wants the page of the change to say what is different, and how risky that is.
func (s *reviewed) isShown(slug string, c changedTool, change object) {
	s.t.Helper()
	path := s.base + "/connectors/" + slug + "/tools/" + c.name(s.t) + "/changes"
	shown := s.owner.get(path)
	htmlcheck.Parse(s.t, shown.body).Sound(s.t)
	want := []string{c.shows, "Applied automatically", "1 agent · "}
	if c.held() {
		want[1] = "High risk"
	}
	for _, k := range c.kinds {
		want = append(want, k.Words())
	}
	for _, text := range want {
		if !strings.Contains(shown.body, html.EscapeString(text)) {
			s.t.Errorf("the page of the change (%d) does not say %q", shown.status, text)
		}
	}
	if decidable := strings.Contains(shown.body, fmt.Sprint(change["after_hash"])) && strings.Contains(shown.body, "/accept"); decidable != c.held() {
		s.t.Errorf("somebody can decide: %v", decidable)
	}
	if c.worst && strings.HasPrefix(slug, "asked") {
		s.tab.Go(path)
		s.tab.WaitText("main", "Possible attack")
		s.tab.WaitText("main", c.shows)
		s.look.at("change-" + strings.Fields(c.class)[0])
	}
}

// isHeld wants the agent to be served what was accepted, and refused the call.
func (s *reviewed) isHeld(slug string, c changedTool, robin agent) {
	s.t.Helper()
	if c.before(s.t) == nil {
		robin.isRefused(s.t, slug, c.name(s.t), "is new and is waiting for review")
	} else {
		robin.isRefused(s.t, slug, c.name(s.t), "changed and is waiting for review", c.kinds[0].Words(), "/connectors/"+slug+"/tools/"+c.name(s.t)+"/changes")
	}
	robin.sees(s.t, slug, c.name(s.t), c.before(s.t))
}

// isRefused wants a call to be refused as soon as the process has heard of the change, and the reason to say all of this.
func (a agent) isRefused(t *testing.T, slug, tool string, reasons ...string) {
	t.Helper()
	var answer answered
	eventually(t, func() error {
		if answer = <-a.ask("mcp_"+slug+"__"+tool, arguments); answer.err != nil || !strings.Contains(string(answer.Result), "patchbay/reason") {
			return fmt.Errorf("answered %s %+v, %v", answer.Result, answer.Error, answer.err)
		}
		return nil
	})
	for _, reason := range append(reasons, `"held"`) {
		answer.wants(t, reason)
	}
}

func (a agent) calls(t *testing.T, slug, tool string) {
	t.Helper()
	answer := <-a.ask("mcp_"+slug+"__"+tool, arguments)
	if answer.err != nil || answer.Error != nil || strings.Contains(string(answer.Result), `"isError":true`) {
		t.Errorf("what was accepted is called: %s %+v, %v", answer.Result, answer.Error, answer.err)
	}
}

// sees wants the agent to be served the tool as it is given, nil: not at all.
func (a agent) sees(t *testing.T, slug, tool string, want *sdk.Tool) {
	t.Helper()
	if err := a.served(slug, tool, want); err != nil {
		t.Error(err)
	}
}

func (a agent) served(slug, tool string, want *sdk.Tool) error {
	message, header := modern("tools/list", "")
	_, _, answer, err := a.try(a.t.Context(), "/mcp", message, header...)
	if err != nil {
		return err
	}
	var list struct{ Tools []*sdk.Tool }
	if err := json.Unmarshal(answer.Result, &list); err != nil {
		return fmt.Errorf("%w: %s", err, answer.Result)
	}
	exposed := "mcp_" + slug + "__" + tool
	at := slices.IndexFunc(list.Tools, func(one *sdk.Tool) bool { return one.Name == exposed })
	if at < 0 || want == nil {
		if at >= 0 || want != nil {
			return fmt.Errorf("agents are served %s, want %+v", answer.Result, want)
		}
		return nil
	}
	list.Tools[at].Name = tool
	if !reflect.DeepEqual(list.Tools[at], want) {
		return fmt.Errorf("agents are served another definition: %s", cmp.Diff(want, list.Tools[at]))
	}
	return nil
}
