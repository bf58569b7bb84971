package gateway_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// itemUse is one use of a prompt or resource.
type itemUse struct {
	name string
	ask  func(ctx context.Context, s *sdk.ClientSession) error
}

func read(uri string) itemUse {
	return itemUse{"read " + uri, func(ctx context.Context, s *sdk.ClientSession) error {
		_, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		return err
	}}
}

func getPrompt(name string) itemUse {
	return itemUse{"get " + name, func(ctx context.Context, s *sdk.ClientSession) error {
		_, err := s.GetPrompt(ctx, &sdk.GetPromptParams{Name: name})
		return err
	}}
}

func complete(ref sdk.CompleteReference) itemUse {
	return itemUse{"complete " + ref.Name + ref.URI, func(ctx context.Context, s *sdk.ClientSession) error {
		_, err := s.Complete(ctx, &sdk.CompleteParams{Ref: &ref, Argument: sdk.CompleteParamsArgument{Name: "color", Value: "b"}})
		return err
	}}
}

func subscribeTo(uri string) itemUse {
	return itemUse{"subscribe to " + uri, func(ctx context.Context, s *sdk.ClientSession) error {
		return s.Subscribe(ctx, &sdk.SubscribeParams{URI: uri})
	}}
}

// listedItems returns what a session's three lists have.
func listedItems(t *testing.T, s *sdk.ClientSession) string {
	t.Helper()
	var all []string
	prompts, err := s.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prompts.Prompts {
		all = append(all, p.Name)
	}
	resources, err := s.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range resources.Resources {
		all = append(all, r.URI)
	}
	templates, err := s.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range templates.ResourceTemplates {
		all = append(all, r.URITemplate)
	}
	return strings.Join(all, " ")
}

// TestItems_AreThoseOfTheGrant asks for what each grant includes and leaves out, in both eras and at both addresses.
func TestItems_AreThoseOfTheGrant(t *testing.T) {
	t.Parallel()
	named := []string{"a"}
	always := connectors.ApprovalAlwaysAsk
	listed := []itemUse{read("file:///notes"), complete(sdk.CompleteReference{Type: "ref/resource", URI: "file:///notes"}), subscribeTo("file:///notes")}
	prompts := []itemUse{getPrompt("greet me"), complete(sdk.CompleteReference{Type: "ref/prompt", Name: "greet me"})}
	templates := []itemUse{
		read("file:///days/monday"), read("file:///days/a%20b"), subscribeTo("file:///days/monday"),
		complete(sdk.CompleteReference{Type: "ref/resource", URI: "file:///days/{day}"}),
	}
	never := []itemUse{
		read("file:///secret"), read("file:///days/.."), read("file:///days/../secret"), read("file:///days/%2e%2e%2fsecret"), read("file:///days/%2Fetc"),
		read("file://evil.example/days/monday"), read("https://evil.example/days/monday"), read("file:///days/a/b"), subscribeTo("file:///secret"),
		getPrompt("other"), complete(sdk.CompleteReference{Type: "ref/prompt", Name: "other"}), complete(sdk.CompleteReference{Type: "ref/resource", URI: "file:///{+any}"}),
	}
	for name, tc := range map[string]struct {
		grant connectors.Grant
		lists string // at the connector's own address
		yes   [][]itemUse
		no    [][]itemUse
	}{
		"all tools":           {connectors.Grant{AllTools: true}, "greet me file:///notes file:///days/{day}", [][]itemUse{prompts, listed, templates}, [][]itemUse{never}},
		"named tools":         {connectors.Grant{Tools: named}, "", nil, [][]itemUse{prompts, listed, templates, never}},
		"prompts":             {connectors.Grant{Tools: named, Prompts: connectors.PromptsListed}, "greet me", [][]itemUse{prompts}, [][]itemUse{listed, templates, never}},
		"listed resources":    {connectors.Grant{Tools: named, Resources: connectors.ResourcesListed}, "file:///notes", [][]itemUse{listed}, [][]itemUse{prompts, templates, never}},
		"templates":           {connectors.Grant{Tools: named, Resources: connectors.ResourcesListedTemplates}, "file:///notes file:///days/{day}", [][]itemUse{listed, templates}, [][]itemUse{prompts, never}},
		"all tools, no items": {connectors.Grant{AllTools: true, Prompts: connectors.PromptsNone, Resources: connectors.ResourcesNone}, "", nil, [][]itemUse{prompts, listed, templates, never}},
		"approval of each":    {connectors.Grant{AllTools: true, Approval: &always}, "greet me file:///notes file:///days/{day}", [][]itemUse{prompts, listed, templates}, [][]itemUse{never}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.newAutoAgent(t)
			var asked atomic.Int32
			up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").withTools()
			up.addMiddleware(func(context.Context, *sdk.ServerSession, sdk.Params) error { asked.Add(1); return nil })
			c := b.newConnector(t, "one", up.url)
			tc.grant.AgentID, tc.grant.ConnectorID = agent.ID, c.ID
			if err := b.Door().Agents().SetGrant(t.Context(), tc.grant); err != nil {
				t.Fatal(err)
			}
			token := b.Token(t, agent.ID)
			for _, e := range eras {
				s := connect(t, b.url+"/mcp/one", token, e)
				if got := listedItems(t, s); got != tc.lists {
					t.Errorf("%s: lists %q, want %q", e, got, tc.lists)
				}
				if got := listedItems(t, connect(t, b.url+"/mcp", token, e)); (got == "") != (tc.lists == "") {
					t.Errorf("%s: lists %q at the address of all connectors", e, got)
				}
				for _, use := range concat(tc.yes) {
					if skipsInEra(use, e) {
						continue
					}
					if err := use.ask(t.Context(), s); err != nil {
						t.Errorf("%s: %s: %v", e, use.name, err)
					}
				}
				before := asked.Load()
				for _, use := range concat(tc.no) {
					if skipsInEra(use, e) {
						continue
					}
					if err := use.ask(t.Context(), s); err == nil {
						t.Errorf("%s: %s is served", e, use.name)
					}
				}
				if asked.Load() != before {
					t.Errorf("%s: the server is asked for what the grant leaves out", e)
				}
			}
		})
	}
}

func concat(all [][]itemUse) (uses []itemUse) {
	for _, some := range all {
		uses = append(uses, some...)
	}
	return uses
}

// skipsInEra reports whether clients of an era have no such request: modern ones subscribe as they listen.
func skipsInEra(use itemUse, e era) bool {
	return e == modern && strings.HasPrefix(use.name, "subscribe")
}

func TestItems_RefusalsAreOnRecord(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withTools().url)
	b.Grant(t, agent.ID, c.ID)
	s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	_, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "patchbay+one:file:///secret"})
	failure, _ := errors.AsType[*jsonrpc.Error](err)
	if failure == nil || failure.Code != -32602 || !strings.Contains(failure.Message, "it isn't listed") ||
		!strings.Contains(string(failure.Data), `"uri":"patchbay+one:file:///secret"`) || !strings.Contains(string(failure.Data), `"code":"not_granted"`) {
		t.Errorf("it is read: %v", err)
	}
	eventually(t, "the refusal is on record", func() bool {
		calls, err := b.Door().Calls().List(t.Context(), store.CallFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return len(calls.Items) == 1 && calls.Items[0].Kind == connectors.CallResource && calls.Items[0].Tool == "file:///secret" &&
			calls.Items[0].Outcome == connectors.OutcomeRefused && calls.Items[0].ErrorCode == "not_granted"
	})
}

// TestItems_LinkedResourceNeedsTheGrant reads what a tool result links to.
func TestItems_LinkedResourceNeedsTheGrant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withTools()
	up.AddTool(&sdk.Tool{Name: "links", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ResourceLink{Name: "day", URI: "file:///days/1"}, &sdk.ResourceLink{Name: "other", URI: "file:///other"}}}, nil
	})
	c := b.newConnector(t, "one", up.url)
	for grants, want := range map[connectors.ResourceAccess]string{connectors.ResourcesListedTemplates: "file:///days/1", connectors.ResourcesListed: ""} {
		agent := b.newAutoAgent(t)
		b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Resources = grants })
		s := connect(t, b.url+"/mcp/one", b.Token(t, agent.ID), modern)
		var readable []string
		for _, content := range call(t, s, "links", map[string]any{}).Content {
			link, ok := content.(*sdk.ResourceLink)
			if !ok {
				t.Fatalf("%T", content)
			}
			if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link.URI}); err == nil {
				readable = append(readable, link.URI)
			}
		}
		if got := strings.Join(readable, " "); got != want {
			t.Errorf("%s: %q is read, want %q", grants, got, want)
		}
	}
}

// TestItems_SubscriptionEndsWithTheGrant takes templates from a grant while its agent listens to a resource of one.
func TestItems_SubscriptionEndsWithTheGrant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withTools()
	c := b.newConnector(t, "one", up.url)
	b.Grant(t, agent.ID, c.ID)
	heard, changed := make(chan string, 1000), make(chan struct{}, 100)
	s := connect(t, b.url+"/mcp/one", b.Token(t, agent.ID), legacy, func(o *sdk.ClientOptions) {
		o.ResourceUpdatedHandler = func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI }
		o.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { changed <- struct{}{} }
	})
	for _, uri := range []string{"file:///days/1", "file:///notes"} {
		if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	updates(t, up, heard, "file:///notes")
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Resources = connectors.ResourcesListed })
	<-changed
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "file:///days/1"}); err == nil {
		t.Error("it subscribes without a grant")
	}
	for len(heard) > 0 {
		<-heard
	}
	eventually(t, "an update of the listed resource arrives", func() bool {
		for _, uri := range []string{"file:///days/1", "file:///notes"} {
			if err := up.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case uri := <-heard:
			if uri != "file:///notes" {
				t.Errorf("heard of %s without a grant", uri)
			}
			return true
		default:
			return false
		}
	})
}
