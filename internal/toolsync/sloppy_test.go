package toolsync_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/toolsync"
)

// Each file in testdata/sloppy is a server as found in the wild: a description, one section for each request
// that it answers, and the expected report in the section "want". sloppy_fixture_test.go describes the format.
//
// Every case has its own network and clock (synctest), so that a server that drips a byte a second costs a
// millisecond.
func TestSloppyServers_AreReadOrExplained(t *testing.T) {
	t.Parallel()
	for _, c := range sloppyCases(t) {
		if c.isHuge() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.judge(t)
		})
	}
}

// Not parallel: it counts the allocations of the whole process.
func TestSloppyServers_HugeResponsesCostLittleMemory(t *testing.T) {
	for _, c := range sloppyCases(t) {
		if !c.isHuge() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c.judge(t)
			runtime.ReadMemStats(&after)
			if cost := after.TotalAlloc - before.TotalAlloc; cost > maxGiantCost {
				t.Errorf("allocated %d MiB in all, server included", cost>>20)
			}
		})
	}
}

const (
	maxGiantCost   = 32 << 20
	maxSloppyCalls = 310 // 200 pages of a list, 300 resumptions of a stream
)

func sloppyCases(t *testing.T) []sloppyCase {
	t.Helper()
	files, err := filepath.Glob("testdata/sloppy/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	cases := make([]sloppyCase, len(files))
	for i, file := range files {
		if cases[i], err = readSloppyCase(file); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return cases
}

// judge plays the case and compares the result.
func (c sloppyCase) judge(t *testing.T) {
	t.Helper()
	var diff string
	synctest.Test(t, func(t *testing.T) {
		world := newSloppyWorld(c)
		defer world.close()
		found := world.test(t)
		diff = cmp.Diff(c.want, c.written(found))
		world.check(t, found)
	})
	if diff != "" {
		t.Errorf("%s(-want +got):\n%s", c.comment, diff)
	}
}

// sloppyFound is the result of a case.
type sloppyFound struct {
	toolsync.ProbeReport
	took  time.Duration
	calls []sloppyCall
}

// test probes the connector, as the button "Test connection" does.
func (w *sloppyWorld) test(t *testing.T) sloppyFound {
	t.Helper()
	syncer := toolsync.New(toolsync.Options{HTTP: w.client, Credentials: credentialsWithoutStore(), Version: "test"})
	d := connectors.NewDraft()
	d.Name, d.URL, d.Timeout, d.RetryAttempts = "Sloppy", w.url, w.timeout, w.retries
	d.Transport = connectors.Transport(w.transport)
	var s connectors.Secret
	if w.bearer != "" {
		d.Auth.Type, s.Token = connectors.AuthBearer, secret.Text(w.bearer)
	}
	began := time.Now()
	report, err := syncer.Probe(t.Context(), connectors.TenantID{}, nil, d, s)
	if err != nil {
		t.Fatal(err)
	}
	return sloppyFound{report, time.Since(began), w.calls()}
}

// check holds for every case, whatever the server does.
func (w *sloppyWorld) check(t *testing.T, found sloppyFound) {
	t.Helper()
	if most := w.timeout*time.Duration(1+w.retries) + time.Minute; found.took > most {
		t.Errorf("took %s, more than %s", found.took, most)
	}
	if len(found.calls) > maxSloppyCalls {
		t.Errorf("sent %d requests", len(found.calls))
	}
	if f := found.Error; f != nil && strings.Contains(strings.ToLower(f.Message+f.Error()), "secret") {
		t.Errorf("the error repeats the server: %s: %v", f.Message, f)
	}
	for _, call := range found.calls {
		if call.origin != w.origin() && !slices.Contains(w.also, call.origin) {
			t.Errorf("%s went to %s", call.method, call.origin)
		}
		if call.header.Get("User-Agent") != "patchbay/test" {
			t.Errorf("%s was sent by %q", call.method, call.header.Get("User-Agent"))
		}
		if accept := call.header.Get("Accept"); call.http == "POST" && accept != "application/json, text/event-stream" {
			t.Errorf("%s accepts %q", call.method, accept)
		}
		if want := w.authorization(); call.header.Get("Authorization") != want {
			t.Errorf("%s carries the credential %q, want %q", call.method, call.header.Get("Authorization"), want)
		}
	}
	if left := w.openConnections(); left != 0 {
		t.Errorf("%d connections are still open", left)
	}
}

// written formats the result as the section "want": all about tools and failure, other facts if the case names
// them.
func (c sloppyCase) written(found sloppyFound) string {
	var b strings.Builder
	for line := range strings.Lines(c.want) {
		key, _, _ := strings.Cut(line, ":")
		if fact, ok := c.fact(key, found); ok {
			fmt.Fprintf(&b, "%s: %s\n", key, fact)
		}
	}
	if f := found.Error; f != nil {
		fmt.Fprintf(&b, "fails: %s\nsays: %s\n", c.failure(f), f.Message)
		return b.String()
	}
	fmt.Fprintf(&b, "tools: %s\n", toolNames(found.Tools))
	for _, q := range found.Quarantined {
		name := "-"
		if q.Name != nil {
			name = shownName(*q.Name)
		}
		fmt.Fprintf(&b, "aside: %s %s\n", name, q.Reason)
	}
	return b.String()
}

// fact formats a fact that only some cases name.
func (c sloppyCase) fact(key string, found sloppyFound) (text string, ok bool) {
	if header, ok := strings.CutPrefix(key, "header "); ok {
		return c.sent(found, func(call sloppyCall) string { return orDash(strings.Join(call.header.Values(header), ",")) }), true
	}
	if name, ok := strings.CutPrefix(key, "raw "); ok {
		return rawOf(name, found), true
	}
	switch key {
	case "took":
		return found.took.Round(time.Second).String(), true
	case "sent":
		return c.sent(found, func(call sloppyCall) string { return call.method }), true
	case "meta":
		return c.sent(found, func(call sloppyCall) string { return orDash(call.meta) }), true
	case "server":
		s := found.Server
		return fmt.Sprintf("%s %s %s", orDash(s.Name), orDash(s.Version), orDash(s.ProtocolVersion)), true
	case "instructions":
		return fmt.Sprintf("%d bytes", len(found.Server.Instructions)), true
	case "retry after":
		return (time.Duration(found.Error.RetryAfter) * time.Second).String(), true
	}
	return "", false
}

// sent describes the requests, without probes that the case does not mention.
func (c sloppyCase) sent(found sloppyFound, describe func(sloppyCall) string) string {
	var all []string
	for _, call := range found.calls {
		if call.method != methodDiscover || c.scripts(methodDiscover) {
			all = append(all, describe(call))
		}
	}
	return strings.Join(repeated(all), " ")
}

// repeated writes "a a a" as "a*3".
func repeated(all []string) []string {
	var short []string
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		if n == 1 {
			short = append(short, all[i])
		} else {
			short = append(short, fmt.Sprintf("%s*%d", all[i], n))
		}
		i += n
	}
	return short
}

// failure formats the code and its facts. "at handshake" accepts either of its two requests.
func (c sloppyCase) failure(f *fault.Error) string {
	phase := f.Remote.Phase
	if strings.Contains(c.want, " at handshake") && (phase == "discover" || phase == "initialize") {
		phase = "handshake"
	}
	text := f.Code + " at " + phase
	if f.Remote.HTTPStatus != 0 {
		text += fmt.Sprintf(", HTTP %d", f.Remote.HTTPStatus)
	}
	if f.Remote.RPCCode != 0 {
		text += fmt.Sprintf(", RPC %d", f.Remote.RPCCode)
	}
	if f.Remote.Retryable {
		text += ", may work later"
	}
	return text
}

func toolNames(tools []connectors.Definition) string {
	if len(tools) > 10 {
		return fmt.Sprintf("%d, from %s to %s", len(tools), shownName(tools[0].Name), shownName(tools[len(tools)-1].Name))
	}
	var names []string
	for _, tool := range tools {
		names = append(names, shownName(tool.Name))
	}
	return orDash(strings.Join(names, " "))
}

// shownName quotes names with special characters and shortens long ones.
func shownName(name string) string {
	if runes := []rune(name); len(runes) > 40 {
		return fmt.Sprintf("%s…(%d)", string(runes[:5]), len(runes))
	}
	if quoted := fmt.Sprintf("%q", name); strings.ContainsAny(name, " \"-") || quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

func rawOf(name string, found sloppyFound) string {
	for _, tool := range found.Tools {
		if tool.Name == name {
			return strings.ReplaceAll(string(tool.Raw), "\n", `\n`)
		}
	}
	for _, q := range found.Quarantined {
		if q.Name != nil && *q.Name == name {
			return string(q.Raw)
		}
	}
	return "-"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
