package toolcall_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/history"
	"patchbay/internal/toolcall"
)

// tells answers a call with what it is told to say of its progress, and ends it when there is nothing more.
func tells(words <-chan string) func(http.ResponseWriter, *http.Request, message) bool {
	return func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		var params struct {
			Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
		}
		_ = json.Unmarshal(m.Params, &params)
		w.Header().Set("Content-Type", "text/event-stream")
		for said := range words {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,%s}}\n\n", params.Meta.ProgressToken, said)
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
		return true
	}
}

// telling is a call whose server says how far it is, word by word.
type telling struct {
	id    connectors.ToolCallID
	say   func(words ...string) // returns when they were heard
	end   func()
	ended <-chan error
}

func (b *bench) telling(t *testing.T, change ...func(*toolcall.Order)) telling {
	t.Helper()
	words, heard, ended := make(chan string), make(chan struct{}), make(chan error, 1)
	b.remote.set(tells(words))
	c := b.connector(t, b.remote)
	order := b.order(t, b.process, b.trusted(t, c), c, "search", "")
	order.ID = toolcall.NewCallID()
	order.Progress = func(json.RawMessage) { heard <- struct{}{} }
	for _, f := range change {
		f(&order)
	}
	go func() {
		_, err := b.Call(t.Context(), order)
		ended <- err
	}()
	return telling{id: order.ID, ended: ended, end: func() { close(words) }, say: func(all ...string) {
		for _, said := range all {
			words <- said
			<-heard
		}
	}}
}

func TestHowFarACallIsGoesOnRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	call := b.telling(t)
	for n := range 100 {
		call.say(fmt.Sprintf(`"progress":%d,"total":100,"message":"page %d"`, n, n))
	}
	if row := b.row(t, call.id); row.Progress != nil {
		t.Errorf("it is written as it comes: %+v", row.Progress)
	}
	b.SaveProgress()
	if diff := cmp.Diff(&connectors.CallProgress{Done: new(99.0), Total: 100, Message: "page 99"}, b.row(t, call.id).Progress); diff != "" {
		t.Error(diff)
	}
	call.say(`"progress":100`)
	call.end()
	must(t, <-call.ended)
	b.row(t, call.id) // its end is written
	b.SaveProgress()
	if row := b.row(t, call.id); row.Status != connectors.CallSuccess || *row.Progress.Done != 99 || row.Task != nil {
		t.Errorf("something is written after the end: %+v", row)
	}
	if n := b.UnsavedProgress(); n != 0 {
		t.Errorf("%d notes of ended calls are kept", n)
	}
}

func TestHowFarACallIsWaitsForItsBeginning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	slow := history.New(history.Options{Store: b.St, Instance: b.Instance, Interval: time.Hour})
	b.process = b.newProcess(t, b.Instance, func(o *toolcall.Options) { o.History = slow })
	t.Cleanup(func() { b.stop(); slow.Stop(t.Context()) })
	call := b.telling(t)
	call.say(`"progress":0.5,"total":1`)
	b.SaveProgress()
	slow.Written(t.Context())
	if row := b.row(t, call.id); row.Progress != nil {
		t.Fatalf("the row was there already: %+v", row.Progress)
	}
	b.SaveProgress()
	if diff := cmp.Diff(&connectors.CallProgress{Done: new(0.5), Total: 1}, b.row(t, call.id).Progress); diff != "" {
		t.Error(diff)
	}
	call.end()
	must(t, <-call.ended)
}

func TestWhatAServerSaysOfProgressIsKeptAsContentsAre(t *testing.T) {
	t.Parallel()
	for how, want := range map[connectors.CallHistory]string{
		connectors.HistoryFull: "token=hunter2hunter2", connectors.HistoryRedacted: "token=[redacted]", connectors.HistoryNone: "",
	} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			call := b.telling(t, func(o *toolcall.Order) {
				view := *o.View
				view.Tenant.CallHistory = how
				o.View = &view
			})
			call.say(`"progress":1,"message":"token=hunter2hunter2"`)
			b.row(t, call.id)
			b.SaveProgress()
			if diff := cmp.Diff(&connectors.CallProgress{Done: new(1.0), Message: want}, b.row(t, call.id).Progress); diff != "" {
				t.Error(diff)
			}
			call.say(`"progress":2,"message":"` + strings.Repeat("é", 10_000) + `"`)
			b.SaveProgress()
			if long := b.row(t, call.id).Progress; *long.Done != 2 || len(long.Message) > 610 {
				t.Errorf("%d bytes are kept", len(long.Message))
			}
			call.end()
			must(t, <-call.ended)
		})
	}
}
