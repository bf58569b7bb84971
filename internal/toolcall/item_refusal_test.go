package toolcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

func TestSendRequest_RefusesWhatTheGrantLeavesOut(t *testing.T) {
	t.Parallel()
	always := connectors.ApprovalAlwaysAsk
	for name, tc := range map[string]struct {
		grant    connectors.Grant
		kind     connectors.CallKind
		item     string
		sentence string // empty: it is sent
	}{
		"a prompt":             {connectors.Grant{AllTools: true}, connectors.CallPrompt, "greet", ""},
		"a resource":           {connectors.Grant{Resources: connectors.ResourcesListed}, connectors.CallResource, "file:///a", ""},
		"an unlisted resource": {connectors.Grant{AllTools: true}, connectors.CallResource, "file:///b", "it isn't listed"},
		"prompts left out":     {connectors.Grant{Resources: connectors.ResourcesListed}, connectors.CallPrompt, "greet", "no access to the prompts of"},
		"resources left out":   {connectors.Grant{Prompts: connectors.PromptsListed}, connectors.CallResource, "file:///a", "isn't granted"},
		"a completion":         {connectors.Grant{Resources: connectors.ResourcesListed}, connectors.CallCompletion, "greet", "no access to this prompt or resource"},
		"tools alone":          {connectors.Grant{Tools: []string{"search"}}, connectors.CallPrompt, "greet", "no access to the prompts of"},
		"approval of each":     {connectors.Grant{AllTools: true, Approval: &always}, connectors.CallPrompt, "greet", ""},
	} {
		b := newBench(t)
		c := b.connector(t, b.remote)
		a := b.Agent(t, func(a *connectors.Agent) { a.Approval = connectors.ApprovalTrustedOnly })
		tc.grant.AgentID, tc.grant.ConnectorID = a.ID, c.ID
		must(t, b.Door().Agents().SetGrant(t.Context(), tc.grant))
		view, err := b.process.keeper.ByAgent(t.Context(), b.Tenant, connectors.Ref(a.ID.String()))
		must(t, err)
		_, err = b.SendRequest(t.Context(), toolcall.UpstreamRequest{
			View: view, Connector: view.Connector(c.Slug), Kind: tc.kind, Name: tc.item, Method: "prompts/get",
			Params: json.RawMessage(`{}`), Source: connectors.SourceGateway,
		})
		if tc.sentence == "" {
			must(t, err)
			continue
		}
		if r := asRefusal(t, err, toolcall.CodeNotGranted); !strings.Contains(r.Sentence, tc.sentence) {
			t.Errorf("%s: %s", name, r.Sentence)
		}
		b.remote.wantCalls(t, 0)
		b.history.Flush(t.Context())
		list, err := b.Door().Calls().List(t.Context(), store.CallFilter{})
		must(t, err)
		if len(list.Items) != 1 || list.Items[0].Kind != tc.kind || list.Items[0].Outcome != connectors.OutcomeRefused || list.Items[0].Tool != tc.item {
			t.Errorf("%s: history = %+v", name, list.Items)
		}
	}
}
