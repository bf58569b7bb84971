package mcp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"patchbay/internal/safe"
)

// How long a process may take to end after the end of its input, and after SIGTERM. A context that ends cuts both short.
const (
	eofPatience  = 700 * time.Millisecond
	termPatience = 700 * time.Millisecond
	killPatience = 5 * time.Second // for its end after SIGKILL
	// restPatience is how long the readers of a dead process's pipes wait for their end: one who fled from its family may hold them
	// open.
	restPatience = time.Second
)

// process is a child that dies with us, and its children with it. It has a session of its own, so that a signal finds all of them.
type process struct {
	cmd                   *exec.Cmd
	stdin, stdout, stderr *os.File      // our ends
	exited                chan struct{} // closed when all is over

	mu     sync.Mutex // guards reaped
	reaped bool       // its number may be somebody else's by now
}

// startProcess starts a command with nothing of ours but three pipes.
func startProcess(c Command) (*process, error) {
	if !canWorkIn(c.Dir) {
		return nil, errNoFolder
	}
	p := &process{exited: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: c.Path, Args: append([]string{c.Path}, c.Args...), Env: c.Env, Dir: c.Dir}
	if p.cmd.Env == nil {
		p.cmd.Env = []string{} // nil would be ours
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithUs(p.cmd.SysProcAttr)
	theirs, err := p.pipes()
	defer closeAll(theirs)
	if err == nil {
		err = p.run(c.Limits)
	}
	if err != nil {
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		return nil, err
	}
	return p, nil
}

// canWorkIn tells whether a process of ours can have a folder as its own; empty: where we are.
func canWorkIn(dir string) bool {
	if dir == "" {
		return true
	}
	const search = 1 // X_OK of access(2)
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && syscall.Access(dir, search) == nil
}

// pipes makes the three, and returns the ends that are the child's.
func (p *process) pipes() (theirs []*os.File, err error) {
	stdin, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdin, p.stdin = stdin, ours
	theirs = append(theirs, stdin)
	for _, out := range []struct {
		ours   **os.File
		theirs func(*os.File)
	}{
		{&p.stdout, func(f *os.File) { p.cmd.Stdout = f }},
		{&p.stderr, func(f *os.File) { p.cmd.Stderr = f }},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		*out.ours = r
		out.theirs(w)
		theirs = append(theirs, w)
	}
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// run starts the command and has its end waited for.
func (p *process) run(limits Limits) error {
	started := make(chan error, 1)
	safe.Go(safe.Program, func() {
		// The death signal goes by the thread that started the child, not by the process: it has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := safe.Try(safe.Program, p.cmd.Start)()
		if err == nil {
			_ = safe.Try(safe.Program, func() error { limit(p.cmd.Process.Pid, limits); return nil })() // the program runs either way
		}
		started <- err
		if err != nil {
			return
		}
		defer close(p.exited)
		awaitExit(p.cmd)
		p.reap()
	})
	return <-started
}

// write writes to the child's standard input until ctx ends.
func (p *process) write(ctx context.Context, line []byte) (int, error) {
	cut := make(chan struct{})
	unbind := context.AfterFunc(ctx, func() {
		defer safe.Recover(safe.Timer)
		_ = p.stdin.SetWriteDeadline(time.Unix(1, 0))
		close(cut)
	})
	n, err := p.stdin.Write(line)
	if !unbind() {
		<-cut
		_ = p.stdin.SetWriteDeadline(time.Time{})
	}
	return n, err
}

// wait returns how the process ended, or nil where it has not ended in time.
func (p *process) wait(patience time.Duration) *os.ProcessState {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.exited:
		return p.cmd.ProcessState
	case <-timer.C:
		return nil
	}
}

// stop ends the process, politely as long as ctx lasts. What it has said is still to be read, and then hung up on.
func (p *process) stop(ctx context.Context) {
	members := p.family()
	_ = p.stdin.Close()
	if !p.waitWithin(ctx, eofPatience) {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
		if !p.waitWithin(ctx, termPatience) {
			p.kill()
		}
	}
	p.wait(killPatience)
	killKin(members)
	rest := time.Now().Add(restPatience)
	_ = p.stdout.SetReadDeadline(rest)
	_ = p.stderr.SetReadDeadline(rest)
}

// hangUp closes our ends, when nobody reads from them any more.
func (p *process) hangUp() { closeAll([]*os.File{p.stdout, p.stderr}) }

func (p *process) waitWithin(ctx context.Context, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-p.exited:
		return true
	case <-ctx.Done():
		return false
	}
}

// kill ends the process and its family at once, unless it is over already.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		killFamily(p.cmd.Process.Pid)
	}
}

// family are the process and who descends from it, as long as it lives.
func (p *process) family() []kin {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	return family(p.cmd.Process.Pid)
}

// reap ends what a dead process leaves behind, as long as its number is nobody else's, and then gives the number back.
func (p *process) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	killFamily(p.cmd.Process.Pid)
	_ = p.cmd.Wait()
	p.reaped = true
}

var errNoFolder = errors.New("no folder to work in")

// startDetail says why a command could not be started, in our words.
func startDetail(c Command, err error) string {
	switch {
	case errors.Is(err, errNoFolder):
		// One sentence for a folder that is missing and one that is closed: who chose it need not learn which.
		return "it cannot work in its folder"
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := os.Stat(c.Path); statErr == nil {
			return "what it needs to run does not exist on this machine"
		}
		return "it does not exist on this machine"
	case errors.Is(err, fs.ErrPermission):
		return "Patchbay's user may not execute it"
	case errors.Is(err, syscall.ENOEXEC):
		return "it is no program for this machine"
	case errors.Is(err, syscall.E2BIG):
		return "its arguments are too long"
	default:
		return "this machine refuses"
	}
}

// plainCause is the system's word for it, without the path.
func plainCause(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	return errNoFolder
}
