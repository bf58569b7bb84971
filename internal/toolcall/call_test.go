package toolcall_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/egressproxy"
	"patchbay/internal/toolcall"
)

func TestCall_ResultIsVerbatimAndRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	out, err := b.call(t, a, c, `{"q":"x"}`)
	must(t, err)
	const raw = `{"content":[{"type":"text","text":"search"}], "extra" : 12345678901234567890}`
	if string(out.Raw) != raw || out.IsError {
		t.Errorf("raw = %s", out.Raw)
	}
	row := b.row(t, out.CallID)
	if row.Status != connectors.CallSuccess || row.Outcome != connectors.OutcomeOK || string(row.Arguments) != `{"q":"x"}` ||
		string(row.Content) != `[{"type":"text","text":"search"}]` || row.AgentSlug != a.Slug || row.ConnectorSlug != c.Slug || row.Tool != "search" ||
		row.ExposedName == "search" || row.CompletedAt == nil || row.Definition == nil || row.ResponseBytes != int64(len(raw)) || row.RequestBytes != 9 {
		t.Errorf("row = %+v", row)
	}
}

func TestCall_UsesAgentCredential(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, perAgent)
	one, two, missing := b.newTrustedAgent(t, c), b.newTrustedAgent(t, c), b.newTrustedAgent(t, c)
	b.saveCredential(t, c, &one.ID, connectors.Secret{Token: "of-one"})
	b.saveCredential(t, c, &two.ID, connectors.Secret{Token: "of-two"})
	for _, a := range []connectors.Agent{one, two, one} {
		out, err := b.call(t, a, c, "")
		must(t, err)
		if row := b.row(t, out.CallID); row.CredentialID == nil {
			t.Error("no credential on record")
		}
	}
	_, err := b.call(t, missing, c, "")
	r := asRefusal(t, err, toolcall.CodeCredentialRequired)
	if row := b.row(t, r.CallID); row.Outcome != connectors.OutcomeRefused || row.ErrorCode != "credential_required" {
		t.Errorf("row = %+v", row)
	}
	b.remote.mu.Lock()
	defer b.remote.mu.Unlock()
	if fmt.Sprint(b.remote.bearers) != "map[Bearer of-one:2 Bearer of-two:1]" {
		t.Errorf("the server saw %v", b.remote.bearers)
	}
}

func TestCall_WarmPathIsOneRequestNoStatement(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, perAgent)
	a := b.newTrustedAgent(t, c)
	b.saveCredential(t, c, &a.ID, connectors.Secret{Token: "x"})
	_, err := b.call(t, a, c, "")
	must(t, err)
	b.history.Flush(t.Context())
	request := b.order(t, b.process, a, c, "search", "")
	b.history.Stop(t.Context()) // its writes are not the call's
	const n = 20
	statements, requests := int64(n), 0
	for round := 0; round < 5 && (statements > 0 || requests != n); round++ { // a late notification reloads the credential and the session
		_, before := b.remote.requestCounts()
		queries := b.Queries()
		for range n {
			_, err := b.Call(t.Context(), request)
			must(t, err)
		}
		_, after := b.remote.requestCounts()
		statements, requests = b.Queries()-queries, after-before
	}
	if statements > 0 || requests != n {
		t.Errorf("%d statements and %d requests for %d calls", statements, requests, n)
	}
}

func TestCall_UnavailableToolIsNotSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.Agent(t, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto })
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, Tools: []string{"read"}}))
	_, err := b.call(t, a, c, "")
	wantRefused(t, err, toolcall.CodeNotGranted)

	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true}))
	_, err = b.Call(t.Context(), b.order(t, b.newProcess(t, b.newInstance(t)), a, c, "search", `{"q":1}`))
	bad, ok := errors.AsType[*toolcall.InvalidArgumentsError](err)
	if !ok || !strings.Contains(bad.Sentence, "q") {
		t.Errorf("err = %v", err)
	}
	b.remote.wantCalls(t, 0)
}

func TestExplain_DistinguishesFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer  func(w http.ResponseWriter, r *http.Request, m message) bool
		outcome connectors.CallOutcome
		code    toolcall.Code // empty: no refusal
		said    string        // what the history keeps of the server's text
	}{
		"the tool": {func(w http.ResponseWriter, _ *http.Request, m message) bool {
			reply(w, m, `{"content":[],"isError":true}`)
			return true
		}, connectors.OutcomeToolError, "", ""},
		"the request": {func(w http.ResponseWriter, _ *http.Request, m message) bool {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32050,"message":"its own words","data":{"x":1}}}`, m.ID)
			return true
		}, connectors.OutcomeRPCError, "", "its own words\n{\"x\":1}"},
		"the server": {func(w http.ResponseWriter, _ *http.Request, _ message) bool {
			http.Error(w, "secret words", http.StatusBadGateway)
			return true
		}, connectors.OutcomeTransport, toolcall.CodeUpstream, "secret words"},
		"no answer": {hangRequest, connectors.OutcomeTransport, toolcall.CodeTimeout, ""},
		"no MCP":    {func(w http.ResponseWriter, _ *http.Request, _ message) bool { fmt.Fprint(w, "<html>"); return true }, connectors.OutcomeTransport, toolcall.CodeUpstream, "<html>"},
		"no entrance": {func(w http.ResponseWriter, _ *http.Request, _ message) bool {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return true
		}, connectors.OutcomeRefused, toolcall.CodeCredentialRequired, "who are you?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c := b.connector(t, b.remote, func(d *connectors.Draft) {
				if tc.code == toolcall.CodeTimeout {
					d.Timeout = 3 * time.Second
				}
			})
			a := b.newTrustedAgent(t, c)
			b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
				return m.Method == "tools/call" && tc.answer(w, r, m)
			})
			out, err := b.call(t, a, c, "")
			if tc.code != "" {
				r := asRefusal(t, err, tc.code)
				if strings.Contains(r.Sentence, "secret") {
					t.Errorf("it says %q", r.Sentence)
				}
			}
			row := b.row(t, out.CallID)
			if row.Outcome != tc.outcome || row.Status != connectors.CallError || strings.Contains(row.ErrorMessage, "words") {
				t.Errorf("row = %+v", row)
			}
			if said := saidOf(row); said != tc.said || strings.Contains(fmt.Sprint(row), tc.said) && tc.said != "" {
				t.Errorf("the server said %q, want %q", said, tc.said)
			}
			if failure, ok := errors.AsType[*mcp.Error](err); tc.outcome == connectors.OutcomeRPCError && (!ok || failure.RPC.Message != "its own words") {
				t.Errorf("err = %v", err)
			}
			b.remote.wantCalls(t, 1)
		})
	}
}

// saidOf is what the history keeps of a server's words; empty: nothing.
func saidOf(c connectors.ToolCall) string {
	if c.Upstream == nil {
		return ""
	}
	return c.Upstream.Said
}

// The server repeats the credential of the request and another agent's, in the body of a status and in a JSON-RPC error.
func TestCall_SaidHasNoCredential(t *testing.T) {
	t.Parallel()
	const sent, other = "sekret-of-this-call", "sekret-of-another agent"
	b := newBench(t)
	c := b.connector(t, b.remote, func(d *connectors.Draft) {
		d.Auth.Type, d.CredentialMode = connectors.AuthBearer, connectors.CredentialPerAgent
	})
	a := b.newTrustedAgent(t, c)
	for owner, token := range map[connectors.AgentID]secret.Text{a.ID: sent, b.Agent(t).ID: other} {
		sealed, err := connectors.Secret{Token: token}.Encode()
		must(t, err)
		b.Credential(t, c.ID, &owner, sealed)
	}
	for name, history := range map[string]connectors.CallHistory{"redacted": connectors.HistoryRedacted, "full": connectors.HistoryFull, "none": connectors.HistoryNone} {
		must(t, b.Door().SetCallSettings(t.Context(), history, connectors.ReadersEveryone, time.Second))
		for _, asRPC := range []bool{false, true} {
			b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
				if m.Method != "tools/call" {
					return false
				}
				text := fmt.Sprintf("refused: %s, %s, %x", r.Header.Get("Authorization"), base64.StdEncoding.EncodeToString([]byte(other)), sent)
				if asRPC {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32050,"message":%q,"data":{"of":%q}}}`, m.ID, text, other)
					return true
				}
				http.Error(w, text, http.StatusBadGateway)
				return true
			})
			out, err := b.Call(t.Context(), b.order(t, b.newProcess(t, b.newInstance(t)), a, c, "search", ""))
			if err == nil {
				t.Fatal("the call succeeded")
			}
			want := "refused: Bearer [redacted], [redacted], [redacted]"
			if asRPC {
				want += "\n" + `{"of":"[redacted]"}`
			}
			if history == connectors.HistoryNone {
				want = ""
			}
			row := b.row(t, out.CallID)
			if said := saidOf(row); said != want || row.Upstream == nil || row.Upstream.Status == 0 {
				t.Errorf("%s: %q, %+v", name, said, row.Upstream)
			}
		}
	}
}

func TestExplain_HandshakeErrorIsNotTheCallsError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.remote.refuseGreetings(-32601)
	out, err := b.call(t, a, c, "")
	asRefusal(t, err, toolcall.CodeUpstream)
	if failure, ok := errors.AsType[*toolcall.RefusalError](err); !ok || !strings.Contains(failure.Sentence, "-32601") {
		t.Errorf("err = %v", err)
	}
	if row := b.row(t, out.CallID); row.Outcome != connectors.OutcomeTransport {
		t.Errorf("row = %+v", row)
	}
	b.remote.wantCalls(t, 0)
}

func TestCall_HungServerDoesNotSlowOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other := newRemote(t)
	hanging, healthy := b.connector(t, b.remote), b.connector(t, other)
	a := b.newTrustedAgent(t, hanging)
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: healthy.ID, AllTools: true}))
	b.remote.set(hangRequest)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 20)
	request := b.order(t, b.process, a, hanging, "search", "")
	for range cap(done) {
		go func() {
			_, err := b.Call(ctx, request)
			done <- err
		}()
	}
	receive(t, b.remote.arrived)
	for range 20 {
		_, err := b.call(t, a, healthy, "")
		must(t, err)
	}
	cancel()
	for range cap(done) {
		wantRefused(t, receive(t, done), toolcall.CodeCancelled)
	}
}

func TestCancel_ReachesServer(t *testing.T) {
	t.Parallel()
	for name, cancels := range map[string]func(b *bench, other *process, id connectors.ToolCallID, cancel context.CancelFunc) error{
		"the client": func(_ *bench, _ *process, _ connectors.ToolCallID, cancel context.CancelFunc) error {
			cancel()
			return nil
		},
		"a person": func(b *bench, _ *process, id connectors.ToolCallID, _ context.CancelFunc) error {
			call, err := b.Cancel(context.Background(), b.actor(connectors.RoleMember), id)
			if err == nil && call.Status != connectors.CallCancelled {
				return fmt.Errorf("cancelled, and it is %s", call.Status)
			}
			return err
		},
		"a person at another process": func(b *bench, other *process, id connectors.ToolCallID, _ context.CancelFunc) error {
			_, err := other.Cancel(context.Background(), b.actor(connectors.RoleMember), id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			other := b.newProcess(t, b.newInstance(t))
			c := b.connector(t, b.remote)
			a := b.newTrustedAgent(t, c)
			b.remote.set(hangRequest)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			results := make(chan error, 1)
			request := b.order(t, b.process, a, c, "search", "")
			request.ID = toolcall.NewCallID()
			go func() {
				_, err := b.Call(ctx, request)
				results <- err
			}()
			receive(t, b.remote.arrived)
			b.history.Flush(t.Context())
			must(t, cancels(b, other, request.ID, cancel))
			wantRefused(t, receive(t, results), toolcall.CodeCancelled)
			receive(t, b.remote.cancelled)
			if row := b.row(t, request.ID); row.Status != connectors.CallCancelled || row.Outcome != connectors.OutcomeCancelled {
				t.Errorf("row = %+v", row)
			}
			if _, err := b.Cancel(t.Context(), b.actor(connectors.RoleMember), request.ID); err == nil {
				t.Error("cancelled twice")
			}
		})
	}
}

func TestLimit_RefusesTooManyCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	slow, c := b.connector(t, b.remote, func(d *connectors.Draft) { d.CallsPerMinute = 2 }), b.connector(t, b.remote)
	limited := b.newTrustedAgent(t, c, func(a *connectors.Agent) { a.CallsPerMinute = 3 })
	free := b.newTrustedAgent(t, slow)
	for what, tc := range map[string]struct {
		agent connectors.Agent
		to    connectors.Connector
		may   int
	}{"the agent's": {limited, c, 3}, "the connector's": {free, slow, 2}} {
		for range tc.may {
			_, err := b.call(t, tc.agent, tc.to, "")
			must(t, err)
		}
		_, err := b.call(t, tc.agent, tc.to, "")
		if r := asRefusal(t, err, toolcall.CodeRateLimited); r.RetryAfter < time.Second || r.RetryAfter > time.Minute {
			t.Errorf("%s: again after %s", what, r.RetryAfter)
		}
		b.clock.advance(30 * time.Second)
		_, err = b.call(t, tc.agent, tc.to, "")
		must(t, err)
	}
}

func TestBreaker_OpensAfterRepeatedFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	broken := func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method == "tools/call" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return m.Method == "tools/call"
	}
	b.remote.set(broken)
	for range 5 {
		_, err := b.call(t, a, c, "")
		wantRefused(t, err, toolcall.CodeUpstream)
	}
	_, err := b.call(t, a, c, "")
	if r := asRefusal(t, err, toolcall.CodeCircuitOpen); r.RetryAfter <= 0 {
		t.Error("it does not say when to try again")
	}
	b.remote.wantCalls(t, 5)
	if circuit := b.Circuit(b.Tenant, c.ID); circuit.State != toolcall.CircuitOpen || circuit.Failures != 5 {
		t.Errorf("circuit = %+v", circuit)
	}
	b.clock.advance(11 * time.Second)
	if circuit := b.Circuit(b.Tenant, c.ID); circuit.State != toolcall.CircuitHalfOpen {
		t.Errorf("circuit = %+v", circuit)
	}
	_, err = b.call(t, a, c, "") // the probe
	wantRefused(t, err, toolcall.CodeUpstream)
	_, err = b.call(t, a, c, "")
	wantRefused(t, err, toolcall.CodeCircuitOpen)
	b.clock.advance(time.Minute)
	b.remote.set(nil)
	_, err = b.call(t, a, c, "")
	must(t, err)
	if circuit := b.Circuit(b.Tenant, c.ID); circuit.State != toolcall.CircuitClosed {
		t.Errorf("circuit = %+v", circuit)
	}
}

func TestBreaker_ToolErrorsDoNotCount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	b.remote.set(func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method == "tools/call" {
			reply(w, m, `{"content":[],"isError":true}`)
		}
		return m.Method == "tools/call"
	})
	for range 10 {
		out, err := b.call(t, a, c, "")
		must(t, err)
		if !out.IsError {
			t.Error("it is no error")
		}
	}
}

func TestCall_RelaysProgressMessagesAndQuestions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	a := b.newTrustedAgent(t, c)
	answers := make(chan string, 1)
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch {
		case m.Method == "tools/call":
			var params struct {
				Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
			}
			_ = json.Unmarshal(m.Params, &params)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1,\"total\":2}}\n\n", params.Meta.ProgressToken)
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"m\"}}\n\n")
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\",\"params\":{\"message\":\"name?\"}}\n\n")
			w.(http.Flusher).Flush()
			lines := <-answers
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"said\":%s}}\n\n", m.ID, lines)
			return true
		case m.Method == "" && string(m.ID) == "7":
			answers <- `"it"`
			w.WriteHeader(http.StatusAccepted)
			return true
		}
		return false
	})
	request := b.order(t, b.process, a, c, "search", "")
	request.Meta = json.RawMessage(`{"progressToken":"the client's"}`)
	request.Capabilities = json.RawMessage(`{"elicitation":{}}`)
	var progress []string
	request.Progress = func(p json.RawMessage) { progress = append(progress, "progress "+string(p)) }
	request.Message = func(m string, p json.RawMessage) { progress = append(progress, m+" "+string(p)) }
	request.SendRequest = func(_ context.Context, r mcp.InputRequest) (json.RawMessage, error) {
		progress = append(progress, r.Method+" "+string(r.Params))
		return json.RawMessage(`{"action":"accept"}`), nil
	}
	out, err := b.Call(t.Context(), request)
	must(t, err)
	want := `[progress {"progress":1,"total":2} notifications/message {"level":"info","data":"m"} elicitation/create {"message":"name?"}]`
	if fmt.Sprint(progress) != want || string(out.Raw) != `{"content":[],"said":"it"}` {
		t.Errorf("told %v, raw %s", progress, out.Raw)
	}
}

func TestRequest_SamePolicyAsCall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, perAgent)
	a := b.newTrustedAgent(t, c)
	b.saveCredential(t, c, &a.ID, connectors.Secret{Token: "x"})
	b.remote.set(func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method == "prompts/get" {
			reply(w, m, `{"messages":[],"as":"`+r.Header.Get("Authorization")+`"}`)
		}
		return m.Method == "prompts/get"
	})
	request := b.order(t, b.process, a, c, "search", "")
	raw, err := b.SendRequest(t.Context(), toolcall.UpstreamRequest{
		View: request.View, Connector: request.Tool.Connector, Kind: connectors.CallPrompt, Name: "greet", ExposedName: "mcp_x__greet", Method: "prompts/get",
		Params: json.RawMessage(`{"name":"greet"}`), Source: connectors.SourceGateway,
	})
	must(t, err)
	if string(raw) != `{"messages":[],"as":"Bearer x"}` {
		t.Errorf("raw = %s", raw)
	}
	b.history.Flush(t.Context())
	list, err := b.Door().Calls().List(t.Context(), store.CallFilter{})
	must(t, err)
	if len(list.Items) != 1 || list.Items[0].Kind != connectors.CallPrompt || list.Items[0].ExposedName != "mcp_x__greet" {
		t.Errorf("history = %+v", list.Items)
	}
}

func TestExplain_ProxyFailure(t *testing.T) {
	t.Parallel()
	beyond := safehttp.New(safehttp.Options{Mode: safehttp.Public, Proxy: egressproxy.Refusing(t, http.StatusProxyAuthRequired)})
	b := newBench(t, func(o *toolcall.Options) { o.Dialer = &mcp.Dialer{HTTP: beyond.Client(), Version: "test"} })
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.URL = "https://8.8.8.8/mcp" })
	b.syncTools(t, c, `{"name":"echo","inputSchema":{"type":"object"}}`)
	_, err := b.call(t, b.newTrustedAgent(t, c), c, `{}`)
	refusal, ok := errors.AsType[*toolcall.RefusalError](err)
	if !ok || refusal.Code != toolcall.CodeUpstream || !strings.HasPrefix(refusal.Sentence, "The egress proxy refused Patchbay's credentials (407).") {
		t.Errorf("%v", err)
	}
}
