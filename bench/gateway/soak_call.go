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

// mix are the kinds of ordinary calls, in equal shares.
var mix = []task{
	{name: "1 KB JSON", size: 1 << 10}, {name: "1 KB SSE", size: 1 << 10, sse: true}, {name: "10 KB JSON", size: 10 << 10},
	{name: "10 KB SSE", size: 10 << 10, sse: true}, {name: "100 KB JSON", size: 100_000}, {name: "100 KB SSE", size: 100_000, sse: true},
	{name: "10 KB of arguments", size: 1 << 10, note: 10 << 10}, {name: "100 KB of arguments", size: 1 << 10, note: 100_000},
}

// soakCall is one call, all of which follows from its number.
type soakCall struct {
	task
	n       int64
	do      string
	agent   *soakAgent
	server  string
	path    string
	tool    string // as it is called at path
	modern  bool   // the client's era
	account string // as which the server must have seen it
}

func (s *soak) callOf(n int64) soakCall {
	dice := rand.New(rand.NewPCG(uint64(n), 0)) //nolint:gosec // the same call each time
	c := soakCall{task: mix[dice.IntN(len(mix))], n: n, agent: s.agents[dice.IntN(len(s.agents))], server: soakServers[dice.IntN(len(soakServers))]}
	c.modern = dice.IntN(2) == 0
	switch dice.IntN(300) {
	case 0:
		c.do = doCut
	case 1:
		c.do, c.sse = doWait, true
	case 2:
		c.do = doForget
	case 3, 4, 5, 6, 7, 8:
		c.do, c.sse = doTell, true
	}
	c.tool = []string{toolThatActs, toolThatReads}[dice.IntN(2)]
	c.path = "/mcp/" + c.server
	if dice.IntN(2) == 0 {
		c.path, c.tool = aggregated, "mcp_"+c.server+"__"+c.tool
	}
	if c.account = c.agent.slug; c.server == "shared" {
		c.account = c.server
	}
	return c
}

// soakWorker makes one call after the other, in memory that it uses again.
type soakWorker struct {
	body, reply bytes.Buffer
	lines       *bufio.Reader
}

func (w *soakWorker) call(ctx context.Context, s *soak, n int64) error {
	c := s.callOf(n)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.write(c)
	var modern []string
	if c.modern {
		modern = []string{"tools/call", c.tool}
	}
	r, err := c.agent.request(ctx, c.path, w.body.Bytes(), modern)
	if err != nil {
		return err
	}
	response, err := s.load.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if c.do == doWait {
		return w.cancelIt(ctx, cancel, c, response)
	}
	w.reply.Reset()
	if _, err := io.Copy(&w.reply, response.Body); err != nil {
		return fmt.Errorf("the reply broke off: %w", err)
	}
	return w.check(s, c, response.StatusCode)
}

func (w *soakWorker) write(c soakCall) {
	w.body.Reset()
	fmt.Fprintf(&w.body, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"n":%d,"size":%d,"sse":%t,"do":"%s"`,
		c.n, c.tool, c.n, c.size, c.sse, c.do)
	if c.note > 0 {
		fmt.Fprintf(&w.body, `,"note":"%s"`, bytes.Repeat([]byte("x"), c.note))
	}
	w.body.WriteString(`},"_meta":{`)
	if c.modern {
		w.body.WriteString(modernMeta[len(`"_meta":{`):len(modernMeta)-1] + ",")
	}
	fmt.Fprintf(&w.body, `"progressToken":"p%d"}}}`, c.n)
}

// cancelIt cancels a call once it has shown that it is under way: by leaving, or by saying so in the handshake era, where leaving is not
// the end.
func (w *soakWorker) cancelIt(ctx context.Context, leave func(), c soakCall, response *http.Response) error {
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
		if answers(line, c.n) && fails(line) {
			c.agent.fates.note(c, hasFailed)
			return nil
		}
		if err != nil {
			return fmt.Errorf("no progress of a call that waits: status %d, %.300s: %w", response.StatusCode, line, err)
		}
	}
	if c.modern {
		leave()
	} else if _, err := c.agent.said(ctx, c.path, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, c.n)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, w.lines)
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("a cancelled call: %w", err)
	}
	c.agent.fates.note(c, wasCancelled)
	return nil
}

// check holds the reply against the call: its own id, its own result, its own progress.
func (w *soakWorker) check(s *soak, c soakCall, status int) error {
	got := w.reply.Bytes()
	wrong := func(what string) error {
		return fmt.Errorf("%s (%s, %q, modern: %t): status %d, %d bytes: %.300s", what, c.path, c.do, c.modern, status, len(got), got)
	}
	if !answers(got, c.n) {
		return wrong("another id")
	}
	if fails(got) {
		s.fates.note(c, hasFailed) // whether it may have is for the end to say
		return nil
	}
	whole := append(append([]byte(`"text":"`), resultText(c.n, c.size, false)...), `"}]`...)
	token := []byte(`"progressToken":`)
	switch {
	case status != http.StatusOK || c.do == doCut && !strings.HasSuffix(c.tool, toolThatReads):
		return wrong("an answer that cannot be")
	case !bytes.Contains(got, whole):
		return wrong("another result")
	case !bytes.Contains(got, []byte(`"account":"`+c.account+`"`)):
		return wrong("another account")
	case bytes.Count(got, token) != bytes.Count(got, fmt.Appendf(nil, `"progressToken":"p%d"`, c.n)):
		return wrong("another call's progress")
	case c.do == doTell && !bytes.Contains(got, token):
		return wrong("no progress")
	}
	s.fates.note(c, hasAnswer)
	return nil
}

// answers tells whether a reply is that of the call.
func answers(reply []byte, n int64) bool {
	id := strconv.AppendInt([]byte(`"id":`), n, 10)
	return bytes.Contains(reply, append(id, ',')) || bytes.Contains(reply, append(id, '}'))
}

// fails tells whether a reply is an error of the tool, or of JSON-RPC.
func fails(reply []byte) bool {
	return bytes.Contains(reply, []byte(`"isError":true`)) || bytes.Contains(reply, []byte(`"error":{`))
}
