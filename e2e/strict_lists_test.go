//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/mcp/mcptest"
)

// randomServers is how many servers send lists with random defects.
const randomServers = 4

// Whatever servers list, the clients of three official SDKs read every list that the gateway serves, in each era that they speak: entries
// that they would refuse are set aside, and all others arrive.
func TestStrictClientsReadEveryList(t *testing.T) {
	t.Parallel()
	needPeers(t)
	c := admin(t)
	servers := map[string]map[string][]string{"good": goodLists(150), "bad": badLists()}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range randomServers {
		servers[fmt.Sprintf("random-%d", i)] = randomLists(rand.New(rand.NewPCG(seed, uint64(i))))
	}
	slugs := slices.Sorted(maps.Keys(servers))
	urls := []string{c.base + "/mcp"}
	for _, slug := range slugs {
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
			"name": slug, "slug": slug, "url": startLister(t, slug == "bad", servers[slug]), "auth": object{"type": "none"},
		})
		c.must(http.StatusOK, http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
		urls = append(urls, c.base+"/mcp/"+slug)
	}
	robin := c.hire("robin", slugs...)
	g := gate{base: robin.base, token: robin.token}
	read := slices.Concat(readByTypeScript(t, g.token, urls), readByGo(t, g, urls))
	if len(read) != 5*len(urls) {
		t.Fatalf("%d answers for %d addresses", len(read), len(urls))
	}
	for _, r := range read {
		r.check(t, servers)
	}
}

// readLists is what one client read at one address.
type readLists struct {
	URL    string
	Client string
	Lists  map[string][]string
	Found  []string // in a lean list: the tool, and what it answered
	Error  string
}

// check fails the test where the client refused a list, or lacks an entry that has no defect.
func (r readLists) check(t *testing.T, servers map[string]map[string][]string) {
	t.Helper()
	if r.Error != "" {
		t.Errorf("%s at %s: %s", r.Client, r.URL, r.Error)
		return
	}
	_, own, _ := strings.Cut(r.URL, "/mcp/")
	for list, entries := range r.Lists {
		if len(entries) > 0 && strings.HasPrefix(entries[0], "refused: ") {
			t.Errorf("%s refuses the %s at %s: %s", r.Client, list, r.URL, entries[0])
			continue
		}
		for slug, lists := range servers {
			have := countFine(entries, slug)
			if own != "" {
				have = countFine(entries, "")
			}
			if want := countFine(lists[list], ""); (own == "" || own == slug) && have != want {
				t.Errorf("%s at %s: %d well-formed %s of %s, want %d", r.Client, r.URL, have, list, slug, want)
			}
		}
	}
}

// countFine counts the entries without a defect, of one server where slug is not empty.
func countFine(entries []string, slug string) (n int) {
	for _, entry := range entries {
		if strings.Contains(entry, "fine") && strings.Contains(entry, slug) {
			n++
		}
	}
	return n
}

// readByTypeScript runs the clients of both TypeScript SDKs in one process.
func readByTypeScript(t *testing.T, token string, urls []string) (all []readLists) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(), append([]string{"peers/lists.mjs", token}, urls...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("lists.mjs: %v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var r readLists
		err := dec.Decode(&r)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
}

// readByGo reads the same with the Go SDK's client.
func readByGo(t *testing.T, g gate, urls []string) (all []readLists) {
	t.Helper()
	for _, url := range urls {
		for _, revision := range []string{"2025-11-25", "2026-07-28"} {
			agent := g.enter(t, strings.TrimPrefix(url, g.base+"/mcp"), "", revision)
			r := readLists{URL: url, Client: "Go " + revision, Lists: agent.readLists()}
			if slices.Contains(r.Lists["tools"], "find_tools") {
				r.Found = agent.findEcho(t)
			}
			all = append(all, r)
		}
	}
	return all
}

// findEcho looks for a tool that echoes, and calls it as its entry says.
func (a *sdkAgent) findEcho(t *testing.T) []string {
	t.Helper()
	var answer struct {
		Tools []struct {
			CallWith   string `json:"call_with"`
			Definition sdk.Tool
		}
	}
	found, err := a.CallTool(a.ctx, &sdk.CallToolParams{Name: "find_tools", Arguments: object{"words": "echo a text"}})
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(found.StructuredContent)
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Tools) == 0 {
		t.Fatalf("%s, %v", raw, err)
	}
	name := answer.Tools[0].Definition.Name
	called, err := a.CallTool(a.ctx, &sdk.CallToolParams{Name: answer.Tools[0].CallWith, Arguments: object{"name": name, "arguments": object{"text": "hello"}}})
	return []string{name, text(t, called, err)}
}

func (a *sdkAgent) readLists() map[string][]string {
	lists := map[string][]string{}
	add := func(list, name string, err error) {
		if err != nil {
			lists[list] = []string{"refused: " + err.Error()}
			return
		}
		lists[list] = append(lists[list], name)
	}
	for tool, err := range a.Tools(a.ctx, nil) {
		if err != nil {
			add("tools", "", err)
			break
		}
		add("tools", tool.Name, nil)
	}
	for prompt, err := range a.Prompts(a.ctx, nil) {
		if err != nil {
			add("prompts", "", err)
			break
		}
		add("prompts", prompt.Name, nil)
	}
	for resource, err := range a.Resources(a.ctx, nil) {
		if err != nil {
			add("resources", "", err)
			break
		}
		add("resources", resource.URI, nil)
	}
	for template, err := range a.ResourceTemplates(a.ctx, nil) {
		if err != nil {
			add("resourceTemplates", "", err)
			break
		}
		add("resourceTemplates", template.URITemplate, nil)
	}
	return lists
}

// startLister serves lists. Where odd is true, what it says of itself is mistyped, too.
func startLister(t *testing.T, odd bool, lists map[string][]string) string {
	t.Helper()
	script := mcptest.Script{Tools: lists["tools"], Capabilities: `{"tools":{},"prompts":{},"resources":{}}`, On: map[string]mcptest.Handler{}}
	for method, list := range map[string]string{"prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"} {
		script.On[method] = mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, fmt.Sprintf(`{%q:[%s],"_meta":7}`, list, strings.Join(lists[list], ",")))
		})
	}
	if odd {
		script.On["initialize"] = mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":"x"},"prompts":{"listChanged":7},"resources":{"subscribe":[]},`+
				`"completions":"x","logging":7,"experimental":[]},"serverInfo":{"name":7,"version":{},"title":[],"icons":"x"},"instructions":{"a":1},"_meta":7}`)
		})
	}
	return mcptest.Start(t, script).URL
}
