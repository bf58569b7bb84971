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
	maxNonMessageBytes = 1 << 20 // in a row without a message
	maxStderr          = 8 << 10 // of standard error that are kept
	// exitTimeout bounds the wait for the exit code after the end of output. On a busy machine the exit comes
	// much later.
	exitTimeout = 2 * time.Second
	// stderrTimeout bounds the wait for the end of standard error after the exit: another process may hold it open.
	stderrTimeout = 500 * time.Millisecond
)

// stdioTransport is a child process: each message is one line (MCP 2025-11-25, Transports). The first message
// starts it.
type stdioTransport struct {
	command    Command
	maxLine    int // bytes of a message
	pending    pendingReplies
	hasSession atomic.Bool // a version was negotiated

	writeLock  chan struct{} // held while the process is started or written to
	process    *childProcess // guarded by writeLock; nil: not started
	startError *Error        // guarded by writeLock
	readers    sync.WaitGroup
	stderr     tailBuffer
	stderrEnd  chan struct{} // closed at the end of standard error
}

func newStdioTransport(command Command, onMessage messageHandler, limits transportLimits) *stdioTransport {
	return &stdioTransport{command: command, maxLine: limits.maxBody, pending: pendingReplies{onMessage: onMessage}, writeLock: make(chan struct{}, 1), stderrEnd: make(chan struct{})}
}

func (c *stdioTransport) send(ctx context.Context, m outgoingMessage) (receivedReply, *Error) {
	if m.id == 0 {
		return receivedReply{}, c.writeMessage(ctx, m)
	}
	reply := c.pending.expectReply(m.id)
	if err := c.writeMessage(ctx, m); err != nil {
		c.pending.dropRequest(m.id)
		return receivedReply{}, err
	}
	return c.pending.awaitReply(ctx, m, reply)
}

// writeMessage writes one message. If ctx ends after a part of it was written, no other message can follow, and
// the process is killed.
func (c *stdioTransport) writeMessage(ctx context.Context, m outgoingMessage) *Error {
	select {
	case c.writeLock <- struct{}{}:
	case <-ctx.Done():
		return classifyError(ctx, m.phase, ctx.Err())
	}
	defer func() { <-c.writeLock }()
	if err := c.ensureStarted(); err != nil {
		return err
	}
	n, err := c.process.write(ctx, append(m.body[:len(m.body):len(m.body)], '\n'))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && n == 0:
		return classifyError(ctx, m.phase, ctx.Err())
	}
	failure := c.newExitError(c.process, "closed its standard input")
	failure.Phase = m.phase
	if ctx.Err() != nil {
		failure = classifyError(ctx, m.phase, ctx.Err())
	}
	c.pending.failAll(failure)
	c.process.kill()
	return failure
}

// ensureStarted starts the process once. writeLock is held.
func (c *stdioTransport) ensureStarted() *Error {
	if c.process != nil || c.startError != nil {
		return c.startError
	}
	p, err := startProcess(c.command)
	if err != nil {
		c.startError = &Error{Phase: PhaseConnect, Reason: ReasonUnreachable, Detail: "can't be started: " + describeStartError(c.command, err), Err: toErrno(err)}
		return c.startError
	}
	c.process = p
	safe.GoIn(&c.readers, safe.Program, func() { c.readOutput(p) })
	safe.GoIn(&c.readers, safe.Program, func() {
		defer close(c.stderrEnd)
		_, _ = io.Copy(&c.stderr, p.stderr)
	})
	return nil
}

// readOutput reads lines until the end of output. Lines that are no messages (banners, logs) are skipped.
func (c *stdioTransport) readOutput(p *childProcess) {
	defer p.kill()                                                                 // its output is no longer read
	defer func() { c.pending.failAll(newReaderPanicError(c.hasSession.Load())) }() // has an effect only after a panic
	lines := bufio.NewReaderSize(p.stdout, 64<<10)
	banner := 0
	for {
		line, err := readLine(lines, c.maxLine)
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if (text[0] == '{' || text[0] == '[') && c.pending.deliverText(text) == nil {
				banner = 0
			} else {
				banner += len(text)
			}
		}
		switch {
		case errors.Is(err, errTooLarge), errors.Is(err, errOverLimit):
			c.pending.failAll(&Error{Phase: PhaseInitialize, Reason: ReasonTooLarge, Detail: err.Error()})
		case err != nil:
			c.pending.failAll(c.newExitError(p, "closed its standard output"))
		case banner > maxNonMessageBytes:
			c.pending.failAll(&Error{Phase: PhaseInitialize, Reason: ReasonProtocol, Detail: "keeps writing non-MCP text to standard output"})
		default:
			continue
		}
		return
	}
}

// readLine reads one line of at most limit bytes into memory of its own. With an error it returns the bytes before
// it.
func readLine(from *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, newSizeError(limit)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// newExitError is the error of requests after a final event of the process.
func (c *stdioTransport) newExitError(p *childProcess, event string) *Error {
	failure := &Error{Phase: PhaseInitialize, Reason: ReasonProtocol, Detail: event}
	state := p.wait(exitTimeout)
	if state != nil {
		failure.Detail = "ended before its reply, " + describeExit(state)
		if code := state.ExitCode(); code >= 0 {
			failure.ExitCode = &code
		}
	}
	failure.remote = c.readStderr(state != nil)
	if c.hasSession.Load() {
		failure.Err = errSessionLost // a new process may succeed
	}
	return failure
}

// readStderr returns the end of standard error. After the exit it waits for the last bytes.
func (c *stdioTransport) readStderr(hasExited bool) RemoteText {
	patience := stderrTimeout
	if !hasExited {
		patience = 0
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	isCut := false
	select {
	case <-c.stderrEnd:
	case <-timer.C:
		isCut = true
	}
	text, cutStart := c.stderr.snapshotText()
	return RemoteText{text: string(text), cutStart: cutStart, cutEnd: isCut, isTail: true}
}

func describeExit(state *os.ProcessState) string {
	if code := state.ExitCode(); code >= 0 {
		return fmt.Sprintf("with exit code %d", code)
	}
	return "killed by a signal"
}

// setVersion sends nothing: each message names the version.
func (c *stdioTransport) setVersion(string) { c.hasSession.Store(true) }

// close ends the process and its descendants by the end of input, SIGTERM and SIGKILL.
func (c *stdioTransport) close(ctx context.Context) {
	c.writeLock <- struct{}{} // writers end with their contexts
	defer func() { <-c.writeLock }()
	if c.process == nil {
		c.startError = &Error{Phase: PhaseConnect, Reason: ReasonUnreachable, Detail: "can't be started: the session has ended"}
		return
	}
	c.process.stop(ctx)
	c.readers.Wait()
	c.process.closeOutput()
	if text := c.stderr.completeLines(); c.command.Diagnose != nil && len(text) > 0 {
		c.command.Diagnose(text)
	}
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu    sync.Mutex // guards the fields below
	text  []byte
	isCut bool // earlier bytes were dropped
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isCut = t.isCut || len(t.text)+len(p) > maxStderr
	t.text = append(t.text, p[max(0, len(p)-maxStderr):]...)
	if over := len(t.text) - maxStderr; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

// snapshotText returns a copy of the text, and whether earlier bytes were dropped.
func (t *tailBuffer) snapshotText() (text []byte, isCut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.text), t.isCut
}

// completeLines returns the lines that are kept whole, because the rest of a cut secret could not be redacted.
func (t *tailBuffer) completeLines() []byte {
	text, isCut := t.snapshotText()
	if !isCut {
		return text
	}
	_, lines, _ := bytes.Cut(text, []byte("\n"))
	return lines
}
