package gateway_test

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/mcp/mcptest"
)

const (
	otherSkill = "github://acme/refunds/SKILL.md"
	otherText  = "---\nname: refunds\ndescription: d\n---\nAsk first.\n"
)

// otherSkillEntry is an entry with these resources.
func otherSkillEntry(resources string) string {
	return `{"uri":"` + otherSkill + `","frontmatter":{"name":"refunds","description":"d"},"resources":` + resources + `}`
}

// startOtherServer starts a server with a skill of another scheme. entries are of skills/list; nil: it does not declare the
// extension.
func startOtherServer(t *testing.T, entries *atomic.Pointer[string]) *mcptest.Server {
	t.Helper()
	answer := func(result func(mcptest.Call) string) mcptest.Handler {
		return mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, result(c)) })
	}
	return mcptest.Start(t, mcptest.Script{
		Tools: []string{`{"name":"pay","inputSchema":{"type":"object"}}`},
		On: map[string]mcptest.Handler{
			"initialize": answer(func(mcptest.Call) string {
				capabilities := `{"tools":{},"resources":{}}`
				if entries.Load() != nil {
					capabilities = `{"tools":{},"resources":{},"extensions":{"` + skillsExtension + `":{}}}`
				}
				return `{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"},"capabilities":` + capabilities + `}`
			}),
			"skills/list":    answer(func(mcptest.Call) string { return `{"skills":[` + *entries.Load() + `]}` }),
			"resources/list": answer(func(mcptest.Call) string { return `{"resources":[{"uri":"` + otherSkill + `","name":"refunds"}]}` }),
			"resources/read": answer(func(c mcptest.Call) string {
				var params struct{ URI string }
				_ = json.Unmarshal(c.Params, &params)
				return `{"contents":[{"uri":` + quoted(params.URI) + `,"text":` + quoted(otherText) + `}]}`
			}),
		},
	})
}

// TestSkills_DelistedOtherScheme checks that files of a skill stay withheld once the server does not list it well any more, also
// of one that it never did.
func TestSkills_DelistedOtherScheme(t *testing.T) {
	t.Parallel()
	listed := otherSkillEntry(encoded([]any{map[string]any{"uri": otherSkill, "digest": digestOf(otherText), "size": len(otherText)}}))
	dynamic, unlisted := otherSkillEntry(`"dynamic"`), ""
	for name, c := range map[string]struct{ first, next *string }{
		"unlisted": {&listed, &unlisted}, "dynamic": {&listed, &dynamic}, "undeclared": {&listed, nil},
		"never listed well": {&dynamic, &unlisted}, "never listed well, undeclared": {&dynamic, nil},
		"odd": {new(strings.Replace(listed, `{"name"`, `7,"x":{"name"`, 1)), &unlisted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newTestEnv(t)
			var entries atomic.Pointer[string]
			entries.Store(c.first)
			server := startOtherServer(t, &entries)
			agent := env.newAutoAgent(t)
			env.Grant(t, agent.ID, env.newConnector(t, "one", server.URL).ID)
			env.acceptSkills(t, "one")
			token := env.Token(t, agent.ID)
			uris := map[string]string{"/mcp": "patchbay+one:" + otherSkill, "/mcp/one": otherSkill}
			check := func(readable bool) {
				t.Helper()
				for path, uri := range uris {
					client := newSkillClient(t, env.url+path, token, modern)
					for _, uri := range []string{uri, strings.Replace(uri, "SKILL.md", "%53KILL.md", 1)} {
						if got := client.send("resources/read", uriParams(uri)); strings.Contains(got, "Ask first") != (readable && uri == uris[path]) {
							t.Errorf("%s: read %s: %s", path, uri, got)
						}
					}
					if got := client.send("resources/list", `{}`); strings.Contains(got, "SKILL.md") != readable {
						t.Errorf("%s: %s", path, got)
					}
				}
			}
			check(c.first == &listed)
			entries.Store(c.next)
			env.resync(t, "one")
			check(false)
			entries.Store(&listed)
			env.resync(t, "one")
			if c.first != &listed {
				check(false) // it waits
			}
			env.acceptSkills(t, "one")
			check(true)
		})
	}
}
