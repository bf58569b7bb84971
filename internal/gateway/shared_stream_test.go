package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/testing/testclient"
)

// newStreamAsker is a server of 2025-06-18 that sends its requests on the stream of the session's GET, also those that
// belong to a call.
func newStreamAsker(t *testing.T) string {
	t.Helper()
	toClient, answers := make(chan string, 1), make(chan string, 1)
	reply := func(w http.ResponseWriter, id json.RawMessage, result string) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", id, result)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			for {
				select {
				case message := <-toClient:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", message)
					_ = http.NewResponseController(w).Flush()
				case <-r.Context().Done():
					return
				}
			}
		}
		var m struct {
			ID, Result json.RawMessage
			Method     string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		switch {
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			reply(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"asker","version":"1"}}`)
		case m.Method == "tools/list":
			reply(w, m.ID, `{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}`)
		case m.Method == "tools/call":
			toClient <- `{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Which name?","requestedSchema":{"type":"object","properties":{}}}}`
			reply(w, m.ID, `{"content":[{"type":"text","text":`+<-answers+`}]}`)
		case m.Result != nil: // the response to q1
			text, _ := json.Marshal(string(m.Result))
			answers <- string(text)
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	closeAtEnd(t, s)
	return s.URL
}

// TestSharedStreamRequest_ReachesBufferingClient imitates a client that reads the reply to a POST only when it is complete:
// requests of a server reach it on the stream of its GET, as they do without Patchbay.
func TestSharedStreamRequest_ReachesBufferingClient(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	b.Grant(t, agent.ID, b.newConnector(t, "one", newStreamAsker(t)).ID)
	address, token := b.url+"/mcp/one", bearerHeader(b.Token(t, agent.ID))
	send := func(session, message string) answer {
		return request(t, http.MethodPost, address, message, "Authorization", token, "Content-Type", "application/json",
			"Accept", "application/json, text/event-stream", "Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-06-18")
	}
	session := send("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`).header.Get("Mcp-Session-Id")
	asked := listenForRequest(t, address, token, session)
	replies := make(chan answer)
	go func() {
		replies <- send(session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{}}}`)
	}()
	question := <-asked
	if question.Method != "elicitation/create" || !strings.Contains(string(question.Params), "Which name?") {
		t.Errorf("asked %+v", question)
	}
	send(session, `{"jsonrpc":"2.0","id":"`+question.ID+`","result":{"action":"accept","content":{"name":"it"}}}`)
	if got := <-replies; !strings.Contains(got.body, `{\"action\":\"accept\"`) {
		t.Errorf("reply = %s", got.body)
	}
}

type serverRequest struct {
	ID, Method string
	Params     json.RawMessage
}

// listenForRequest opens the stream of a session's GET, and returns the requests that come on it.
func listenForRequest(t *testing.T, address, token, session string) <-chan serverRequest {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {token}, "Accept": {"text/event-stream"}, "Mcp-Session-Id": {session}}
	resp, err := testclient.New(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("GET: %d %s", resp.StatusCode, body)
	}
	requests := make(chan serverRequest, 1)
	go func() {
		defer close(requests)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var m serverRequest
			if ok && json.Unmarshal([]byte(data), &m) == nil && m.ID != "" {
				requests <- m
			}
		}
	}()
	return requests
}
