package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
)

func (b *testEnv) askPage(agent connectors.AgentID, query url.Values) string {
	query.Set("agent", agent.String())
	return b.url + "/access/request?" + query.Encode()
}

// A refused agent is given the page where a person asks for access, with what the agent knows of the tool.
func TestRefusal_NamesPageToAsk(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a", "b")
	some, ended := b.newConnector(t, "some", up.url), b.newConnector(t, "ended", up.url)
	b.Grant(t, agent.ID, some.ID, func(g *connectors.Grant) { g.AllTools, g.Tools = false, []string{"a"} })
	past := time.Now().Add(-time.Hour)
	b.Grant(t, agent.ID, ended.ID, func(g *connectors.Grant) { g.Ends = &connectors.GrantEnds{Until: &past} })
	for _, e := range eras {
		s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), e)
		for slug, tool := range map[string]string{"some": "b", "ended": "a"} {
			refused := call(t, s, "mcp_"+slug+"__"+tool, map[string]any{"text": "x"})
			page := b.askPage(agent.ID, url.Values{"connector": {slug}, "tool": {tool}})
			if why := reasonIn(t, refused); why["code"] != "not_granted" || why["ask_url"] != page || !strings.HasSuffix(textOf(refused), " A person can ask for access here: "+page) {
				t.Errorf("%s, %s: %s", e, slug, shownJSON(refused))
			}
		}
	}
	held := call(t, connect(t, b.url+"/mcp/some", b.Token(t, agent.ID), modern), "b", map[string]any{"text": "x"})
	if page := b.askPage(agent.ID, url.Values{"connector": {"some"}, "tool": {"b"}}); reasonIn(t, held)["ask_url"] != page {
		t.Errorf("at the connector's address: %s", shownJSON(held))
	}
}

// A tool that exists without a grant of its connector is answered like one that does not exist, but for the name that was sent.
func TestUngrantedTool_LooksUnknown(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a")
	b.newConnector(t, "secret", up.url)
	b.Grant(t, agent.ID, b.newConnector(t, "granted", up.url).ID)
	token := bearerHeader(b.Token(t, agent.ID))
	ask := func(path, name string) string {
		t.Helper()
		e := callRaw(t, b.url+path, token, name, `{}`).rpc(t).Error
		if e == nil || e.Code != -32602 || len(e.Data) > 0 {
			t.Fatalf("%s: %+v", name, e)
		}
		return e.Message
	}
	unknown := ask("/mcp", "mcp_nothing__none")
	if page := b.askPage(agent.ID, url.Values{"name": {"mcp_nothing__none"}}); !strings.HasSuffix(unknown, " a person can ask for it here: "+page) {
		t.Errorf("%q doesn't end with %s", unknown, page)
	}
	for _, tool := range []string{"a", "none"} {
		if got := ask("/mcp", "mcp_secret__"+tool); strings.ReplaceAll(got, "mcp_secret__"+tool, "mcp_nothing__none") != unknown {
			t.Errorf("mcp_secret__%s: %q, want %q with the name", tool, got, unknown)
		}
	}
	for name, path := range map[string]string{"mcp_granted__none": "/mcp", "none": "/mcp/granted", "mcp_secret__a": "/mcp/granted", "other": "/mcp"} {
		if got := ask(path, name); strings.Contains(got, "/access/") { // no access to another connector helps
			t.Errorf("%s at %s: %q", name, path, got)
		}
	}
}

// An answer that was kept before the end of the grant is not read after it.
func TestKeptAnswer_EndsWithGrant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "peer", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	other := b.newConnector(t, "other", newUpstream(t, sdk.StreamableHTTPOptions{}).withList("list").url)
	b.Grant(t, agent.ID, c.ID)
	b.Grant(t, agent.ID, other.ID)
	b.shape(t, agent, c, "list", connectors.Shaping{Budget: 1000})
	b.shape(t, agent, other, "list", connectors.Shaping{Budget: 1000}) // the tool that reads answers stays
	token := b.Token(t, agent.ID)
	sessions := map[era]*sdk.ClientSession{}
	for _, e := range eras {
		sessions[e] = connect(t, b.url+"/mcp", token, e)
	}
	short := call(t, sessions[modern], "mcp_peer__list", nil)
	id := answerID.FindStringSubmatch(textOf(short))[1]
	link := short.Content[2].(*sdk.ResourceLink).URI
	page := b.askPage(agent.ID, url.Values{"connector": {"peer"}, "tool": {"list"}})
	for e, s := range sessions {
		if r := call(t, s, "read_result", map[string]any{"id": id}); r.IsError {
			t.Fatalf("%s: before the end: %s", e, textOf(r))
		}
	}
	past := time.Now().Add(-time.Hour)
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Ends = &connectors.GrantEnds{Until: &past} })
	for e, s := range sessions {
		r := call(t, s, "read_result", map[string]any{"id": id})
		if why := reasonIn(t, r); !r.IsError || why["code"] != "not_granted" || why["ask_url"] != page {
			t.Errorf("%s: read %.300s", e, shownJSON(r))
		}
		if read, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link}); err == nil || !strings.Contains(err.Error(), "ended at") {
			t.Errorf("%s: the link reads %.300s, %v", e, shownJSON(read), err)
		}
	}
}

// The result of a task says where to ask for access, as an ordinary refusal does.
func TestRefusal_InTaskNamesPageToAsk(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.Agent(t)
	c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a", "b").url)
	b.Grant(t, agent.ID, c.ID)
	token := bearerHeader(b.Token(t, agent.ID))
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_one__a","arguments":{"text":"hello"},` + tasksMeta + `}}`
	task := taskIn(t, post(t, b.url+"/mcp", message, "Authorization", token).rpc(t))
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.AllTools, g.Tools = false, []string{"b"} })
	b.approve(t)
	ask := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"` + task.ID + `",` + tasksMeta + `}}`
	var got answer
	eventually(t, "the task ended", func() bool {
		got = post(t, b.url+"/mcp", ask, "Authorization", token, "Mcp-Name", task.ID)
		return taskIn(t, got.rpc(t)).Status == "completed"
	})
	var ended struct{ Result sdk.CallToolResult }
	if err := json.Unmarshal(got.rpc(t).Result, &ended); err != nil {
		t.Fatal(err)
	}
	page, err := url.Parse(fmt.Sprint(reasonIn(t, &ended.Result)["ask_url"]))
	if err != nil || page.Path != connectors.AskAccessPath || page.Query().Get("agent") != agent.ID.String() || page.Query().Get("tool") != "a" {
		t.Errorf("the page to ask is %v (%v): %s", page, err, got.body)
	}
	if text := textOf(&ended.Result); !strings.HasSuffix(text, " A person can ask for access here: "+page.String()) {
		t.Errorf("the text is %q", text)
	}
}
