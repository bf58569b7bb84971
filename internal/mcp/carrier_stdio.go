package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/internal/safe"
)

const (
	maxBanner = 1 << 20 // bytes in a row that are no messages
	lastWords = 8 << 10 // of standard error, kept
	// exitPatience is how long a process whose output has ended may take to end itself, so that its exit code can be told. On a
	// busy machine the end of its output is heard of long before its end.
	exitPatience = 2 * time.Second
)

// stdioCarrier is a child process: one line each way is one message (MCP 2025-11-25, Transports). It is started by the first message.
type stdioCarrier struct {
	command Command
	board   switchboard
	known   atomic.Bool // a version was agreed: the process has a session for us

	door    chan struct{} // held by whoever starts the process or writes to it
	process *process      // guarded by door; nil: not started
	failed  *Error        // guarded by door: why it could not be
	readers sync.WaitGroup
	stderr  tail
}

func newStdioCarrier(command Command, to inbox) *stdioCarrier {
	return &stdioCarrier{command: command, board: switchboard{inbox: to}, door: make(chan struct{}, 1)}
}

// send writes a message, and waits for its reply where there is to be one.
func (c *stdioCarrier) send(ctx context.Context, m outgoing) (incoming, *Error) {
	if m.id == 0 {
		return incoming{}, c.write(ctx, m)
	}
	reply := c.board.expect(m.id)
	if err := c.write(ctx, m); err != nil {
		c.board.forget(m.id)
		return incoming{}, err
	}
	return c.board.await(ctx, m, reply)
}

// write brings one message to the process. Where that takes longer than ctx a half message may be on its way, and no other can
// follow: the process is given up.
func (c *stdioCarrier) write(ctx context.Context, m outgoing) *Error {
	select {
	case c.door <- struct{}{}:
	case <-ctx.Done():
		return explain(ctx, m.phase, ctx.Err())
	}
	defer func() { <-c.door }()
	if err := c.start(); err != nil {
		return err
	}
	n, err := c.process.write(ctx, append(m.body[:len(m.body):len(m.body)], '\n'))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && n == 0:
		return explain(ctx, m.phase, ctx.Err())
	}
	failure := c.over(c.process, "closed its standard input")
	failure.Phase = m.phase
	if ctx.Err() != nil {
		failure = explain(ctx, m.phase, ctx.Err())
	}
	c.board.fail(failure)
	c.process.kill()
	return failure
}

// start starts the process, once. The caller holds the door.
func (c *stdioCarrier) start() *Error {
	if c.process != nil || c.failed != nil {
		return c.failed
	}
	p, err := startProcess(c.command)
	if err != nil {
		c.failed = &Error{Phase: PhaseConnect, Reason: ReasonUnreachable, Detail: "cannot be started: " + startDetail(c.command, err), Err: plainCause(err)}
		return c.failed
	}
	c.process = p
	safe.GoIn(&c.readers, safe.Program, func() { c.read(p) })
	safe.GoIn(&c.readers, safe.Program, func() { _, _ = io.Copy(&c.stderr, p.stderr) })
	return nil
}

// read takes the lines of the process to their end. What is no message is a banner or a log line, and is passed over.
func (c *stdioCarrier) read(p *process) {
	defer p.kill()                                                  // there is nobody left to hear it
	defer func() { c.board.fail(readerPanicked(c.known.Load())) }() // where nothing else has ended the waits
	lines := bufio.NewReaderSize(p.stdout, 64<<10)
	banner := 0
	for {
		line, err := readLine(lines)
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if (text[0] == '{' || text[0] == '[') && c.board.take(text) == nil {
				banner = 0
			} else {
				banner += len(text)
			}
		}
		switch {
		case errors.Is(err, errTooLarge):
			c.board.fail(&Error{Phase: PhaseInitialize, Reason: ReasonTooLarge, Detail: errTooLarge.Error()})
		case err != nil:
			c.board.fail(c.over(p, "closed its standard output"))
		case banner > maxBanner:
			c.board.fail(&Error{Phase: PhaseInitialize, Reason: ReasonProtocol, Detail: "writes text that is not MCP to its standard output, and does not stop"})
		default:
			continue
		}
		return
	}
}

// readLine reads one line, of at most maxBody, in memory of its own. With an error it returns what came before that.
func readLine(from *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		if len(line)+len(part) > maxBody {
			return nil, errTooLarge
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// over is what became of a process that did something final, as its requests see it.
func (c *stdioCarrier) over(p *process, did string) *Error {
	failure := &Error{Phase: PhaseInitialize, Reason: ReasonProtocol, Detail: did}
	if state := p.wait(exitPatience); state != nil {
		failure.Detail = "ended before its reply, " + exit(state)
	}
	if c.known.Load() {
		failure.Err = errSessionLost // another process may do better
	}
	return failure
}

func exit(state *os.ProcessState) string {
	if code := state.ExitCode(); code >= 0 {
		return fmt.Sprintf("with exit code %d", code)
	}
	return "killed by a signal"
}

// agreed has nothing to tell a process: each message says which version it is.
func (c *stdioCarrier) agreed(string) { c.known.Store(true) }

// close asks the process to end by the end of its input, then by SIGTERM, and ends it by SIGKILL, with all that it has started.
func (c *stdioCarrier) close(ctx context.Context) {
	c.door <- struct{}{} // writers end with their contexts
	defer func() { <-c.door }()
	if c.process == nil {
		c.failed = &Error{Phase: PhaseConnect, Reason: ReasonUnreachable, Detail: "cannot be started: the conversation is over"}
		return
	}
	c.process.stop(ctx)
	c.readers.Wait()
	c.process.hangUp()
	if text := c.stderr.whole(); c.command.Diagnose != nil && len(text) > 0 {
		c.command.Diagnose(text)
	}
}

// tail keeps the last of what is written to it.
type tail struct {
	text []byte
	cut  bool // there was more before it
}

func (t *tail) Write(p []byte) (int, error) {
	t.cut = t.cut || len(t.text)+len(p) > lastWords
	t.text = append(t.text, p[max(0, len(p)-lastWords):]...)
	if over := len(t.text) - lastWords; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// whole are the lines that are kept from their beginnings: the rest of a secret would not be known for one.
func (t *tail) whole() []byte {
	if !t.cut {
		return t.text
	}
	_, lines, _ := bytes.Cut(t.text, []byte("\n"))
	return lines
}
