package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/testing/fixture"
)

// withTools adds a prompt, a resource and a template.
func (u *upstream) withTools() *upstream {
	u.AddPrompt(&sdk.Prompt{Name: "greet me", Arguments: []*sdk.PromptArgument{{Name: "color"}}},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text := fmt.Sprintf("%s in %s", r.Params.Name, r.Params.Arguments["color"])
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
		})
	read := func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "of " + r.Params.URI}}}, nil
	}
	u.AddResource(&sdk.Resource{Name: "notes", URI: "file:///notes"}, read)
	u.AddResourceTemplate(&sdk.ResourceTemplate{Name: "day", URITemplate: "file:///days/{day}"}, read)
	return u
}

// account stores an agent's own token for a connector.
func (b *testEnv) account(t testing.TB, c connectors.Connector, agent connectors.AgentID, token secret.Text) {
	t.Helper()
	sealed, err := connectors.Secret{Token: token}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	b.Credential(t, c.ID, &agent, sealed)
}

func perAgent(d *connectors.Draft) {
	d.Auth.Type, d.CredentialMode = connectors.AuthBearer, connectors.CredentialPerAgent
}

// TestCall_UsesAgentsOwnCredential uses tools, prompts, resources and completions with two agents alternately.
func TestCall_UsesAgentsOwnCredential(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").withTools()
			c := b.newConnector(t, "one", up.url, perAgent)
			tokens := map[string]secret.Text{}
			for _, name := range []string{"ann", "bob"} {
				agent := b.newAutoAgent(t)
				b.Grant(t, agent.ID, c.ID)
				b.account(t, c, agent.ID, secret.Text("account-of-"+name))
				tokens[name] = b.Token(t, agent.ID)
			}
			for range 2 {
				for name, token := range tokens {
					up.authorizations()
					for address, n := range map[string]exposedNaming{
						"/mcp":     {prefix: "mcp_one__", prompt: "mcp_one__greet_me_2601d788", scheme: "patchbay+one:"},
						"/mcp/one": {prompt: "greet me"},
					} {
						useAll(t, connect(t, b.url+address, token, e), n)
					}
					for seen := range up.authorizations() {
						if seen != "Bearer account-of-"+name {
							t.Errorf("the server saw %q for %s", seen, name)
						}
					}
				}
			}
		})
	}
}

// TestCall_UsesManagedAccount uses tools, prompts, resources and completions with the agent's own token.
func TestCall_UsesManagedAccount(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").withTools()
			c := b.newConnector(t, "one", up.url, fixture.Managed)
			agent := b.newAutoAgent(t)
			b.Grant(t, agent.ID, c.ID)
			token := b.Token(t, agent.ID)
			b.ManagedAccount(t, c, agent.ID, b.Member(t, connectors.RoleMember).UserID, "managed")
			useAll(t, connect(t, b.url+"/mcp/one", token, e), exposedNaming{prompt: "greet me"})
			if seen := up.authorizations(); seen["Bearer managed"] == 0 {
				t.Errorf("the server saw %v", seen)
			}
		})
	}
}

// exposedNaming describes the exposed names at an address, which lists the server's features once, and others times under other
// names.
type exposedNaming struct {
	prefix, prompt, scheme string
	others                 int
}

// useAll calls every feature of the server.
func useAll(t testing.TB, s *sdk.ClientSession, n exposedNaming) {
	t.Helper()
	ctx := t.Context()
	if got := textOf(call(t, s, n.prefix+"a", map[string]any{"text": "hello"})); got != "a: hello" {
		t.Errorf("the tool says %q", got)
	}
	prompts, err := s.ListPrompts(ctx, nil)
	if err != nil || len(prompts.Prompts) != 1+n.others || !strings.Contains(shownJSON(prompts), `"name":"`+n.prompt+`"`) {
		t.Fatalf("prompts: %s, %v", shownJSON(prompts), err)
	}
	prompt, err := s.GetPrompt(ctx, &sdk.GetPromptParams{Name: n.prompt, Arguments: map[string]string{"color": "red"}})
	if err != nil || !strings.Contains(shownJSON(prompt), "greet me in red") {
		t.Errorf("prompt: %s, %v", shownJSON(prompt), err)
	}
	resources, err := s.ListResources(ctx, nil)
	if err != nil || len(resources.Resources) != 1+n.others || !strings.Contains(shownJSON(resources), `"uri":"`+n.scheme+`file:///notes"`) {
		t.Fatalf("resources: %s, %v", shownJSON(resources), err)
	}
	templates, err := s.ListResourceTemplates(ctx, nil)
	if err != nil || len(templates.ResourceTemplates) != 1+n.others || !strings.Contains(shownJSON(templates), `"uriTemplate":"`+n.scheme+`file:///days/{day}"`) {
		t.Fatalf("templates: %s, %v", shownJSON(templates), err)
	}
	for _, uri := range []string{"file:///notes", "file:///days/monday"} {
		read, err := s.ReadResource(ctx, &sdk.ReadResourceParams{URI: n.scheme + uri})
		if err != nil || len(read.Contents) != 1 {
			t.Fatalf("%s: %s, %v", uri, shownJSON(read), err)
		}
		want := &sdk.ResourceContents{URI: n.scheme + uri, Text: "of " + uri}
		if diff := cmp.Diff(shownJSON(want), shownJSON(read.Contents[0])); diff != "" {
			t.Error(diff)
		}
	}
	for _, ref := range []*sdk.CompleteReference{
		{Type: "ref/prompt", Name: n.prompt}, {Type: "ref/resource", URI: n.scheme + "file:///days/{day}"},
	} {
		done, err := s.Complete(ctx, &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: "color", Value: "b"}})
		if err != nil || len(done.Completion.Values) != 1 || done.Completion.Values[0] != "blue" {
			t.Errorf("completion: %s, %v", shownJSON(done), err)
		}
	}
}

func shownJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
