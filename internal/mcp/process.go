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

// Times for a process to exit, after the end of its input and after SIGTERM. The end of a context cuts both
// short.
const (
	eofTimeout  = 700 * time.Millisecond
	termTimeout = 700 * time.Millisecond
	killTimeout = 5 * time.Second // after SIGKILL
	// outputTimeout bounds reading the pipes of a dead process: a process that left its session may hold them
	// open.
	outputTimeout = time.Second
)

// childProcess is a child that dies with this process, as do its descendants. It leads a session of its own, so
// that one signal reaches all of them.
type childProcess struct {
	cmd                   *exec.Cmd
	stdin, stdout, stderr *os.File      // parent ends
	exited                chan struct{} // closed after the exit

	mu       sync.Mutex // guards reaped
	isReaped bool       // its pid may be in use again
}

// startProcess starts a command that inherits nothing but three pipes.
func startProcess(c Command) (*childProcess, error) {
	if !isUsableDir(c.Dir) {
		return nil, errNoWorkDir
	}
	p := &childProcess{exited: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: c.Path, Args: append([]string{c.Path}, c.Args...), Env: c.Env, Dir: c.Dir}
	if p.cmd.Env == nil {
		p.cmd.Env = []string{} // nil would inherit ours
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	setParentDeathSignal(p.cmd.SysProcAttr)
	childEnds, err := p.openPipes()
	defer closeAll(childEnds)
	if err == nil {
		err = p.startCommand(c.Launcher, c.Limits)
	}
	if err != nil {
		closeAll([]*os.File{p.stdin, p.stdout, p.stderr})
		return nil, err
	}
	return p, nil
}

// isUsableDir reports whether a child can use dir as its working directory; empty: the current one.
func isUsableDir(dir string) bool {
	if dir == "" {
		return true
	}
	const search = 1 // X_OK of access(2)
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && syscall.Access(dir, search) == nil
}

func (p *childProcess) openPipes() (childEnds []*os.File, err error) {
	stdin, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdin, p.stdin = stdin, ours
	childEnds = append(childEnds, stdin)
	for _, out := range []struct {
		ours   **os.File
		theirs func(*os.File)
	}{
		{&p.stdout, func(f *os.File) { p.cmd.Stdout = f }},
		{&p.stderr, func(f *os.File) { p.cmd.Stderr = f }},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			return childEnds, err
		}
		*out.ours = r
		out.theirs(w)
		childEnds = append(childEnds, w)
	}
	return childEnds, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// startCommand starts the command, and a goroutine that reaps it.
func (p *childProcess) startCommand(launcher string, limits Limits) error {
	started := make(chan error, 1)
	safe.Go(safe.Program, func() {
		// The parent death signal is bound to the thread that started the child, so the thread must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := safe.Try(safe.Program, func() error { return startLimited(p.cmd, launcher, limits) })()
		if err == nil && launcher == "" {
			_ = safe.Try(safe.Program, func() error { setLimits(p.cmd.Process.Pid, limits); return nil })() // the program runs without limits too
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

// write writes to standard input until ctx ends.
func (p *childProcess) write(ctx context.Context, line []byte) (int, error) {
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

func (p *childProcess) wait(patience time.Duration) *os.ProcessState {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.exited:
		return p.cmd.ProcessState
	case <-timer.C:
		return nil
	}
}

// stop ends the process: end of input, SIGTERM, SIGKILL. The end of ctx skips the waits. Output can still be
// read, then closeOutput follows.
func (p *childProcess) stop(ctx context.Context) {
	members := p.listDescendants()
	_ = p.stdin.Close()
	if !p.waitWithin(ctx, eofTimeout) {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
		if !p.waitWithin(ctx, termTimeout) {
			p.kill()
		}
	}
	p.wait(killTimeout)
	killOrphans(members)
	deadline := time.Now().Add(outputTimeout)
	_ = p.stdout.SetReadDeadline(deadline)
	_ = p.stderr.SetReadDeadline(deadline)
}

// closeOutput closes the parent ends when they are no longer read.
func (p *childProcess) closeOutput() { closeAll([]*os.File{p.stdout, p.stderr}) }

func (p *childProcess) waitWithin(ctx context.Context, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-p.exited:
		return true
	case <-ctx.Done():
		return false
	}
}

// kill kills the process and its descendants, unless it has been reaped.
func (p *childProcess) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isReaped {
		killTree(p.cmd.Process.Pid)
	}
}

// listDescendants returns the process and its descendants, or nil once it is reaped.
func (p *childProcess) listDescendants() []processInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isReaped {
		return nil
	}
	return findDescendants(p.cmd.Process.Pid)
}

// reap kills what a dead process left, while its pid cannot be reused, and then frees the pid.
func (p *childProcess) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	killTree(p.cmd.Process.Pid)
	_ = p.cmd.Wait()
	p.isReaped = true
}

var errNoWorkDir = errors.New("no working folder")

// describeStartError says in our words why a command could not be started.
func describeStartError(c Command, err error) string {
	switch {
	case errors.Is(err, errNoWorkDir):
		// One sentence for missing and forbidden folders, so that it does not reveal which.
		return "its folder isn't usable"
	case errors.Is(err, fs.ErrNotExist):
		if _, statErr := os.Stat(c.Path); statErr == nil {
			return "its interpreter or loader is missing"
		}
		return "it doesn't exist here"
	case errors.Is(err, fs.ErrPermission):
		return "Patchbay's user may not execute it"
	case errors.Is(err, syscall.ENOEXEC):
		return "it can't run on this machine"
	case errors.Is(err, syscall.E2BIG):
		return "its arguments are too long"
	default:
		return "this machine refused"
	}
}

// toErrno returns the system's error number, without the path.
func toErrno(err error) error {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number
	}
	return errNoWorkDir
}
