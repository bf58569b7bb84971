package toolsync_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

const offersAll = `{"tools":{},"prompts":{"listChanged":true},"resources":{"subscribe":true}}`

func listOf(field string, entries ...string) mcptest.Handler {
	return mcptest.Answer("application/json", func(c mcptest.Call) string {
		return mcptest.Result(c, fmt.Sprintf(`{%q:[%s]}`, field, strings.Join(entries, ",")))
	})
}

func (b *bundle) items(t testing.TB, c connectors.Connector) []string {
	t.Helper()
	items, err := b.Door().Connectors().Items(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, 0, len(items))
	for _, item := range items {
		all = append(all, fmt.Sprintf("%s %s %s", item.Kind, item.Key, item.Raw))
	}
	return all
}

func TestSync_KeepsItemsByteForByte(t *testing.T) {
	t.Parallel()
	for name, modern := range map[string]bool{"handshake": false, "modern": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), Modern: modern, Capabilities: offersAll, On: map[string]mcptest.Handler{
				"prompts/list":             listOf("prompts", `{ "name":"b","x":9007199254740993 }`, `{"name":"a"}`, `{"title":"no name"}`, `{"name":"b"}`, `7`),
				"resources/list":           listOf("resources", `{"uri":"file:///a","name":"A"}`),
				"resources/templates/list": listOf("resourceTemplates", `{"uriTemplate":"file:///{x}","name":"X"}`),
			}})
			c := b.addConnector(t, up.URL)
			b.mustSync(t, c)

			want := []string{
				`prompt b { "name":"b","x":9007199254740993 }`, `prompt a {"name":"a"}`,
				`resource file:///a {"uri":"file:///a","name":"A"}`, `template file:///{x} {"uriTemplate":"file:///{x}","name":"X"}`,
			}
			if diff := cmp.Diff(want, b.items(t, c)); diff != "" {
				t.Error(diff)
			}
			if now := b.reload(t, c); string(now.Capabilities) != offersAll || now.ItemsHash == nil {
				t.Errorf("capabilities %s, hash %v", now.Capabilities, now.ItemsHash)
			}
			before := b.Queries()
			again := b.mustSync(t, c)
			if want := (connectors.ItemCounts{
				Prompts: connectors.KindCounts{Total: 2}, Resources: connectors.KindCounts{Total: 1}, Templates: connectors.KindCounts{Total: 1},
			}); again.Items == nil || *again.Items != want {
				t.Errorf("an unchanged sync counts %+v", again.Items)
			}
			if n := b.Queries() - before; n > 4 {
				t.Errorf("an unchanged sync asked the database %d times", n)
			}
		})
	}
}

func TestSync_QuarantinesMalformedItems(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), Capabilities: offersAll, On: map[string]mcptest.Handler{
		"prompts/list":             listOf("prompts", `{"name":"a"}`, `{"name":"b","arguments":{}}`, `7`),
		"resources/list":           listOf("resources", `{"uri":"file:///a","name":"A","size":1.5}`, `{"uri":"file:///b","name":"B"}`),
		"resources/templates/list": listOf("resourceTemplates", `{"uriTemplate":"file:///{x}"}`),
	}})
	c := b.addConnector(t, up.URL)
	run := b.mustSync(t, c)
	aside, err := b.Door().Tools().Quarantined(t.Context(), c.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	have := make([]string, len(aside.Items))
	for i, q := range aside.Items {
		name := "-"
		if q.Name != nil {
			name = *q.Name
		}
		have[i] = name + ": " + q.Reason
	}
	want := []string{
		`b: "arguments" has JSON type object; MCP requires array. Listed as a prompt.`,
		`-: Not an object. Listed as a prompt.`,
		`file:///a: "size" is 1.5; MCP clients need 64-bit integers. Listed as a resource.`,
		`file:///{x}: Missing "name", which MCP requires. Listed as a resource template.`,
	}
	if diff := cmp.Diff(want, have); diff != "" || run.Counts.Total != 1 || run.Counts.Quarantined != 4 {
		t.Errorf("counts %+v (-want +got):\n%s", run.Counts, diff)
	}
}

func TestSync_ToolsOnlyServerIsNotAskedForItems(t *testing.T) {
	t.Parallel()
	for _, capabilities := range []string{`{"tools":{}}`, `{}`, `null`, `{"prompts":null,"resources":null}`, `[]`} {
		b := newBundle(t)
		up := newUpstream(t, mcptest.Script{Capabilities: capabilities})
		b.mustSync(t, b.addConnector(t, up.URL))
		for _, call := range up.Calls() {
			if strings.HasPrefix(call.Method, "prompts/") || strings.HasPrefix(call.Method, "resources/") {
				t.Errorf("%s: a server was asked for %s", capabilities, call.Method)
			}
		}
	}
}

func TestSync_UnreadableItemsKeepTheKnownOnes(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]mcptest.Handler{
		"an error":    mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Failure(c, -32603, "secret") }),
		"no list":     mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"resources":7}`) }),
		"HTTP 500":    mcptest.Status(http.StatusInternalServerError, "no"),
		"no response": mcptest.Hang,
		"too much":    listOf("resources", `{"uri":"a:b","x":"`+strings.Repeat("x", 9<<20)+`"}`),
		"cut short":   func(w http.ResponseWriter, _ *http.Request, _ mcptest.Call) { _, _ = io.WriteString(w, `{"jsonrpc":`) },
		"other HTML":  mcptest.Status(http.StatusOK, "<html>"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			var breaks atomic.Bool
			up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(2), Capabilities: offersAll, On: map[string]mcptest.Handler{
				"prompts/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
					name := "before"
					if breaks.Load() {
						name = "after"
					}
					listOf("prompts", `{"name":"`+name+`"}`)(w, r, c)
				},
				"resources/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
					if breaks.Load() {
						broken(w, r, c)
						return
					}
					listOf("resources", `{"uri":"file:///a"}`)(w, r, c)
				},
			}})
			c := b.addConnector(t, up.URL, func(d *connectors.Draft) { d.Timeout = 2 * time.Second })
			b.mustSync(t, c)
			breaks.Store(true)
			run := b.mustSync(t, c)

			if run.Counts.Total != 2 {
				t.Errorf("run = %+v", run)
			}
			want := []string{`prompt after {"name":"after"}`, `resource file:///a {"uri":"file:///a"}`}
			if diff := cmp.Diff(want, b.items(t, c)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSync_RemovesItemsNoLongerListed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var gone atomic.Bool
	up := newUpstream(t, mcptest.Script{Capabilities: offersAll, On: map[string]mcptest.Handler{
		"prompts/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			entries := []string{`{"name":"a"}`}
			if gone.Load() {
				entries = nil
			}
			listOf("prompts", entries...)(w, r, c)
		},
	}})
	c := b.addConnector(t, up.URL)
	b.mustSync(t, c)
	gone.Store(true)
	run := b.mustSync(t, c)
	if want := (connectors.ItemCounts{Prompts: connectors.KindCounts{Removed: 1}}); run.Items == nil || *run.Items != want {
		t.Errorf("the run counts %+v", run.Items)
	}
	if left := b.items(t, c); !slices.Equal(left, []string{}) {
		t.Errorf("left: %v", left)
	}
	if now := b.reload(t, c); now.ItemsHash != nil {
		t.Error("their hash is left")
	}
}

// TestSync_ItemsWaitForDatabase syncs a server when the database is away for a moment after the lists were read.
func TestSync_ItemsWaitForDatabase(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Capabilities: offersAll, On: map[string]mcptest.Handler{
		"prompts/list":   listOf("prompts", `{"name":"a"}`),
		"resources/list": listOf("resources"),
		"resources/templates/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			time.AfterFunc(time.Second, b.CloseDatabase(t))
			listOf("resourceTemplates")(w, r, c)
		},
	}})
	c := b.addConnector(t, up.URL)
	b.mustSync(t, c)
	if got := b.items(t, c); !slices.Equal(got, []string{`prompt a {"name":"a"}`}) {
		t.Errorf("stored: %v", got)
	}
}

func TestScheduledSync_ChangedItemsGetARun(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var title atomic.Value
	title.Store("A")
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), Capabilities: offersAll, On: map[string]mcptest.Handler{
		"prompts/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			listOf("prompts", fmt.Sprintf(`{"name":"a","title":%q}`, title.Load()))(w, r, c)
		},
	}})
	c := b.addConnector(t, up.URL)
	first := b.mustSync(t, c)
	b.syncDue(t)
	unchanged := b.lastRun(t, c)
	b.syncDue(t)
	if last := b.lastRun(t, c); last.ID == first.ID || last.ID != unchanged.ID || last.Items != nil {
		t.Errorf("without a change: %+v", last)
	}
	title.Store("B")
	b.syncDue(t)
	last := b.lastRun(t, c)
	if want := (connectors.ItemCounts{Prompts: connectors.KindCounts{Total: 1, Changed: 1}}); last.ID == unchanged.ID || last.Items == nil || *last.Items != want {
		t.Errorf("with a changed prompt: %+v", last.Items)
	}
	if last.Counts.Changed != 0 || last.Trigger != connectors.TriggerSchedule || last.State != connectors.SyncOK {
		t.Errorf("run %+v", last)
	}
}
