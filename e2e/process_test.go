//go:build e2e

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a command that keeps running.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *lines
	stderr *lines
	exited chan struct{}
}

// start starts a command. Whatever happens, it is gone when the test ends.
func (h *home) start(args ...string) *process {
	h.t.Helper()
	return start(h.t, h.command(context.Background(), args...))
}

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, stdout: newLines(), stderr: newLines(), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait() // the code is read from ProcessState
	}()
	t.Cleanup(p.end)
	return p
}

// end asks first, so that PostgreSQL is stopped before its directory is removed.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	if p.t.Failed() {
		p.t.Logf("standard error of %s:\n%s", strings.Join(p.cmd.Args, " "), p.stderr.tail(40))
	}
}

// line waits for a line of standard output that has the text in it.
func (p *process) line(text string) string {
	p.t.Helper()
	line, ok := p.stdout.wait(text, p.exited)
	if !ok {
		p.t.Fatalf("no line with %q; standard output:\n%s\nstandard error:\n%s", text, p.stdout.text(), p.stderr.text())
	}
	return line
}

// terminate sends SIGTERM and returns the exit code.
func (p *process) terminate() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	return p.wait()
}

// kill sends SIGKILL to this process alone.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	p.wait()
}

// wait waits for the end and returns the exit code.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatal("the process does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// eventually asks until the answer is nil.
func eventually(t *testing.T, ask func() error) {
	t.Helper()
	deadline := time.After(patience)
	again := time.NewTicker(25 * time.Millisecond)
	defer again.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("still after %s: %v", patience, err)
		}
	}
}

// lines stores a process's output, and notifies waiters of a line.
type lines struct {
	mu      sync.Mutex // guards buf and changed
	buf     bytes.Buffer
	changed chan struct{} // closed and replaced at each write
}

func newLines() *lines { return &lines{changed: make(chan struct{})} }

// Write keeps p.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
	return l.buf.Write(p)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// tail is the last n lines.
func (l *lines) tail(n int) string {
	all := strings.Split(strings.TrimSpace(l.text()), "\n")
	return strings.Join(all[max(0, len(all)-n):], "\n")
}

// find returns the first whole line that has the text in it.
func (l *lines) find(text string) (line string, ok bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for scanner := bufio.NewScanner(strings.NewReader(l.buf.String())); scanner.Scan(); {
		if strings.Contains(scanner.Text(), text) {
			return scanner.Text(), true, nil
		}
	}
	return "", false, l.changed
}

// wait returns the first line with the text; false where the process ended without one.
func (l *lines) wait(text string, exited <-chan struct{}) (string, bool) {
	deadline := time.After(patience)
	for {
		line, ok, changed := l.find(text)
		if ok {
			return line, true
		}
		select {
		case <-changed:
		case <-deadline:
			return "", false
		case <-exited:
			line, ok, _ := l.find(text) // printed with the last breath
			return line, ok
		}
	}
}
