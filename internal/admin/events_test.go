package admin_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/admin"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// eventStream is what a browser hears.
type eventStream struct {
	t     testing.TB
	lines *bufio.Scanner
	body  io.Closer
}

func (b *browser) listen() *eventStream { b.t.Helper(); return b.listenTo("/events") }

func (b *browser) listenTo(path string) *eventStream {
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
	s := &eventStream{t: b.t, lines: bufio.NewScanner(res.Body), body: res.Body}
	if comment := s.next(); comment != ": connected\n" {
		b.t.Fatalf("begins with %q", comment)
	}
	return s
}

// next is the next event or comment; empty at the end of the stream.
func (s *eventStream) next() string {
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

// until reads events until one holds the text.
func (s *eventStream) until(text string) string {
	s.t.Helper()
	for {
		event := s.next()
		if event == "" {
			s.t.Fatalf("the stream ended before %q", text)
		}
		if strings.Contains(event, text) {
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
	c := d.at("Linear", up.URL)
	b := d.as(connectors.RoleMember)
	events, others := b.listen(), d.browser()
	stranger := d.MemberIn(t, d.Other, connectors.RoleOwner, d.withPassword())
	others.signIn(stranger.Email)
	foreign := others.listen()

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

func TestStreamTellsAtItsStartWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.at("Linear", "https://mcp.example.com/mcp")
	d.Connector(t)
	d.Run(t, c.ID) // as another replica would
	event := d.as(connectors.RoleViewer).listen().next()
	if !strings.Contains(event, "Linear") || !strings.Contains(event, "Syncing") || strings.Contains(event, "sync_tools") {
		t.Errorf("begins with %q", event)
	}
}

func TestStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(d *dashboard, b *browser, m connectors.Member){
		"signed out": func(_ *dashboard, b *browser, _ connectors.Member) { b.post("/logout", nil) },
		"removed": func(d *dashboard, _ *browser, m connectors.Member) {
			if _, err := d.Door().RemoveMember(d.t.Context(), m.UserID); err != nil {
				d.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDashboard(t)
			up := mcptest.Start(t, mcptest.Script{})
			d.at("Linear", up.URL)
			m, other := d.person(connectors.RoleMember), d.as(connectors.RoleMember)
			b := d.browser()
			b.signIn(m.Email)
			events := b.listen()
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
	b := d.as(connectors.RoleViewer)
	var first *eventStream
	for range 10 {
		if s := b.listen(); first == nil {
			first = s
		}
	}
	b.get("/events").want(t, http.StatusTooManyRequests, "Too many pages listen")
	d.as(connectors.RoleViewer).listen() // another person's are not counted
	if err := first.body.Close(); err != nil {
		t.Fatal(err)
	}
	b.listenAgain()
}

func TestAProcessHasSoManyStreamsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t, func(o *admin.Options) { o.Streams = 2 })
	d.as(connectors.RoleViewer).listen()
	d.as(connectors.RoleViewer).listen()
	p := d.as(connectors.RoleOwner).get("/events")
	p.want(t, http.StatusTooManyRequests, "Too many pages listen")
}

func TestAHeadRequestOpensNoStream(t *testing.T) {
	t.Parallel()
	d := newDashboard(t, func(o *admin.Options) { o.Streams = 1 })
	b := d.as(connectors.RoleViewer)
	b.listen()
	if p := b.do(http.MethodHead, "/events", nil); p.Status != http.StatusOK {
		t.Errorf("HEAD answers %d", p.Status)
	}
}

// listenAgain listens as soon as the server lets it: it hears of a stream's end a moment after its browser.
func (b *browser) listenAgain() {
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

func TestStreamEndsWithTheServer(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	events := d.as(connectors.RoleViewer).listen()
	close(d.stop)
	if event := events.next(); event != "" {
		t.Errorf("hears %q", event)
	}
}
