package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

// uiAddresses are the prefixes of tools' names and of UI resources, by address.
var uiAddresses = map[string]struct{ slug, tool, uri string }{
	"/mcp":     {"one", "mcp_one__", "ui://one/app/"},
	"/mcp/":    {"two", "mcp_two__", "ui://two/app/"},
	"/mcp/two": {"two", "", "ui://app/"},
}

func TestApps_KeepTheirScheme(t *testing.T) {
	t.Parallel()
	everyUIPair(t, func(t *testing.T, p *uiPair, client era) {
		for address, at := range uiAddresses {
			s := p.connectHost(t, address, client, uiHost)
			checkUILists(t, s, at.tool, at.uri)
			for _, uri := range []string{"main.html", "unlisted.html", "pages/one"} {
				read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: at.uri + uri})
				if err != nil {
					t.Fatalf("%s: read %s: %v", address, uri, err)
				}
				got := read.Contents[0]
				if got.URI != at.uri+uri || got.Text != "<p>"+at.slug+" ui://app/"+uri || !sameJSON(got.Meta, resourceUI) {
					t.Errorf("%s: contents %+v", address, got)
				}
			}
			result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: at.tool + "show"})
			if err != nil {
				t.Fatal(err)
			}
			link, _ := result.Content[1].(*sdk.ResourceLink)
			embedded, _ := result.Content[2].(*sdk.EmbeddedResource)
			other, _ := result.Content[3].(*sdk.ResourceLink)
			text, _ := result.Content[0].(*sdk.TextContent)
			if link.URI != at.uri+"main.html" || embedded.Resource.URI != at.uri+"main.html" || other.URI != "file:///notes" ||
				text.Text != at.slug+" show ui://app/main.html" || !sameJSON(result.Meta["ui"], `{"resourceUri":"`+at.uri+`main.html"}`) || result.Meta["openai/outputTemplate"] != at.uri+"main.html" {
				t.Errorf("%s: result %s, %s, %s, %v", address, link.URI, embedded.Resource.URI, other.URI, result.Meta)
			}
		}
	})
}

// checkUILists checks the definition of show, and that the lists have no other UI URIs of its server.
func checkUILists(t *testing.T, s *sdk.ClientSession, prefix, uri string) {
	t.Helper()
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]*sdk.Tool{}
	for _, tool := range tools.Tools {
		listed[tool.Name] = tool
	}
	show := listed[prefix+"show"]
	if show == nil || listed[prefix+"refresh"] == nil {
		t.Fatalf("tools %v", slices.Sorted(maps.Keys(listed)))
	}
	if want := `{"ui":{"resourceUri":"` + uri + `main.html"},"ui/resourceUri":"` + uri + `main.html","keep":"ui://app/main.html"}`; !sameJSON(show.Meta, want) {
		t.Errorf("_meta of show: %v, want %s", show.Meta, want)
	}
	if !sameJSON(listed[prefix+"refresh"].Meta, `{"ui":{"visibility":["app"]}}`) {
		t.Errorf("_meta of refresh: %v", listed[prefix+"refresh"].Meta)
	}
	resources, err := s.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(resources.Resources, func(r *sdk.Resource) bool { return r.URI == uri+"main.html" }); i < 0 || !sameJSON(resources.Resources[i].Meta, resourceUI) {
		t.Errorf("resources %v", resources.Resources)
	}
	templates, err := s.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(templates.ResourceTemplates, func(r *sdk.ResourceTemplate) bool { return r.URITemplate == uri+"pages/{page}" }) {
		t.Errorf("templates %v", templates.ResourceTemplates)
	}
	name := "tour"
	if prefix != "" {
		prompts, err := s.ListPrompts(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		name = prompts.Prompts[slices.IndexFunc(prompts.Prompts, func(p *sdk.Prompt) bool { return strings.HasPrefix(p.Name, prefix) })].Name
	}
	prompt, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	link, _ := prompt.Messages[0].Content.(*sdk.ResourceLink)
	embedded, _ := prompt.Messages[1].Content.(*sdk.EmbeddedResource)
	if link.URI != uri+"main.html" || embedded.Resource.URI != uri+"main.html" {
		t.Errorf("prompt: %s, %s", link.URI, embedded.Resource.URI)
	}
}

// TestExtensions_ReachBothSides checks what servers declare at both addresses, and what a client declares at servers.
func TestExtensions_ReachBothSides(t *testing.T) {
	t.Parallel()
	everyUIPair(t, func(t *testing.T, p *uiPair, client era) {
		for slug, u := range p.servers {
			if got := u.lastDeclared("tools/list"); !strings.Contains(got, `"`+uiExtension+`":{"mimeTypes":["`+appType+`"]}`) {
				t.Errorf("the sync of %s declares %s", slug, got)
			}
		}
		for address, want := range map[string]string{
			"/mcp":     `{"com.example/one":{"level":1},"com.example/shared":{"kinds":["one","two"]},"com.example/two":{"level":1},"io.modelcontextprotocol/ui":{}}`,
			"/mcp/one": `{"com.example/one":{"level":1},"com.example/shared":{"kinds":["one"]},"io.modelcontextprotocol/ui":{}}`,
		} {
			s := p.connectHost(t, address, client, nil)
			got := maps.Clone(s.InitializeResult().Capabilities.Extensions)
			if _, ok := got["io.modelcontextprotocol/tasks"]; ok != (client == modern) {
				t.Errorf("%s: tasks are declared: %v", address, ok)
			}
			delete(got, "io.modelcontextprotocol/tasks")
			if !sameJSON(got, want) {
				t.Errorf("%s: extensions %v, want %s", address, got, want)
			}
		}
		other := map[string]any{"com.example/shared": map[string]any{"b": 2, "a": []int{1}}, "io.modelcontextprotocol/tasks": map[string]any{"x": 1}}
		for _, address := range []string{"/mcp", "/mcp/one"} {
			tool := map[string]string{"/mcp": "mcp_one__show", "/mcp/one": "show"}[address]
			for want, declared := range map[string]map[string]any{
				`"` + uiExtension + `":{"mimeTypes":["` + appType + `"]}`: uiHost,
				`"com.example/shared":{"a":[1],"b":2}`:                    other,
			} {
				s := p.connectHost(t, address, client, declared)
				if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool}); err != nil {
					t.Fatal(err)
				}
				got := p.servers["one"].lastDeclared("tools/call")
				if !strings.Contains(got, want) || !strings.Contains(got, uiExtension) {
					t.Errorf("%s: the server is told of %s, want %s and the extension for UI", address, got, want)
				}
				if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: map[string]string{"/mcp": "ui://one/app/main.html", "/mcp/one": "ui://app/main.html"}[address]}); err != nil {
					t.Fatal(err)
				}
				if got := p.servers["one"].lastDeclared("resources/read"); !strings.Contains(got, want) {
					t.Errorf("%s: the server is told of %s by a read, want %s", address, got, want)
				}
			}
		}
	})
}

// TestExtensions_CallsDeclareWhatSyncsDeclare calls a tool that the server knows only for clients of MCP Apps.
func TestExtensions_CallsDeclareWhatSyncsDeclare(t *testing.T) {
	t.Parallel()
	everyUIPair(t, func(t *testing.T, p *uiPair, client era) {
		for address, at := range uiAddresses {
			result, err := p.connectHost(t, address, client, nil).CallTool(t.Context(), &sdk.CallToolParams{Name: at.tool + "show"})
			if err != nil || result.IsError {
				t.Errorf("%s: %+v, %v", address, result, err)
			}
		}
	})
}

// TestExtensions_OpenFewSessions calls with many different settings of an extension.
func TestExtensions_OpenFewSessions(t *testing.T) {
	t.Parallel()
	p := newUIPair(t, legacy)
	for i := range 30 {
		s := p.connectHost(t, "/mcp/one", legacy, map[string]any{"com.example/one": map[string]any{"n": i}, "com.example/x": map[string]any{"n": i}})
		if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "show"}); err != nil {
			t.Fatal(err)
		}
	}
	sessions := 0
	for range p.servers["one"].Sessions() {
		sessions++
	}
	if sessions == 0 || sessions > 6 { // four sets, none, and that of a sync
		t.Errorf("%d sessions", sessions)
	}
}

// TestAppCalls_ByTheServersName calls tools as apps do: by the names that their server gives them.
func TestAppCalls_ByTheServersName(t *testing.T) {
	t.Parallel()
	everyUIPair(t, func(t *testing.T, p *uiPair, client era) {
		s := p.connectHost(t, "/mcp", client, uiHost)
		call := func(name, want string) {
			t.Helper()
			result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name})
			got := ""
			switch {
			case err != nil:
				got = err.Error()
			case len(result.Content) > 0:
				got = result.Content[0].(*sdk.TextContent).Text
			}
			if !strings.Contains(got, want) {
				t.Errorf("call of %s: %q, want %q", name, got, want)
			}
		}
		read := func(uri string) {
			t.Helper()
			if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
		}
		call("refresh", `No tool named "refresh"`) // no app was read
		read("ui://one/app/main.html")
		call("refresh", "one refresh")
		call("one", "one one")
		call("two", `No tool named "two"`)       // it has no app yet
		call("ask", `No tool named "ask"`)       // apps must not call it
		call("absent", `No tool named "absent"`) // nor what is not there
		call("mcp_two__refresh", "for apps of its own server alone")
		if calls := p.servers["two"].takeCalls(); len(calls) != 0 {
			t.Errorf("the other server is called: %v", calls)
		}
		read("ui://app/main.html") // of both, and one of them has an app
		read("ui://two/app/main.html")
		p.servers["one"].takeCalls()
		p.servers["two"].takeCalls()
		call("two", "Call one of: mcp_two__two.") // the app may be of the other one
		call("one", "Call one of: mcp_one__one.")
		call("absent", `No tool named "absent"`)
		call("refresh", "Call one of: mcp_one__refresh, mcp_two__refresh.")
		call("mcp_two__refresh", "two refresh")
		if calls := append(p.servers["one"].takeCalls(), p.servers["two"].takeCalls()...); len(calls) != 1 {
			t.Errorf("an ambiguous call is sent: %v", calls)
		}
		if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ui://app/main.html"}); err == nil {
			t.Error("an ambiguous resource is served")
		}
		eventually(t, "the app's call is in the history", func() bool {
			list, err := p.Door().Calls().List(t.Context(), store.CallFilter{Agent: &p.agent.ID, Page: store.Page{Limit: store.MaxLimit}})
			if err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(list.Items, func(c connectors.ToolCall) bool {
				return c.Tool == "refresh" && c.ExposedName == "mcp_one__refresh" && c.Status == connectors.CallSuccess
			})
		})
	})
}

// TestAppCalls_FollowTheGrant checks that the name of a tool without a grant makes a call ambiguous, and that a call of it
// is refused.
func TestAppCalls_FollowTheGrant(t *testing.T) {
	t.Parallel()
	p := newUIPair(t, legacy)
	s := p.connectHost(t, "/mcp", legacy, uiHost)
	for _, uri := range []string{"ui://one/app/main.html", "ui://two/app/main.html"} {
		if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	for _, slug := range []string{"one", "two"} {
		c, err := p.Door().Connectors().Get(t.Context(), connectors.Ref(slug))
		if err != nil {
			t.Fatal(err)
		}
		grant := connectors.Grant{AgentID: p.agent.ID, ConnectorID: c.ID, Tools: []string{"show", "hidden"}, Resources: connectors.ResourcesListed}
		if slug == "one" {
			grant = connectors.Grant{AgentID: p.agent.ID, ConnectorID: c.ID, AllTools: true}
		}
		if err := p.Door().Agents().SetGrant(t.Context(), grant); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "refresh"})
	if err == nil || !strings.Contains(err.Error(), "mcp_one__refresh, mcp_two__refresh") {
		t.Errorf("ambiguous: %v", err)
	}
	result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "mcp_two__two"})
	if err == nil && !result.IsError {
		t.Errorf("a call without a grant: %v, %v", result, err)
	}
	if calls := append(p.servers["one"].takeCalls(), p.servers["two"].takeCalls()...); len(calls) != 0 {
		t.Errorf("sent: %v", calls)
	}
	if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ui://two/app/unlisted.html"}); err != nil {
		t.Errorf("the resource of a granted tool: %v", err)
	}
}

func TestApps_UpdatesKeepTheScheme(t *testing.T) {
	t.Parallel()
	for address, uri := range map[string]string{"/mcp": "ui://one/app/main.html", "/mcp/one": "ui://app/main.html"} {
		for _, e := range eras {
			t.Run(address+" "+string(e), func(t *testing.T) {
				t.Parallel()
				p := newUIPair(t, e)
				heard := make(chan string, 100)
				s := connect(t, p.url+address, p.Token(t, p.agent.ID), e, func(o *sdk.ClientOptions) {
					o.ResourceUpdatedHandler = func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI }
				})
				if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
					t.Fatal(err)
				}
				eventually(t, "the update arrives", func() bool { // streams open asynchronously
					if err := p.servers["one"].ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: "ui://app/main.html"}); err != nil {
						t.Fatal(err)
					}
					select {
					case got := <-heard:
						if got != uri {
							t.Errorf("heard of %q, want %q", got, uri)
						}
						return true
					default:
						return false
					}
				})
			})
		}
	}
}

// TestAppCalls_WaitForApproval calls a renamed tool by the server's name, at the connector's own address.
func TestAppCalls_WaitForApproval(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			server := newUIServer(t, "one", e)
			agent, c := b.Agent(t), b.newConnector(t, "one", server.url)
			b.Grant(t, agent.ID, c.ID)
			b.curated(t, c, store.CuratedTool{Name: "refresh", Curation: connectors.Curation{Enabled: true, Alias: "renewed"}})
			s := connect(t, b.url+"/mcp/one", b.Token(t, agent.ID), e)
			refresh := &sdk.CallToolParams{Name: "refresh"}
			if _, err := s.CallTool(t.Context(), refresh); err == nil || !strings.Contains(err.Error(), "No tool named") {
				t.Errorf("before an app was read: %v", err)
			}
			if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ui://app/main.html"}); err != nil {
				t.Fatal(err)
			}
			done := make(chan string, 1)
			go func() {
				result, err := s.CallTool(t.Context(), refresh)
				if err != nil {
					done <- err.Error()
					return
				}
				text, _ := result.Content[0].(*sdk.TextContent)
				done <- text.Text
			}()
			b.waitForApproval(t)
			if calls := server.takeCalls(); len(calls) != 0 {
				t.Errorf("called before the approval: %v", calls)
			}
			b.approve(t)
			select {
			case got := <-done:
				if !strings.HasPrefix(got, "one refresh") {
					t.Errorf("after the approval: %s", got)
				}
			case <-time.After(patience):
				t.Fatal("the approved call does not return")
			}
		})
	}
}

// TestApps_InResultsOfTasks checks the URIs in the result of a task of each revision.
func TestApps_InResultsOfTasks(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	server := mcptest.StartTaskServer(t, "")
	agent := b.newAutoAgent(t)
	b.Grant(t, agent.ID, b.newConnector(t, "one", server.URL).ID)
	result := func(uri string) string {
		return `"content":[{"type":"resource_link","uri":"` + uri + `","name":"main"},{"type":"resource","resource":{"uri":"` + uri + `","text":"x"}}]`
	}
	for address, want := range map[string]string{"/mcp": "ui://one/app/main.html", "/mcp/one": "ui://app/main.html"} {
		name := map[string]string{"/mcp": "mcp_one__research", "/mcp/one": "research"}[address]
		s := newLegacySession(t, b.url+address, bearerHeader(b.Token(t, agent.ID)), string(legacy))
		var made struct{ Task struct{ TaskID string } }
		if err := json.Unmarshal(s.result("tools/call", `"name":"`+name+`","task":{"ttl":60000}`), &made); err != nil {
			t.Fatal(err)
		}
		server.Complete(<-server.Began, `{`+result("ui://app/main.html")+`}`)
		if got := string(s.result("tasks/result", fmt.Sprintf(`"taskId":%q`, made.Task.TaskID))); !strings.Contains(got, result(want)) {
			t.Errorf("%s: %s", address, got)
		}
	}
}

// TestAppCalls_InOtherProcesses reads an app in one process, and lets it call in another one.
func TestAppCalls_InOtherProcesses(t *testing.T) {
	t.Parallel()
	p := newUIPair(t, legacy)
	other := newTestProcess(t, p.World)
	read := func(uri string) {
		t.Helper()
		if _, err := p.connectHost(t, "/mcp", legacy, uiHost).ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	s := connect(t, other.url+"/mcp", p.Token(t, p.agent.ID), legacy)
	call := func() string {
		result, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "refresh"})
		if err != nil {
			return err.Error()
		}
		return result.Content[0].(*sdk.TextContent).Text
	}
	read("ui://one/app/main.html")
	eventually(t, "the other process knows of the app", func() bool { return strings.HasPrefix(call(), "one refresh") })
	read("ui://two/app/main.html")
	eventually(t, "the other process knows of both apps", func() bool { return strings.Contains(call(), "mcp_one__refresh, mcp_two__refresh") })
	if calls := p.servers["two"].takeCalls(); len(calls) != 0 {
		t.Errorf("the other server is called: %v", calls)
	}
}
