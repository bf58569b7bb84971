package agentview_test

import (
	"testing"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// A previous release accepted definitions that are now rejected as malformed.
func TestStoredMalformedDefinition_IsNotServed(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("c"))
	b.Grant(t, agent.ID, c.ID)
	b.storeSync(t, c.ID, defs(`{"name":"bad","description":7}`, `{"name":"good","title":null}`), valid)
	items := []connectors.Item{
		{Kind: connectors.ItemPrompt, Key: "bad", Raw: []byte(`{"name":"bad","arguments":{}}`)},
		{Kind: connectors.ItemPrompt, Key: "good", Raw: []byte(`{"name":"good","description":null}`)},
		{Kind: connectors.ItemResource, Key: "a:b", Raw: []byte(`{"uri":"a:b","name":"x","size":1.5}`)},
		{Kind: connectors.ItemTemplate, Key: "a:{b}", Raw: []byte(`{"uriTemplate":"a:{b}"}`)},
	}
	if _, err := b.Door().Connectors().SaveItems(t.Context(), c.ID, connectors.HashItems(items), items); err != nil {
		t.Fatal(err)
	}
	v := b.view(t, agent.ID)
	if tool := v.Tool("mcp_c__bad"); tool == nil || tool.BlockedBy != agentview.BlockedMalformed || tool.Listed() {
		t.Errorf("the malformed tool is %+v", tool)
	}
	if access := v.ExplainTool("mcp_c__bad"); access.State != agentview.BlockedMalformed || access.Listed {
		t.Errorf("why says %+v", access)
	}
	if tool := v.Tool("mcp_c__good"); tool == nil || string(tool.Raw) != `{"name":"good","title":null}` {
		t.Errorf("the good tool is %+v", tool)
	}
	for kind, want := range map[agentview.Kind][2]string{
		agentview.Tools: {
			`{"tools":[{"name":"mcp_c__good","inputSchema":{"type":"object"}}]}`, `{"tools":[{"name":"good","inputSchema":{"type":"object"}}]}`,
		},
		agentview.Prompts:   {`{"prompts":[{"name":"mcp_c__good"}]}`, `{"prompts":[{"name":"good"}]}`},
		agentview.Resources: {`{"resources":[]}`, `{"resources":[]}`},
		agentview.Templates: {`{"resourceTemplates":[]}`, `{"resourceTemplates":[]}`},
	} {
		all, own := string(v.ListResult(kind, false)), string(v.Connector("c").ListResult(kind, false))
		if all != want[0] || own != want[1] {
			t.Errorf("listed %s and %s", all, own)
		}
	}
	if v.Connector("c").Item(connectors.ItemPrompt, "bad") != nil {
		t.Error("the malformed prompt can be asked for")
	}
}

// Revisions before 2026-07-28 require an object result, and the TypeScript SDK v1 compiles the output schema.
func TestListResult_OmitsOutputSchemaForLegacy(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("c"))
	b.Grant(t, agent.ID, c.ID)
	const input, array = `"inputSchema":{"type":"object"}`, `"outputSchema":{"type":"array"}`
	const object = `"outputSchema":{"type":"object","properties":{"p":{"pattern":"^a$"}}}`
	list := defs(`{"name":"array",`+input+`,`+array+`}`, `{`+array+`,"name":"first",`+input+`}`, `{"name":"object",`+input+`,`+object+`}`)
	b.storeSync(t, c.ID, list, valid)
	b.curateTools(t, c.ID, curatedTool("first", "", "Says."))
	v := b.view(t, agent.ID)
	const modern = `{"resultType":"complete","ttlMs":0,"cacheScope":"private",`
	for _, tc := range []struct{ have, want string }{
		{
			string(v.Connector("c").ListResult(agentview.Tools, false)),
			`{"tools":[{"name":"array",` + input + `},{"description":"Says.","name":"first",` + input + `},{"name":"object",` + input + `,` + object + `}]}`,
		},
		{
			string(v.Connector("c").ListResult(agentview.Tools, true)), modern + `"tools":[{"name":"array",` + input + `,` + array +
				`},{"description":"Says.",` + array + `,"name":"first",` + input + `},{"name":"object",` + input + `,` + object + `}]}`,
		},
		{
			string(v.ListResult(agentview.Tools, false)), `{"tools":[{"name":"mcp_c__array",` + input + `},{"description":"Says.","name":"mcp_c__first",` + input +
				`},{"name":"mcp_c__object",` + input + `,` + object + `}]}`,
		},
	} {
		if tc.have != tc.want {
			t.Errorf("\nhave %s\nwant %s", tc.have, tc.want)
		}
	}
}
