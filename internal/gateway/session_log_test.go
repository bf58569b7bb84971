package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

// logMessage is a log message of a server.
func logMessage(level, data string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,"logger":"db","data":%q}}`, level, data)
}

func (c *askingClient) setLevel(p *testProcess, level string) {
	c.t.Helper()
	c.send(p, `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"`+level+`"}}`)
}

// wantMessage checks that the next message is this log message.
func wantMessage(t *testing.T, messages <-chan serverMessage, logger, data string) {
	t.Helper()
	m := <-messages
	var got struct{ Logger, Data string }
	if err := json.Unmarshal(m.Params, &got); err != nil || m.Method != "notifications/message" || got.Logger != logger || got.Data != data {
		t.Errorf("received %s %s, want %q of %q", m.Method, m.Params, data, logger)
	}
}

func inOwnSession(d *connectors.Draft) { d.SessionPerAgent = true }

// TestSessionLog_ReachesStream: a server logs between the calls of a client, in a session of the agent's own.
func TestSessionLog_ReachesStream(t *testing.T) {
	t.Parallel()
	for path, expected := range map[string]struct{ tool, logger string }{"/mcp/one": {"greet", "db"}, "/mcp": {"mcp_one__greet", "one/db"}} {
		for _, isOther := range []bool{false, true} {
			t.Run(fmt.Sprint(path, " other process: ", isOther), func(t *testing.T) {
				t.Parallel()
				b := newTestEnv(t)
				listensAt := b.testProcess
				if isOther {
					listensAt = newTestProcess(t, b.World)
				}
				agent := b.newAutoAgent(t)
				server := newStreamAsker(t)
				b.Grant(t, agent.ID, b.newConnector(t, "one", server.url, inOwnSession).ID)
				c := newAskingClient(t, b.testProcess, path, bearerHeader(b.Token(t, agent.ID)), "{}")
				c.setLevel(b.testProcess, "info")
				messages := c.listen(listensAt)
				listensAt.listening(t, 1)
				c.callTool(b.testProcess, expected.tool)
				server.send(logMessage("debug", "not wanted"), logMessage("error", "first"))
				wantMessage(t, messages, expected.logger, "first")
				c.setLevel(b.testProcess, "critical")
				server.send(logMessage("error", "not wanted now"), logMessage("alert", "second"))
				wantMessage(t, messages, expected.logger, "second")
			})
		}
	}
}

// TestSessionLog_GoesOnOneStream: of two streams of a session, the newest.
func TestSessionLog_GoesOnOneStream(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	server := newStreamAsker(t)
	b.Grant(t, agent.ID, b.newConnector(t, "one", server.url, inOwnSession).ID)
	c := newAskingClient(t, b.testProcess, "/mcp/one", bearerHeader(b.Token(t, agent.ID)), answersQuestions)
	c.setLevel(b.testProcess, "info")
	older := c.listen(b.testProcess)
	b.listening(t, 1)
	newer := c.listen(b.testProcess)
	b.listening(t, 2)
	c.callTool(b.testProcess, "greet")
	server.send(logMessage("info", "said"))
	wantMessage(t, newer, "db", "said")
	select {
	case m := <-older:
		t.Errorf("the older stream has %s", m.Params)
	default:
	}
}

// TestSessionLog_OfSharedSession: it may be another agent's, so that neither the stream nor a running call gets it.
func TestSessionLog_OfSharedSession(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*connectors.Draft){
		"own": inOwnSession,
		"own credential": func(d *connectors.Draft) {
			perAgent(d)
			d.SessionPerAgent = false
		},
		"shared": func(d *connectors.Draft) { d.SessionPerAgent = false },
	} {
		isOwn := name != "shared"
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.newAutoAgent(t)
			server := newStreamAsker(t)
			connector := b.newConnector(t, "one", server.url, set)
			b.Grant(t, agent.ID, connector.ID)
			if connector.CredentialMode == connectors.CredentialPerAgent {
				b.account(t, connector, agent.ID, "secret")
			}
			c := newAskingClient(t, b.testProcess, "/mcp/one", bearerHeader(b.Token(t, agent.ID)), answersQuestions)
			c.setLevel(b.testProcess, "debug")
			messages := c.listen(b.testProcess)
			b.listening(t, 1)
			replies := make(chan answer)
			if reply := c.callTool(b.testProcess, "greet"); !strings.Contains(reply.body, `"content":[]`) {
				t.Fatalf("reply = %s", reply.body)
			}
			server.send(logMessage("error", "between calls"))
			if isOwn {
				wantMessage(t, messages, "db", "between calls")
			}
			go func() { replies <- c.callTool(b.testProcess, "ask") }()
			question := <-messages
			server.send(logMessage("error", "during a call"))
			c.accept(b.testProcess, question)
			reply := <-replies
			if got := strings.Contains(reply.body, "during a call"); got != isOwn || strings.Contains(reply.body, "between calls") {
				t.Errorf("reply = %s", reply.body)
			}
		})
	}
}

// TestSessionLog_NeedsGrant: what comes while the agent may not use the connector is dropped.
func TestSessionLog_NeedsGrant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	server := newStreamAsker(t)
	one := b.newConnector(t, "one", server.url, inOwnSession)
	b.Grant(t, agent.ID, one.ID)
	c := newAskingClient(t, b.testProcess, "/mcp", bearerHeader(b.Token(t, agent.ID)), "{}")
	c.setLevel(b.testProcess, "info")
	messages := c.listen(b.testProcess)
	b.listening(t, 1)
	c.callTool(b.testProcess, "mcp_one__greet")
	server.send(logMessage("info", "granted"))
	wantMessage(t, messages, "one/db", "granted")
	hasGrant := func(want bool) func() bool {
		return func() bool {
			view, err := b.access.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()))
			return err == nil && (view.Connector("one") != nil) == want
		}
	}
	if err := b.Door().Agents().DropGrant(t.Context(), agent.ID, one.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the grant is gone", hasGrant(false))
	server.send(logMessage("info", "not granted"))
	b.Grant(t, agent.ID, one.ID)
	eventually(t, "the grant is back", hasGrant(true))
	server.send(logMessage("info", "granted again"))
	for m := range messages {
		if m.Method == "notifications/message" {
			if !strings.Contains(string(m.Params), "granted again") {
				t.Errorf("received %s", m.Params)
			}
			return
		}
	}
}

// TestSessionLog_IsBounded: a server that floods loses messages, not the stream.
func TestSessionLog_IsBounded(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	server := newStreamAsker(t)
	b.Grant(t, agent.ID, b.newConnector(t, "one", server.url, inOwnSession).ID)
	c := newAskingClient(t, b.testProcess, "/mcp/one", bearerHeader(b.Token(t, agent.ID)), answersQuestions)
	c.setLevel(b.testProcess, "info")
	messages := c.listen(b.testProcess)
	b.listening(t, 1)
	c.callTool(b.testProcess, "greet")
	const sent = 3000
	flood := make([]string, sent)
	for i := range flood {
		flood[i] = logMessage("info", fmt.Sprint(i))
	}
	server.send(flood...)
	replies := make(chan answer)
	go func() { replies <- c.callTool(b.testProcess, "ask") }()
	received := 0
	for m := range messages {
		if m.ID != "" {
			c.accept(b.testProcess, m)
			break
		}
		received++
	}
	<-replies
	if received < 600 || received == sent {
		t.Errorf("%d of %d messages were received", received, sent)
	}
}
