package toolcall_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
)

// reportProgress is a server that sends these progress notifications during a call.
func reportProgress(notifications <-chan string) func(http.ResponseWriter, *http.Request, message) bool {
	return func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		var params struct {
			Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
		}
		_ = json.Unmarshal(m.Params, &params)
		w.Header().Set("Content-Type", "text/event-stream")
		for notification := range notifications {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,%s}}\n\n", params.Meta.ProgressToken, notification)
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
		return true
	}
}

// progressCall is a call with progress that the test controls.
type progressCall struct {
	id     connectors.ToolCallID
	send   func(words ...string) // returns when they are received
	finish func()
	ended  <-chan error
}

func (b *bench) startProgressCall(t *testing.T, changes ...func(*toolcall.CallRequest)) progressCall {
	t.Helper()
	notifications, received, ended := make(chan string), make(chan struct{}), make(chan error, 1)
	b.remote.set(reportProgress(notifications))
	c := b.connector(t, b.remote)
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	request.ID = toolcall.NewCallID()
	request.Progress = func(json.RawMessage) { received <- struct{}{} }
	for _, f := range changes {
		f(&request)
	}
	go func() {
		_, err := b.Call(t.Context(), request)
		ended <- err
	}()
	return progressCall{id: request.ID, ended: ended, finish: func() { close(notifications) }, send: func(params ...string) {
		for _, param := range params {
			select {
			case notifications <- param:
			case err := <-ended:
				t.Fatalf("the call ended before %s: %v", param, err)
			}
			receive(t, received)
		}
	}}
}

func TestProgress_IsRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	call := b.startProgressCall(t)
	for n := range 100 {
		call.send(fmt.Sprintf(`"progress":%d,"total":100,"message":"page %d"`, n, n))
	}
	if row := b.row(t, call.id); row.Progress != nil {
		t.Errorf("it is written as it comes: %+v", row.Progress)
	}
	b.SaveProgress()
	if diff := cmp.Diff(&connectors.CallProgress{Done: new(99.0), Total: 100, Message: "page 99"}, b.row(t, call.id).Progress); diff != "" {
		t.Error(diff)
	}
	call.send(`"progress":100`)
	call.finish()
	must(t, receive(t, call.ended))
	b.row(t, call.id) // after the end of the call is stored
	b.SaveProgress()
	if row := b.row(t, call.id); row.Status != connectors.CallSuccess || *row.Progress.Done != 99 || row.Task != nil {
		t.Errorf("something is written after the end: %+v", row)
	}
	if n := b.UnsavedProgress(); n != 0 {
		t.Errorf("%d notes of ended calls are kept", n)
	}
}

func TestProgress_WaitsForCallRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	slow := calllog.New(calllog.Options{Store: b.St, Instance: b.Instance, Interval: time.Hour})
	b.process = b.newProcess(t, b.Instance, func(o *toolcall.Options) { o.History = slow })
	t.Cleanup(func() { b.stop(); slow.Stop(t.Context()) })
	call := b.startProgressCall(t)
	call.send(`"progress":0.5,"total":1`)
	b.SaveProgress()
	slow.Flush(t.Context())
	if row := b.row(t, call.id); row.Progress != nil {
		t.Fatalf("the row was there already: %+v", row.Progress)
	}
	b.SaveProgress()
	if diff := cmp.Diff(&connectors.CallProgress{Done: new(0.5), Total: 1}, b.row(t, call.id).Progress); diff != "" {
		t.Error(diff)
	}
	call.finish()
	must(t, receive(t, call.ended))
}

func TestProgress_MessageFollowsHistorySetting(t *testing.T) {
	t.Parallel()
	for setting, want := range map[connectors.CallHistory]string{
		connectors.HistoryFull: "token=hunter2hunter2", connectors.HistoryRedacted: "token=[redacted]", connectors.HistoryNone: "",
	} {
		t.Run(string(setting), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			call := b.startProgressCall(t, func(request *toolcall.CallRequest) {
				view := *request.View
				view.Tenant.CallHistory = setting
				request.View = &view
			})
			call.send(`"progress":1,"message":"token=hunter2hunter2"`)
			b.row(t, call.id)
			b.SaveProgress()
			if diff := cmp.Diff(&connectors.CallProgress{Done: new(1.0), Message: want}, b.row(t, call.id).Progress); diff != "" {
				t.Error(diff)
			}
			call.send(`"progress":2,"message":"` + strings.Repeat("é", 10_000) + `"`)
			b.SaveProgress()
			if long := b.row(t, call.id).Progress; *long.Done != 2 || len(long.Message) > 610 {
				t.Errorf("%d bytes are kept", len(long.Message))
			}
			call.finish()
			must(t, receive(t, call.ended))
		})
	}
}

// TestProgress_OfTaskHasNumbers has a server send progress of a task that it runs, on the stream of a GET.
func TestProgress_OfTaskHasNumbers(t *testing.T) {
	t.Parallel()
	b := newTaskBench(t, "")
	b.server.WithStream()
	request := b.order(t, b.process, b.newTrustedAgent(t, b.c), b.c, "research", "")
	request.ID = toolcall.NewCallID()
	told := make(chan string, 100)
	request.Progress = func(params json.RawMessage) { told <- string(params) }
	answers := callAsync(t, b.process, request)
	id := receive(t, b.server.Began)
	wantProgress := func(want connectors.CallProgress) {
		t.Helper()
		end := time.After(patience)
		for {
			b.SaveProgress() // what the client is told is noted just after
			diff := cmp.Diff(&want, b.row(t, request.ID).Progress)
			if diff == "" {
				return
			}
			select {
			case <-end:
				t.Fatal(diff)
			case <-time.After(time.Millisecond):
			}
		}
	}
	next := func(words string) {
		t.Helper()
		for !strings.Contains(receive(t, told), words) {
			continue
		}
	}
	b.server.Say(id, "half")
	next(`"message":"half"`)
	wantProgress(connectors.CallProgress{Message: "half"})
	b.server.Report(id, `"progress":30,"total":120,"message":"copying"`)
	next(`{"progress":30,"total":120,"message":"copying"}`)
	b.SaveProgress()
	b.server.Say(id, "most")
	b.untilTask(t, request.ID, "most")
	wantProgress(connectors.CallProgress{Done: new(30.0), Total: 120, Message: "most"})
	b.server.Report(id, `"progress":90,"total":120`)
	next(`{"progress":90,"total":120}`)
	wantProgress(connectors.CallProgress{Done: new(90.0), Total: 120})
	if row := b.row(t, request.ID); !strings.Contains(string(row.Task), `"most"`) {
		t.Errorf("the task is %s", row.Task)
	}
	b.server.Complete(id, researchResult)
	must(t, (<-answers).err)
	select {
	case late := <-told:
		t.Errorf("after numbers, the client gets the count of states: %s", late)
	default:
	}
}

// untilTask waits until the stored task has this message.
func (b *taskBench) untilTask(t *testing.T, id connectors.ToolCallID, message string) {
	t.Helper()
	for range 1000 {
		b.SaveProgress()
		if strings.Contains(string(b.row(t, id).Task), message) {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("the task's message is not stored: %s", message)
}
