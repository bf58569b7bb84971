package listchanges_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/listchanges"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
)

const capable = `{"tools":{"listChanged":true}}`

// newTalkingServer is a server that sends the given messages on its stream.
func newTalkingServer(t testing.TB, say <-chan string) *mcptest.Server {
	t.Helper()
	return mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1), Capabilities: capable, On: map[string]mcptest.Handler{"GET": sendMessages(say)}})
}

func sendMessages(say <-chan string) mcptest.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ mcptest.Call) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case method := <-say:
				_, _ = io.WriteString(w, mcptest.Event(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method)))
			case <-r.Context().Done():
				return
			}
		}
	}
}

// newStreamServer is a server with the given handler for its stream.
func newStreamServer(t testing.TB, stream mcptest.Handler) *mcptest.Server {
	t.Helper()
	return mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1), Capabilities: capable, On: map[string]mcptest.Handler{"GET": stream}})
}

func TestStream_FloodTurnsListeningOff(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t))
	c := p.addConnector(t, newStreamServer(t, func(w http.ResponseWriter, r *http.Request, call mcptest.Call) {
		w.Header().Set("Content-Type", "text/event-stream")
		if call.N == 1 {
			for range 601 {
				_, _ = io.WriteString(w, mcptest.Event(`{"jsonrpc":"2.0","method":"notifications/message"}`))
			}
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}).URL)
	p.waitState(t, c, connectors.ListenStateOff, connectors.ListenFlood)
	// The stream is counted after its end is stored.
	within(t, "it is counted", func() bool {
		s := p.Stats()
		return s.Streams == 0 && s.Off[connectors.ListenFlood] == 1
	})
	p.sync(t, c) // does not turn listening on
	p.waitState(t, c, connectors.ListenStateOff, connectors.ListenFlood)
	must(t, p.Door().Syncs().ListenAgain(t.Context(), c.ID))
	p.waitState(t, c, connectors.ListenListening, "")
}

func TestStream_UnchangedListsTurnListeningOff(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t))
	say := make(chan string)
	c := p.addConnector(t, newTalkingServer(t, say).URL)
	for range 10 { // the first one may be a change
		say <- "notifications/tools/list_changed"
		if run := p.runQueued(t, c); run.Counts.Added+run.Counts.Changed+run.Counts.Removed != 0 {
			t.Fatalf("%+v", run)
		}
	}
	say <- "notifications/tools/list_changed"
	p.waitState(t, c, connectors.ListenStateOff, connectors.ListenUnchanged)
	if l := p.listening(t, c); l.Notified != 11 {
		t.Errorf("%+v", l)
	}
}

func TestStream_SomeUnchangedListsAreTolerated(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t))
	say := make(chan string)
	up := newTalkingServer(t, say)
	c := p.addConnector(t, up.URL)
	for i := range 12 {
		if i == 6 {
			up.SetTools(mcptest.Tools(2)...)
		}
		say <- "notifications/tools/list_changed"
		p.runQueued(t, c)
	}
	p.waitState(t, c, connectors.ListenListening, "")
}

func TestStream_ShortStreamsTurnListeningOff(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t))
	up := mcptest.Start(t, mcptest.Script{Modern: true, Tools: mcptest.Tools(1), Capabilities: capable, On: map[string]mcptest.Handler{
		"subscriptions/listen": mcptest.Answer("text/event-stream", func(mcptest.Call) string {
			return mcptest.Event(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}`)
		}),
	}})
	c := p.addConnector(t, up.URL)
	p.waitState(t, c, connectors.ListenStateOff, connectors.ListenShortLived)
	n := 0
	for _, method := range up.Methods() {
		if method == "subscriptions/listen" {
			n++
		}
	}
	if n != 8 {
		t.Errorf("it was tried %d times", n)
	}
}

func TestStream_UnreachableServerIsRetried(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t))
	say, tries := make(chan string), make(chan int, 100)
	c := p.addConnector(t, newStreamServer(t, func(w http.ResponseWriter, r *http.Request, call mcptest.Call) {
		tries <- call.N
		if call.N <= 2 {
			// closes the connection without a response
			panic(http.ErrAbortHandler)
		}
		sendMessages(say)(w, r, call)
	}).URL)
	p.waitState(t, c, connectors.ListenListening, "")
	say <- "notifications/tools/list_changed"
	p.runQueued(t, c)
}

func TestStream_ServerWithoutStreamIsOffForADay(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t), func(o *listchanges.Options) { o.MaxStreams = 10 })
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1), Capabilities: capable}) // 405
	c := p.addConnector(t, up.URL)
	p.waitState(t, c, connectors.ListenStateOff, connectors.ListenNoStream)
}

func TestStream_HungServerAffectsNoOther(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t))
	asked := make(chan struct{}, 1)
	hanging := p.addConnector(t, newStreamServer(t, func(_ http.ResponseWriter, r *http.Request, _ mcptest.Call) {
		asked <- struct{}{}
		<-r.Context().Done()
	}).URL)
	<-asked
	p.waitState(t, p.addConnector(t, newTalkingServer(t, nil).URL), connectors.ListenListening, "")
	must(t, p.Door().Connectors().Delete(t.Context(), hanging.ID))
	p.waitState(t, hanging, "", "")
}

func TestStream_ReopensWithTheNextCredential(t *testing.T) {
	t.Parallel()
	p := start(t, fixture.New(t))
	say, tokens := make(chan string), make(chan string, 100)
	up := newStreamServer(t, func(w http.ResponseWriter, r *http.Request, call mcptest.Call) {
		token := r.Header.Get("Authorization")
		if token == "" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		tokens <- token
		sendMessages(say)(w, r, call)
		tokens <- "end of " + token
	})
	c := p.Connector(t, func(d *connectors.Draft) { d.URL, d.Auth.Type = up.URL, connectors.AuthBearer })
	p.storeToken(t, c, "one")
	p.sync(t, c)
	p.waitState(t, c, connectors.ListenListening, "")
	p.storeToken(t, c, "two")
	for _, want := range []string{"Bearer one", "end of Bearer one", "Bearer two"} {
		if got := <-tokens; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	p.waitState(t, c, connectors.ListenListening, "")
	must(t, p.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""))
	if got := <-tokens; got != "end of Bearer two" {
		t.Errorf("%q", got)
	}
	p.waitState(t, c, connectors.ListenStateOff, connectors.ListenUnauthorized)
	p.storeToken(t, c, "three")
	p.waitState(t, c, connectors.ListenListening, "")
	if got := <-tokens; got != "Bearer three" {
		t.Errorf("%q", got)
	}
}
