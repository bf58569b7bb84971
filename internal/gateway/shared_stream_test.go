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

// streamAsker is a server of 2025-06-18 that sends its requests on the stream of the session's GET, also those that belong to
// a call of its tool "ask".
type streamAsker struct {
	url      string
	messages chan string   // for the stream
	pongs    chan struct{} // answers to pings
}

func newStreamAsker(t *testing.T) *streamAsker {
	t.Helper()
	messages, answers, pongs := make(chan string), make(chan string, 1), make(chan struct{})
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
				case message := <-messages:
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
			Params     struct{ Name string }
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		switch {
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "s1")
			reply(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"asker","version":"1"}}`)
		case m.Method == "tools/list":
			reply(w, m.ID, `{"tools":[{"name":"ask","inputSchema":{"type":"object"}},{"name":"greet","inputSchema":{"type":"object"}}]}`)
		case m.Method == "logging/setLevel":
			reply(w, m.ID, `{}`)
		case m.Method == "tools/call" && m.Params.Name == "greet":
			reply(w, m.ID, `{"content":[]}`)
		case m.Method == "tools/call":
			messages <- `{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Which name?","requestedSchema":{"type":"object","properties":{}}}}`
			reply(w, m.ID, `{"content":[{"type":"text","text":`+<-answers+`}]}`)
		case m.Result != nil && string(m.ID) == `"ping"`:
			pongs <- struct{}{}
			w.WriteHeader(http.StatusAccepted)
		case m.Result != nil: // the response to q1
			text, _ := json.Marshal(string(m.Result))
			answers <- string(text)
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	closeAtEnd(t, s)
	return &streamAsker{s.URL, messages, pongs}
}

// send sends messages on the stream, and waits until they were handled.
func (s *streamAsker) send(messages ...string) {
	for _, m := range append(messages, `{"jsonrpc":"2.0","id":"ping","method":"ping"}`) {
		s.messages <- m
	}
	<-s.pongs
}

const answersQuestions = `{"elicitation":{}}`

// askingClient is a session of an agent's client at one process, which answers questions.
type askingClient struct {
	t       *testing.T
	path    string
	token   string
	session string
}

func newAskingClient(t *testing.T, p *testProcess, path, token, capabilities string) *askingClient {
	t.Helper()
	c := &askingClient{t: t, path: path, token: token}
	c.session = c.send(p, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":`+capabilities+`,"clientInfo":{"name":"c","version":"1"}}}`).header.Get("Mcp-Session-Id")
	return c
}

func (c *askingClient) send(p *testProcess, message string) answer {
	c.t.Helper()
	return request(c.t, http.MethodPost, p.url+c.path, message, "Authorization", c.token, "Content-Type", "application/json",
		"Accept", "application/json, text/event-stream", "Mcp-Session-Id", c.session, "Mcp-Protocol-Version", "2025-06-18")
}

func (c *askingClient) callTool(p *testProcess, name string) answer {
	c.t.Helper()
	return c.send(p, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"`+name+`","arguments":{}}}`)
}

func (c *askingClient) listen(p *testProcess) <-chan serverMessage {
	c.t.Helper()
	return listenForMessages(c.t, p.url+c.path, c.token, c.session)
}

// accept answers a question at a process.
func (c *askingClient) accept(p *testProcess, question serverMessage) {
	c.t.Helper()
	if question.Method != "elicitation/create" || !strings.Contains(string(question.Params), "Which name?") {
		c.t.Errorf("asked %+v", question)
	}
	c.send(p, `{"jsonrpc":"2.0","id":"`+question.ID+`","result":{"action":"accept","content":{"name":"it"}}}`)
}

// TestSharedStreamRequest_ReachesBufferingClient imitates a client that reads the reply to a POST only when it is complete:
// requests of a server reach it on the stream of its GET, as they do without Patchbay. That may be at another process than
// the call, and so may the answer.
func TestSharedStreamRequest_ReachesBufferingClient(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	other := newTestProcess(t, b.World)
	agent := b.newAutoAgent(t)
	b.Grant(t, agent.ID, b.newConnector(t, "one", newStreamAsker(t).url).ID)
	for _, at := range []struct{ stream, answer *testProcess }{
		{b.testProcess, b.testProcess}, {other, b.testProcess}, {other, other},
	} {
		c := newAskingClient(t, b.testProcess, "/mcp/one", bearerHeader(b.Token(t, agent.ID)), answersQuestions)
		asked := c.listen(at.stream)
		replies := make(chan answer)
		go func() { replies <- c.callTool(b.testProcess, "ask") }()
		c.accept(at.answer, <-asked)
		if got := <-replies; !strings.Contains(got.body, `{\"action\":\"accept\"`) || strings.Contains(got.body, "Which name?") {
			t.Errorf("reply = %s", got.body)
		}
	}
}

// serverMessage is a request or, without an id, a notification of the server.
type serverMessage struct {
	ID, Method string
	Params     json.RawMessage
}

// listenForMessages opens the stream of a session's GET, and returns the messages that come on it.
func listenForMessages(t *testing.T, address, token, session string) <-chan serverMessage {
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
	messages := make(chan serverMessage, 10_000)
	go func() {
		defer close(messages)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var m serverMessage
			if ok && json.Unmarshal([]byte(data), &m) == nil && m.Method != "" {
				messages <- m
			}
		}
	}()
	return messages
}
