package mcpadmin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/testing/fixture"
)

func (a *mcpClient) readResource(t *testing.T, uri string, out any) error {
	t.Helper()
	got, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(got.Contents[0].Text), out)
}

func TestResources_ListAndRead(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{newest, before} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c, _ := w.seedTool(t)
			w.Resynced(t, c.ID, fixture.DefinitionOf("search", fmt.Sprintf(`{"name":"search","description":%q,"inputSchema":{"type":"object"}}`, marker)), fixture.Definition("create_issue"))
			a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleViewer), revision, "")
			var uris []string
			for r, err := range a.Resources(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				uris = append(uris, r.URI)
			}
			if diff := cmp.Diff([]string{"patchbay://connectors/linear", "patchbay://agents/support"}, uris); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
			var connector, agent map[string]any
			if err := errors.Join(a.readResource(t, uris[0], &connector), a.readResource(t, uris[1], &agent)); err != nil {
				t.Fatal(err)
			}
			if connector["slug"] != "linear" || agent["slug"] != "support" || len(agent["grants"].([]any)) != 1 {
				t.Errorf("%v, %v", connector, agent)
			}
			var tool map[string]any
			if err := a.readResource(t, "patchbay://tools/linear/search", &tool); err != nil {
				t.Fatal(err)
			}
			past := tool["history"].([]any)[0].(map[string]any)
			if past["state"] != "waiting" || past["hash"] != tool["hash"] {
				t.Errorf("the tool is %v", tool)
			}
			for _, place := range findMarker("", any(tool)) {
				if !strings.Contains(place, ".untrusted") {
					t.Errorf("the spell stands at %s", place)
				}
			}
			if len(findMarker("", any(tool))) < 2 {
				t.Errorf("neither the definition nor the history has what the server wrote: %v", tool)
			}
		})
	}
}

func TestResources_UnknownIsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	for revision, code := range map[string]int64{newest: -32602, before: -32002} {
		mine := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleOwner), revision, "")
		stranger := w.connect(t, w.newAPIKey(t, w.Other, connectors.RoleOwner), revision, "")
		for uri, a := range map[string]*mcpClient{
			"patchbay://connectors/linear": stranger, "patchbay://agents/support": stranger, "patchbay://tools/linear/search": stranger,
			"patchbay://connectors/nothing": mine, "patchbay://tools/linear/nothing": mine, "patchbay://connectors/": mine, "patchbay://tenant": mine,
			"patchbay://connectors/..%2Ftenant": mine, "file:///etc/passwd": mine,
		} {
			refused, ok := errors.AsType[*jsonrpc.Error](a.readResource(t, uri, new(any)))
			if !ok || refused.Code != code {
				t.Errorf("%s: %v", uri, refused)
			}
		}
	}
}

func TestPrompts_ListAndGet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleViewer), newest, "")
	tools := map[string]bool{}
	for _, row := range toolNames() {
		tools[row] = true
	}
	var names []string
	for p, err := range a.Prompts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, p.Name)
		given := map[string]string{}
		for _, argument := range p.Arguments {
			given[argument.Name] = "the-" + argument.Name
		}
		got, err := a.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: p.Name, Arguments: given})
		if err != nil {
			t.Fatal(err)
		}
		says := got.Messages[0].Content.(*sdk.TextContent).Text
		for _, value := range given {
			if !strings.Contains(says, value) {
				t.Errorf("%s does not say %s", p.Name, value)
			}
		}
		for _, word := range strings.FieldsFunc(says, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
			for _, verb := range []string{"list_", "add_", "test_", "sync_", "connect_", "grant_", "review_", "decide_", "explain_"} {
				if strings.HasPrefix(word, verb) && !tools[word] {
					t.Errorf("%s speaks of %s, which is no tool", p.Name, word)
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"connect_a_service", "investigate_failures", "review_changes", "least_privilege"}, names); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	for name, params := range map[string]*sdk.GetPromptParams{
		"unknown":             {Name: "nothing"},
		"an argument missing": {Name: "least_privilege"},
		"one too many":        {Name: "review_changes", Arguments: map[string]string{"agent": "support"}},
		"one too long":        {Name: "review_changes", Arguments: map[string]string{"connector": strings.Repeat("a", 501)}},
	} {
		_, err := a.GetPrompt(t.Context(), params)
		if refused, ok := errors.AsType[*jsonrpc.Error](err); !ok || refused.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompletion_OfSlugs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleViewer), before, "")
	for name, test := range map[string]struct {
		ref      *sdk.CompleteReference
		argument sdk.CompleteParamsArgument
		want     []string
	}{
		"a prompt's agent":     {&sdk.CompleteReference{Type: "ref/prompt", Name: "least_privilege"}, sdk.CompleteParamsArgument{Name: "agent", Value: "su"}, []string{"support"}},
		"a prompt's connector": {&sdk.CompleteReference{Type: "ref/prompt", Name: "review_changes"}, sdk.CompleteParamsArgument{Name: "connector", Value: "lin"}, []string{"linear"}},
		"a template's":         {&sdk.CompleteReference{Type: "ref/resource", URI: "patchbay://connectors/{slug}"}, sdk.CompleteParamsArgument{Name: "slug", Value: "l"}, []string{"linear"}},
		"another beginning":    {&sdk.CompleteReference{Type: "ref/prompt", Name: "least_privilege"}, sdk.CompleteParamsArgument{Name: "agent", Value: "x"}, []string{}},
	} {
		got, err := a.Complete(t.Context(), &sdk.CompleteParams{Ref: test.ref, Argument: test.argument})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(test.want, got.Completion.Values); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func toolNames() []string {
	var names []string
	for _, row := range mcpadmin.Table() {
		names = append(names, row.Name)
	}
	return names
}
