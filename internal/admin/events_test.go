package admin_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/admin"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// eventReader reads a stream of server-sent events.
type eventReader struct {
	t     testing.TB
	lines *bufio.Scanner
	body  io.Closer
}

func (b *browser) openEvents() *eventReader { b.t.Helper(); return b.openEventsAt("/events") }

func (b *browser) openEventsAt(path string) *eventReader {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		b.t.Fatalf("%d %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	s := &eventReader{t: b.t, lines: bufio.NewScanner(res.Body), body: res.Body}
	if comment := s.next(); comment != ": connected\n" {
		b.t.Fatalf("begins with %q", comment)
	}
	if counts := s.next(); !strings.Contains(counts, `id="needs-count"`) {
		b.t.Fatalf("begins with %q", counts)
	}
	return s
}

// next is the next event or comment; empty at the end of the stream.
func (s *eventReader) next() string {
	s.t.Helper()
	var event strings.Builder
	for s.lines.Scan() {
		if s.lines.Text() == "" {
			return event.String()
		}
		event.WriteString(s.lines.Text() + "\n")
	}
	if err := s.lines.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		s.t.Errorf("read events: %v", err)
	}
	return ""
}

// until reads events until each of the texts was in one, and returns that of the last text. The events may come in any
// order.
func (s *eventReader) until(texts ...string) string {
	s.t.Helper()
	defer time.AfterFunc(time.Minute, func() { _ = s.body.Close() }).Stop() // other packages' tests may load both cores
	for {
		event := s.next()
		if event == "" {
			s.t.Fatalf("the stream ended before %q", texts)
		}
		texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(event, text) })
		if len(texts) == 0 {
			return event
		}
	}
}

func TestStreamShowsHowASyncGoes(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	listed, proceed := make(chan struct{}), make(chan struct{})
	second := func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		close(listed)
		<-proceed
		mcptest.ListResult(mcptest.Tool("create_issue"))(w, r, c)
	}
	first := mcptest.Answer("application/json", func(c mcptest.Call) string {
		return mcptest.Result(c, `{"tools":[`+mcptest.Tool("search")+`],"nextCursor":"2"}`)
	})
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": mcptest.First(1, first, second)}})
	c := d.addConnectorAt("Linear", up.URL)
	b := d.signInAsRole(connectors.RoleMember)
	events, others := b.openEvents(), d.browser()
	stranger := d.MemberIn(t, d.Other, connectors.RoleOwner, d.withPassword())
	others.signIn(stranger.Email)
	foreign := others.openEvents()

	answer := make(chan page, 1)
	go func() { answer <- b.post("/connectors/linear/sync_tools", nil) }()
	<-listed
	event := events.until("Syncing, page 1")
	for _, want := range []string{`<hx-partial`, `id="connector-` + c.ID.String() + `"`, "data: "} {
		if !strings.Contains(event, want) {
			t.Errorf("the event does not hold %s:\n%s", want, event)
		}
	}
	close(proceed)
	events.until("Connected")
	if p := <-answer; p.Status != http.StatusSeeOther {
		t.Errorf("the sync answered %d", p.Status)
	}

	close(d.stop)
	for event := foreign.next(); event != ""; event = foreign.next() {
		t.Errorf("another tenant hears %q", event)
	}
}

func TestEvents_StartWithRunningSyncs(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Connector(t)
	d.Run(t, c.ID) // as another replica would
	event := d.signInAsRole(connectors.RoleViewer).openEvents().next()
	if !strings.Contains(event, "Linear") || !strings.Contains(event, "Syncing") || strings.Contains(event, "sync_tools") {
		t.Errorf("begins with %q", event)
	}
}

func TestStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(d *dashboard, b *browser, m connectors.Member){
		"signed out": func(_ *dashboard, b *browser, _ connectors.Member) { b.post("/logout", nil) },
		"removed": func(d *dashboard, _ *browser, m connectors.Member) {
			if _, err := d.Door().People().RemoveMember(d.t.Context(), m.UserID); err != nil {
				d.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDashboard(t)
			up := mcptest.Start(t, mcptest.Script{})
			d.addConnectorAt("Linear", up.URL)
			m, other := d.createMember(connectors.RoleMember), d.signInAsRole(connectors.RoleMember)
			b := d.browser()
			b.signIn(m.Email)
			events := b.openEvents()
			end(d, b, m)
			d.ahead.Add(int64(2 * time.Second))
			other.post("/connectors/linear/sync_tools", nil)
			if event := events.next(); event != "" {
				t.Errorf("still hears %q", event)
			}
		})
	}
}

func TestAPersonHasTenStreamsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	var first *eventReader
	for range 10 {
		if s := b.openEvents(); first == nil {
			first = s
		}
	}
	b.get("/events").want(t, http.StatusTooManyRequests, "Too many open pages. Close some, or reload for updates.")
	d.signInAsRole(connectors.RoleViewer).openEvents() // another person's streams do not count
	if err := first.body.Close(); err != nil {
		t.Fatal(err)
	}
	b.countStreams()
}

func TestAProcessHasSoManyStreamsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t, func(o *admin.Options) { o.Streams = 2 })
	d.signInAsRole(connectors.RoleViewer).openEvents()
	d.signInAsRole(connectors.RoleViewer).openEvents()
	p := d.signInAsRole(connectors.RoleOwner).get("/events")
	p.want(t, http.StatusTooManyRequests, "Too many open pages. Close some, or reload for updates.")
}

func TestAHeadRequestOpensNoStream(t *testing.T) {
	t.Parallel()
	d := newDashboard(t, func(o *admin.Options) { o.Streams = 1 })
	b := d.signInAsRole(connectors.RoleViewer)
	b.openEvents()
	if p := b.do(http.MethodHead, "/events", nil); p.Status != http.StatusOK {
		t.Errorf("HEAD answers %d", p.Status)
	}
}

// countStreams retries until a stream is accepted: the server notices the end of one a moment after its
// browser.
func (b *browser) countStreams() {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+"/events", nil)
		if err != nil {
			b.t.Fatal(err)
		}
		res, err := b.client.Do(req)
		if err != nil {
			b.t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return
		}
	}
	b.t.Error("the place of a stream that ended stays taken")
}

func TestFrameEvents_OnceSendsTheCounts(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.createOneWaiting()
	p := d.signInAsRole(connectors.RoleViewer).get("/events?on=frame&once")
	p.want(t, http.StatusOK, `id="waiting"`, `id="changes-waiting"`, `id="needs-count"`, "to do")
}

func TestStreamEndsWithTheServer(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	events := d.signInAsRole(connectors.RoleViewer).openEvents()
	close(d.stop)
	if event := events.next(); event != "" {
		t.Errorf("hears %q", event)
	}
}
