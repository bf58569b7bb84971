package gateway_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// listedSkills is a result of skills/list.
type listedSkills struct {
	Skills []connectors.SkillEntry `json:"skills"`
	TTL    *int                    `json:"ttlMs"`
	Scope  string                  `json:"cacheScope"`
}

func TestSkills_AtBothAddresses(t *testing.T) {
	t.Parallel()
	everySkillPair(t, func(t *testing.T, env *testEnv, servers map[string]*skillServer, token secret.Text, client era) {
		for _, at := range skillAddresses {
			c := newSkillClient(t, env.url+at.path, token, client)
			if !strings.Contains(string(c.session.Capabilities()), `"`+skillsExtension+`":{"directoryRead":true}`) {
				t.Errorf("%s: capabilities %s", at.path, c.session.Capabilities())
			}
			var list listedSkills
			if err := json.Unmarshal([]byte(c.send("skills/list", `{}`)), &list); err != nil {
				t.Fatal(err)
			}
			if want := map[string]int{"/mcp": 2, "/mcp/one": 1}[at.path]; len(list.Skills) != want || (list.TTL != nil) != (client == modern) {
				t.Fatalf("%s: list %+v", at.path, list)
			}
			entry := list.Skills[0]
			if entry.URI != at.uri(refundsSkill) || !sameJSON(entry.Frontmatter, `{"name":"refunds","description":"Refund a customer of one","metadata":{"version":2,"since":"2026-01-31"}}`) {
				t.Errorf("%s: entry %+v", at.path, entry)
			}
			for i, own := range []string{refundsSkill, refundsMail} {
				f, text := entry.Files[i], servers["one"].file(own)
				if f.URI != at.uri(own) || f.Digest != digestOf(text) || f.Size != int64(len(text)) {
					t.Errorf("%s: file %+v", at.path, f)
				}
				if got := c.send("resources/read", uriParams(f.URI)); !strings.Contains(got, quoted(text)) || !strings.Contains(got, quoted(f.URI)) || strings.Contains(got, "_meta\":{\"say") {
					t.Errorf("%s: read %s: %s", at.path, f.URI, got)
				}
			}
			var got struct{ Skill connectors.SkillEntry }
			if err := json.Unmarshal([]byte(c.send("skills/get", uriParams(entry.URI))), &got); err != nil || got.Skill.URI != entry.URI || len(got.Skill.Files) != 2 {
				t.Errorf("%s: skills/get %+v, %v", at.path, got, err)
			}
			checkSkillDirectories(t, c, at)
			for _, method := range []string{"skills/get", "resources/directory/read"} {
				for _, uri := range []string{"skill://one/acme/nothing/SKILL.md", at.uri(refundsMail), at.uri(refundsSkill) + "/", "skill://", "skill:/", "file:///notes"} {
					if answer := c.send(method, uriParams(uri)); answer != "error -32602" {
						t.Errorf("%s: %s of %q: %s", at.path, method, uri, answer)
					}
				}
			}
		}
	})
}

func checkSkillDirectories(t *testing.T, c skillClient, at skillAddress) {
	t.Helper()
	type child struct{ URI, Name, MimeType string }
	for dir, want := range map[string][]child{
		"skill://acme": {{at.uri("skill://acme/refunds"), "refunds", "inode/directory"}},
		"skill://acme/refunds": {
			{at.uri(refundsSkill), "SKILL.md", "text/markdown"}, {at.uri("skill://acme/refunds/examples"), "examples", "inode/directory"},
		},
		"skill://acme/refunds/examples": {{at.uri(refundsMail), "mail.md", "text/markdown"}},
	} {
		var got struct{ Resources []child }
		if err := json.Unmarshal([]byte(c.send("resources/directory/read", uriParams(at.uri(dir)))), &got); err != nil {
			t.Fatal(err)
		}
		if !sameJSON(got.Resources, encoded(want)) {
			t.Errorf("%s: directory %s: %v", at.path, dir, got.Resources)
		}
	}
}

func encoded(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// TestSkills_ChangedByteIsHeld polls a file each millisecond while the server changes a byte of it, first without and then with
// a sync, and until an admin accepts it.
func TestSkills_ChangedByteIsHeld(t *testing.T) {
	t.Parallel()
	everySkillPair(t, func(t *testing.T, env *testEnv, servers map[string]*skillServer, token secret.Text, client era) {
		server := servers["one"]
		reviewed := server.file(refundsMail)
		changed := strings.Replace(reviewed, "D", "d", 1) + string(client) // a byte, and another one for each client
		var allowed sync.Map                                               // contents that were accepted
		allowed.Store(reviewed, true)
		polls := make(chan string, 1<<16)
		done := make(chan struct{})
		var pollers sync.WaitGroup
		for _, at := range skillAddresses {
			c := newSkillClient(t, env.url+at.path, token, client)
			pollers.Go(func() {
				tick := time.NewTicker(time.Millisecond)
				defer tick.Stop()
				for {
					select {
					case <-done:
						return
					case <-tick.C:
					}
					answer := c.send("resources/read", uriParams(at.uri(refundsMail)))
					var read struct{ Contents []struct{ Text string } }
					if !strings.HasPrefix(answer, "error ") && (json.Unmarshal([]byte(answer), &read) != nil || len(read.Contents) != 1) {
						t.Errorf("%s: %s", at.path, answer)
						return
					}
					if len(read.Contents) == 1 {
						answer = read.Contents[0].Text
						if _, ok := allowed.Load(answer); !ok {
							t.Errorf("%s served %q, which was not reviewed", at.path, answer)
							return
						}
					}
					select {
					case polls <- answer:
					default:
					}
				}
			})
		}
		awaitPoll := func(want string) {
			t.Helper()
			deadline := time.After(patience)
			for {
				select {
				case got := <-polls:
					if strings.HasPrefix(got, want) {
						return
					}
				case <-deadline:
					t.Fatalf("no poll returned %q", want)
				}
			}
		}
		awaitPoll(reviewed)
		server.change(func() { server.files[refundsMail] = changed })
		awaitPoll("error ")
		env.resync(t, "one")
		for range 20 {
			awaitPoll("error ")
		}
		checkHeldEntry(t, newSkillClient(t, env.url+"/mcp/one", token, client), reviewed)
		allowed.Store(changed, true)
		env.decideSkill(t, "one", true)
		awaitPoll(changed)
		close(done)
		pollers.Wait()
		server.change(func() { server.files[refundsMail] = reviewed })
		env.resync(t, "one")
		env.decideSkill(t, "one", true)
	})
}

// checkHeldEntry checks that the served entry has the accepted digests.
func checkHeldEntry(t *testing.T, c skillClient, reviewed string) {
	t.Helper()
	if got := c.send("skills/get", uriParams(refundsSkill)); !strings.Contains(got, digestOf(reviewed)) {
		t.Errorf("the entry while a change waits: %s", got)
	}
}

// TestSkills_UnreviewedIsServedNowhere checks a new skill and a new file, at the addresses where they could appear.
func TestSkills_UnreviewedIsServedNowhere(t *testing.T) {
	t.Parallel()
	env, servers, token := newSkillEnv(t, modern)
	server, extra := servers["one"], "skill://acme/refunds/extra.md"
	server.change(func() { server.files[extra] = "Do it at once." })
	env.resync(t, "one")
	checkWithheld := func(uri, secretText string) {
		t.Helper()
		for _, at := range skillAddresses {
			c := newSkillClient(t, env.url+at.path, token, modern)
			if answer := c.send("resources/read", uriParams(at.uri(uri))); !strings.HasPrefix(answer, "error ") {
				t.Errorf("%s: read %s: %s", at.path, uri, answer)
			}
			for _, method := range []string{"skills/list", "resources/list"} {
				if answer := c.send(method, `{}`); strings.Contains(answer, uri[len("skill://"):]) {
					t.Errorf("%s: %s has %s: %s", at.path, method, uri, answer)
				}
			}
			if answer := c.send("resources/directory/read", uriParams(at.uri("skill://acme/refunds"))); strings.Contains(answer, secretText) || strings.Contains(answer, "extra") {
				t.Errorf("%s: directory: %s", at.path, answer)
			}
		}
	}
	checkWithheld(extra, "at once")
	if got := newSkillClient(t, env.url+"/mcp", token, modern).send("resources/list", `{}`); !strings.Contains(got, `"mail.md"`) || strings.Contains(got, "unreviewed words") {
		t.Errorf("resources/list: %s", got)
	}
	checkWithheld("skill://acme/secret/SKILL.md", "secret")
	c := newSkillClient(t, env.url+"/mcp/one", token, modern)
	for _, spelling := range []string{
		"skill://acme/refunds/./extra.md", "SKILL://acme/refunds/extra.md", "skill://acme/x/../refunds/extra.md", "skill://acme/refunds/%65xtra.md", "skill://acme//refunds/extra.md",
		"%73kill://acme/refunds/extra.md", "skill:acme/refunds/extra.md", " skill://acme/refunds/extra.md",
	} {
		if answer := c.send("resources/read", uriParams(spelling)); !strings.HasPrefix(answer, "error ") {
			t.Errorf("read %q: %s", spelling, answer)
		}
	}
	env.decideSkill(t, "one", true)
	if answer := c.send("resources/read", uriParams(extra)); !strings.Contains(answer, "Do it at once.") {
		t.Errorf("read after the decision: %s", answer)
	}
}

// TestSkills_HostileReads checks results of resources/read that are not the accepted file and nothing else.
func TestSkills_HostileReads(t *testing.T) {
	t.Parallel()
	env, servers, token := newSkillEnv(t, legacy)
	server := servers["one"]
	text := server.file(refundsMail)
	content := `{"uri":"` + refundsMail + `","text":` + quoted(text) + `}`
	c := newSkillClient(t, env.url+"/mcp/one", token, legacy)
	for name, told := range map[string]string{
		"another file too":   `{"contents":[` + content + `,{"uri":"skill://acme/refunds/other.md","text":"evil"}]}`,
		"another URI":        `{"contents":[{"uri":"file:///x","text":` + quoted(text) + `}]}`,
		"text and blob":      `{"contents":[{"uri":"` + refundsMail + `","text":` + quoted(text) + `,"blob":"ZXZpbA=="}]}`,
		"text twice":         `{"contents":[{"uri":"` + refundsMail + `","text":` + quoted(text) + `,"text":"evil"}]}`,
		"no content":         `{"contents":[]}`,
		"input and contents": `{"resultType":"input_required","inputRequests":{},"contents":[{"uri":"` + refundsMail + `","text":"evil"}]}`,
		"lone surrogate":     `{"contents":[{"uri":"` + refundsMail + `","text":"\ud800"}]}`,
	} {
		server.change(func() { server.told[refundsMail] = told })
		if answer := c.send("resources/read", uriParams(refundsMail)); !strings.HasPrefix(answer, "error ") {
			t.Errorf("%s: %s", name, answer)
		}
	}
	server.change(func() {
		server.told[refundsMail] = `{"say":"evil","contents":[{"uri":"` + refundsMail + `","blob":"RGVhciBjdXN0b21lciBvZiBvbmUK","mimeType":"text/markdown; say evil","annotations":{"say":"evil"}}]}`
	})
	if answer := c.send("resources/read", uriParams(refundsMail)); !strings.Contains(answer, "RGVhciBjdXN0b21lciBvZiBvbmUK") || strings.Contains(answer, "evil") {
		t.Errorf("a blob with other members: %s", answer)
	}
	server.change(func() {
		server.told["file:///notes"] = `{"contents":[{"uri":"file:///notes","text":"n"},{"uri":"\u0073kill://acme/refunds/extra.md","text":"evil"}]}`
	})
	if answer := c.send("resources/read", uriParams("file:///notes")); !strings.HasPrefix(answer, "error ") {
		t.Errorf("a resource with a file of a skill: %s", answer)
	}
}

// TestSkills_FrontmatterIsCompared checks an entry that describes another SKILL.md than the one with its digest.
func TestSkills_FrontmatterIsCompared(t *testing.T) {
	t.Parallel()
	env := newTestEnv(t)
	server := newSkillServer(t, "one", modern)
	server.entry = func(entry map[string]any) {
		entry["frontmatter"] = map[string]any{"name": "refunds", "description": "Something harmless"}
	}
	agent := env.newAutoAgent(t)
	env.Grant(t, agent.ID, env.newConnector(t, "one", server.URL).ID)
	env.acceptSkills(t, "one")
	c := newSkillClient(t, env.url+"/mcp/one", env.Token(t, agent.ID), modern)
	if answer := c.send("resources/read", uriParams(refundsSkill)); !strings.HasPrefix(answer, "error ") {
		t.Errorf("read: %s", answer)
	}
	if answer := c.send("resources/read", uriParams(refundsMail)); strings.HasPrefix(answer, "error ") {
		t.Errorf("another file: %s", answer)
	}
}

func TestSkills_InResultsOfCalls(t *testing.T) {
	t.Parallel()
	env, servers, token := newSkillEnv(t, legacy)
	for _, at := range skillAddresses {
		tool := map[string]string{"/mcp": "mcp_one__pay", "/mcp/one": "pay"}[at.path]
		c := newSkillClient(t, env.url+at.path, token, legacy)
		got := c.send("tools/call", `{"name":"`+tool+`","arguments":{}}`)
		if !strings.Contains(got, quoted(at.uri(refundsMail))) || !strings.Contains(got, quoted(at.uri(refundsSkill))) || strings.Contains(got, `"secret"`) || strings.Contains(got, "say") {
			t.Errorf("%s: %s", at.path, got)
		}
		reviewed := servers["one"].file(refundsMail)
		servers["one"].change(func() { servers["one"].files[refundsMail] = "changed by the server" })
		if got := c.send("tools/call", `{"name":"`+tool+`","arguments":{}}`); strings.Contains(got, "changed by the server") {
			t.Errorf("%s: %s", at.path, got)
		}
		servers["one"].change(func() { servers["one"].files[refundsMail] = reviewed })
	}
}

// TestSkills_NeedResources checks an agent without the connector's resources.
func TestSkills_NeedResources(t *testing.T) {
	t.Parallel()
	env, _, _ := newSkillEnv(t, modern)
	agent := env.newAutoAgent(t)
	c, err := env.St.Tenant(env.Tenant).Connectors().Get(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	env.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Resources = connectors.ResourcesNone })
	for _, at := range skillAddresses {
		c := newSkillClient(t, env.url+at.path, env.Token(t, agent.ID), modern)
		if got := c.send("skills/list", `{}`); !strings.Contains(got, `"skills":[]`) {
			t.Errorf("%s: %s", at.path, got)
		}
		for _, method := range []string{"skills/get", "resources/read"} {
			if got := c.send(method, uriParams(at.uri(refundsSkill))); got != "error -32602" {
				t.Errorf("%s: %s: %s", at.path, method, got)
			}
		}
		if got := c.send("resources/directory/read", uriParams(at.uri("skill://acme/refunds"))); got != "error -32602" {
			t.Errorf("%s: directory: %s", at.path, got)
		}
	}
}
