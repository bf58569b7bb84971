package gateway_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/testclient"
)

const (
	skillsExtension = "io.modelcontextprotocol/skills"
	refundsSkill    = "skill://acme/refunds/SKILL.md"
	refundsMail     = "skill://acme/refunds/examples/mail.md"
)

// skillServer is a server with one skill, which tests change.
type skillServer struct {
	*mcptest.Server

	mu    sync.Mutex // guards the fields below
	files map[string]string
	told  map[string]string // what resources/read returns instead of a file
	entry func(entry map[string]any)
}

func newSkillServer(t *testing.T, name string, e era) *skillServer {
	t.Helper()
	s := &skillServer{told: map[string]string{}, files: map[string]string{
		refundsSkill: "---\nname: refunds\ndescription: Refund a customer of " + name + "\nmetadata: {version: 2, since: 2026-01-31}\n---\n\nSee examples/mail.md.\n",
		refundsMail:  "Dear customer of " + name + "\n",
	}}
	s.Server = mcptest.Start(t, mcptest.Script{
		Modern: e == modern, Tools: []string{`{"name":"pay","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`},
		Capabilities: `{"tools":{},"resources":{},"extensions":{"` + skillsExtension + `":{"other":1}}}`,
		On: map[string]mcptest.Handler{
			"skills/list":    s.answer(s.listSkills),
			"resources/read": s.answer(s.readResource),
			"resources/list": s.answer(func(mcptest.Call) string {
				return `{"resources":[{"uri":"` + refundsMail + `","name":"mail","description":"unreviewed words"},{"uri":"skill://acme/secret/SKILL.md","name":"secret"},{"uri":"file:///notes","name":"notes"}]}`
			}),
			"tools/call": s.answer(func(mcptest.Call) string {
				return `{"content":[{"type":"resource","resource":{"uri":"` + refundsMail + `","text":` + quoted(s.file(refundsMail)) + `,"_meta":{"say":"it"}}},` +
					`{"type":"resource_link","uri":"` + refundsSkill + `","name":"refunds"},{"type":"\u0072esource","\u0072esource":{"\u0075ri":"SKILL://acme/secret/SKILL.md","text":"secret"}}]}`
			}),
		},
	})
	return s
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (s *skillServer) answer(result func(mcptest.Call) string) mcptest.Handler {
	return mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, result(c)) })
}

func (s *skillServer) listSkills(mcptest.Call) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := map[string]any{
		"uri": refundsSkill, "resources": skillFiles(s.files),
		"frontmatter": map[string]any{
			"name": "refunds", "description": strings.TrimPrefix(strings.Split(s.files[refundsSkill], "\n")[2], "description: "),
			"metadata": map[string]any{"version": 2, "since": "2026-01-31"},
		},
	}
	if s.entry != nil {
		s.entry(entry)
	}
	raw, err := json.Marshal(map[string]any{"skills": []any{entry}, "resultType": "complete", "ttlMs": 5, "cacheScope": "public"})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// skillFiles returns the manifest of files.
func skillFiles(files map[string]string) []any {
	var all []any
	for _, uri := range slices.Sorted(maps.Keys(files)) {
		all = append(all, map[string]any{"uri": uri, "digest": digestOf(files[uri]), "size": len(files[uri])})
	}
	return all
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (s *skillServer) readResource(c mcptest.Call) string {
	var params struct{ URI string }
	_ = json.Unmarshal(c.Params, &params)
	s.mu.Lock()
	defer s.mu.Unlock()
	if told := s.told[params.URI]; told != "" {
		return told
	}
	text := s.files[params.URI]
	return `{"resultType":"complete","contents":[{"uri":` + quoted(params.URI) + `,"mimeType":"text/markdown","text":` + quoted(text) + `,"_meta":{"say":"it"}}]}`
}

func (s *skillServer) file(uri string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[uri]
}

func (s *skillServer) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// skillClient is an agent that sends any method.
type skillClient struct {
	t       *testing.T
	session *mcp.Session
}

func newSkillClient(t *testing.T, address string, token secret.Text, e era) skillClient {
	t.Helper()
	target := mcp.Target{URL: address, Header: http.Header{"Authorization": {"Bearer " + token.Reveal()}}, HTTP: testclient.New(t), Timeout: patience, Era: mcp.EraModern}
	if e == legacy {
		target.Era = mcp.EraHandshake
	}
	session, err := (&mcp.Dialer{Version: "test"}).Dial(t.Context(), target)
	if err != nil {
		t.Fatalf("connect %s: %v", address, err)
	}
	t.Cleanup(func() { session.Close(context.Background()) })
	return skillClient{t, session}
}

// send returns the result, or the code of the error as "error -32602".
func (c skillClient) send(method, params string) string {
	c.t.Helper()
	raw, err := c.session.Request(c.t.Context(), method, json.RawMessage(params))
	if failure, ok := errors.AsType[*mcp.Error](err); ok && failure.RPCCode != 0 {
		return fmt.Sprintf("error %d", failure.RPCCode)
	}
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return string(raw)
}

// uriParams returns parameters with a URI.
func uriParams(uri string) string { return `{"uri":` + quoted(uri) + `}` }

// newSkillEnv syncs servers named one and two with the same URIs, and returns a token of an agent with both.
func newSkillEnv(t *testing.T, e era) (env *testEnv, servers map[string]*skillServer, token secret.Text) {
	t.Helper()
	env, servers = newTestEnv(t), map[string]*skillServer{}
	agent := env.newAutoAgent(t)
	for _, slug := range []string{"one", "two"} {
		servers[slug] = newSkillServer(t, slug, e)
		c := env.newConnector(t, slug, servers[slug].URL)
		env.acceptSkills(t, slug)
		env.Grant(t, agent.ID, c.ID)
	}
	return env, servers, env.Token(t, agent.ID)
}

// acceptSkills accepts the waiting skills of a connector.
func (b *testEnv) acceptSkills(t *testing.T, slug string) {
	t.Helper()
	st := b.St.Tenant(b.Tenant)
	c, err := st.Connectors().Get(t.Context(), connectors.Ref(slug))
	if err != nil {
		t.Fatal(err)
	}
	skills, err := st.Skills().List(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range skills {
		if s.Review == connectors.ReviewAccepted {
			continue
		}
		if err := st.Tools().Decide(t.Context(), store.ToolDecision{Connector: c.ID, Tool: connectors.SkillTool(s.URI), Accept: true, By: "Ada"}); err != nil {
			t.Fatal(err)
		}
	}
}

// decideSkill decides the waiting change of a connector's skill.
func (b *testEnv) decideSkill(t *testing.T, slug string, accept bool) {
	t.Helper()
	c, err := b.St.Tenant(b.Tenant).Connectors().Get(t.Context(), connectors.Ref(slug))
	if err != nil {
		t.Fatal(err)
	}
	d := store.ToolDecision{Connector: c.ID, Tool: connectors.SkillTool(refundsSkill), Accept: accept, By: "Ada"}
	if err := b.St.Tenant(b.Tenant).Tools().Decide(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

func (b *testEnv) resync(t *testing.T, slug string) {
	t.Helper()
	c, err := b.St.Tenant(b.Tenant).Connectors().Get(t.Context(), connectors.Ref(slug))
	if err != nil {
		t.Fatal(err)
	}
	b.syncConnector(t, c)
}

// skillAddress is an address with the prefix of the URIs of server one.
type skillAddress struct{ path, prefix string }

var skillAddresses = []skillAddress{{"/mcp", "skill://one/"}, {"/mcp/one", "skill://"}}

func (a skillAddress) uri(own string) string {
	return a.prefix + strings.TrimPrefix(own, "skill://")
}

// everySkillPair runs a test for each revision of servers and clients.
func everySkillPair(t *testing.T, test func(t *testing.T, env *testEnv, servers map[string]*skillServer, token secret.Text, client era)) {
	for _, server := range eras {
		t.Run("server "+string(server), func(t *testing.T) {
			t.Parallel()
			env, servers, token := newSkillEnv(t, server)
			for _, client := range eras {
				t.Run("client "+string(client), func(t *testing.T) { test(t, env, servers, token, client) })
			}
		})
	}
}
