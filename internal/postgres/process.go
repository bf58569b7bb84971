package postgres

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"patchbay/internal/safe"
)

// How long PostgreSQL has to end after each signal before the next, harder one.
const (
	fastPatience      = 15 * time.Second
	immediatePatience = 5 * time.Second
)

// process is a child that dies with us.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed once err is set
	err    error
}

// program is one of PostgreSQL's as a child of ours: as the identity, in a process group of its own (a Ctrl-C at the
// terminal is ours to act on), with nothing in its environment that would change its ways.
func (id identity) program(bin Binaries, name, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(bin.path(name), args...)
	cmd.Dir = dir
	cmd.Env = childEnv()
	attr := id.attr
	attr.Setpgid = true
	cmd.SysProcAttr = &attr
	return cmd
}

func childEnv() []string {
	env := []string{"LC_ALL=C", "TZ=UTC"}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "PATH", "HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR":
			env = append(env, entry)
		}
	}
	return env
}

// start runs cmd; onDeath is what the kernel sends it when we die (Linux).
func start(cmd *exec.Cmd, onDeath syscall.Signal) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	dieWithUs(cmd.SysProcAttr, onDeath)
	safe.Go(safe.Database, func() {
		// The death signal goes by the thread that started the child, not by the process: it has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := safe.Try(safe.Database, cmd.Start)()
		started <- err
		if err != nil {
			return
		}
		p.err = safe.Try(safe.Database, cmd.Wait)()
		close(p.exited)
	})
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run waits for a short-lived cmd, killing its group when ctx ends first.
func run(ctx context.Context, cmd *exec.Cmd) error {
	p, err := start(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	select {
	case <-p.exited:
		return p.err
	case <-ctx.Done():
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-p.exited
		return context.Cause(ctx)
	}
}

// stop ends the postmaster: fast (sessions are cut, everything is written), then immediate (recovery at the next
// start), then by force. A done ctx skips to the next step at once.
func (p *process) stop(ctx context.Context) error {
	steps := []struct {
		signal   syscall.Signal
		patience time.Duration
	}{{syscall.SIGINT, fastPatience}, {syscall.SIGQUIT, immediatePatience}}
	for _, step := range steps {
		_ = p.cmd.Process.Signal(step.signal)
		if p.waitExit(ctx, step.patience) {
			return nil
		}
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if !p.waitExit(context.WithoutCancel(ctx), immediatePatience) {
		return errors.New("PostgreSQL does not end")
	}
	return nil
}

func (p *process) waitExit(ctx context.Context, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
	case <-ctx.Done():
		// Out of time altogether: leave it a moment to act on the signal it has just got.
		select {
		case <-p.exited:
			return true
		case <-time.After(500 * time.Millisecond):
		}
	}
	return false
}
