package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
)

// soakKinds are the kinds of ordinary calls, in equal shares.
var soakKinds = []callKind{
	{name: "1 KB JSON", size: 1 << 10}, {name: "1 KB SSE", size: 1 << 10, sse: true}, {name: "10 KB JSON", size: 10 << 10},
	{name: "10 KB SSE", size: 10 << 10, sse: true}, {name: "100 KB JSON", size: 100_000}, {name: "100 KB SSE", size: 100_000, sse: true},
	{name: "10 KB of arguments", size: 1 << 10, noteBytes: 10 << 10}, {name: "100 KB of arguments", size: 1 << 10, noteBytes: 100_000},
}

// soakCall is one call, determined by its number.
type soakCall struct {
	callKind
	n       int64
	do      string
	agent   *soakAgent
	server  string
	path    string
	tool    string // tool name at path
	modern  bool   // protocol era of the client
	account string // that the server must see
}

func (s *soakRun) newCall(n int64) soakCall {
	dice := rand.New(rand.NewPCG(uint64(n), 0)) //nolint:gosec // the same call each time
	c := soakCall{callKind: soakKinds[dice.IntN(len(soakKinds))], n: n, agent: s.agents[dice.IntN(len(s.agents))], server: soakServers[dice.IntN(len(soakServers))]}
	c.modern = dice.IntN(2) == 0
	switch dice.IntN(300) {
	case 0:
		c.do = doCut
	case 1:
		c.do, c.sse = doWait, true
	case 2:
		c.do = doForget
	case 3, 4, 5, 6, 7, 8:
		c.do, c.sse = doProgress, true
	}
	c.tool = []string{writeTool, readTool}[dice.IntN(2)]
	c.path = "/mcp/" + c.server
	if dice.IntN(2) == 0 {
		c.path, c.tool = mcpPath, "mcp_"+c.server+"__"+c.tool
	}
	if c.account = c.agent.slug; c.server == "shared" {
		c.account = c.server
	}
	return c
}

// soakWorker makes calls one after the other and reuses its buffers.
type soakWorker struct {
	body, reply bytes.Buffer
	lines       *bufio.Reader
}

func (w *soakWorker) makeCall(ctx context.Context, s *soakRun, n int64) error {
	c := s.newCall(n)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.writeRequest(c)
	var modern []string
	if c.modern {
		modern = []string{"tools/call", c.tool}
	}
	r, err := c.agent.newRequest(ctx, c.path, w.body.Bytes(), modern)
	if err != nil {
		return err
	}
	response, err := s.load.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if c.do == doWait {
		return w.cancelCall(ctx, cancel, c, response)
	}
	w.reply.Reset()
	if _, err := io.Copy(&w.reply, response.Body); err != nil {
		return fmt.Errorf("the reply broke off: %w", err)
	}
	return w.checkReply(s, c, response.StatusCode)
}

func (w *soakWorker) writeRequest(c soakCall) {
	w.body.Reset()
	fmt.Fprintf(&w.body, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"n":%d,"size":%d,"sse":%t,"do":"%s"`,
		c.n, c.tool, c.n, c.size, c.sse, c.do)
	if c.noteBytes > 0 {
		fmt.Fprintf(&w.body, `,"note":"%s"`, bytes.Repeat([]byte("x"), c.noteBytes))
	}
	w.body.WriteString(`},"_meta":{`)
	if c.modern {
		w.body.WriteString(modernMeta[len(`"_meta":{`):len(modernMeta)-1] + ",")
	}
	fmt.Fprintf(&w.body, `"progressToken":"p%d"}}}`, c.n)
}

// cancelCall cancels a call after its first progress: by disconnecting, or in a legacy session by
// notifications/cancelled.
func (w *soakWorker) cancelCall(ctx context.Context, abort func(), c soakCall, response *http.Response) error {
	if w.lines == nil {
		w.lines = bufio.NewReader(nil)
	}
	w.lines.Reset(response.Body)
	want := []byte(`"progressToken":"p` + strconv.FormatInt(c.n, 10) + `"`)
	for {
		line, err := w.lines.ReadBytes('\n')
		if bytes.Contains(line, want) {
			break
		}
		if hasID(line, c.n) && isErrorReply(line) {
			c.agent.outcomes.recordOutcome(c, hasFailed)
			return nil
		}
		if err != nil {
			return fmt.Errorf("no progress of a call that waits: status %d, %.300s: %w", response.StatusCode, line, err)
		}
	}
	if c.modern {
		abort()
	} else if _, err := c.agent.sendMessage(ctx, c.path, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, c.n)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, w.lines)
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a cancelled call: %w", err)
	}
	c.agent.outcomes.recordOutcome(c, wasCancelled)
	return nil
}

// checkReply checks the id, the result, the account and the progress token.
func (w *soakWorker) checkReply(s *soakRun, c soakCall, status int) error {
	got := w.reply.Bytes()
	fail := func(reason string) error {
		return fmt.Errorf("%s (%s, %q, modern: %t): status %d, %d bytes: %.300s", reason, c.path, c.do, c.modern, status, len(got), got)
	}
	if !hasID(got, c.n) {
		return fail("another id")
	}
	if isErrorReply(got) {
		s.outcomes.recordOutcome(c, hasFailed) // compareOutcomes checks whether that was allowed
		return nil
	}
	whole := append(append([]byte(`"text":"`), resultText(c.n, c.size, false)...), `"}]`...)
	token := []byte(`"progressToken":`)
	switch {
	case status != http.StatusOK || c.do == doCut && !strings.HasSuffix(c.tool, readTool):
		return fail("an answer that cannot be")
	case !bytes.Contains(got, whole):
		return fail("another result")
	case !bytes.Contains(got, []byte(`"account":"`+c.account+`"`)):
		return fail("another account")
	case bytes.Count(got, token) != bytes.Count(got, fmt.Appendf(nil, `"progressToken":"p%d"`, c.n)):
		return fail("another call's progress")
	case c.do == doProgress && !bytes.Contains(got, token):
		return fail("no progress")
	}
	s.outcomes.recordOutcome(c, hasAnswer)
	return nil
}

// hasID reports whether a reply has the call's id.
func hasID(reply []byte, n int64) bool {
	id := strconv.AppendInt([]byte(`"id":`), n, 10)
	return bytes.Contains(reply, append(id, ',')) || bytes.Contains(reply, append(id, '}'))
}

// isErrorReply reports whether a reply is a tool error or a JSON-RPC error.
func isErrorReply(reply []byte) bool {
	return bytes.Contains(reply, []byte(`"isError":true`)) || bytes.Contains(reply, []byte(`"error":{`))
}
