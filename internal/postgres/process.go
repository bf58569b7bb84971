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

// Time for PostgreSQL to end after each signal, before a harder one.
const (
	fastTimeout      = 15 * time.Second
	immediateTimeout = 5 * time.Second
)

// childProcess is a child that dies with this process.
type childProcess struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed once err is set
	err    error
}

// newCommand is a command of one of PostgreSQL's programs: as the identity, in its own process group, because a
// Ctrl-C at the terminal is for this process, and with an environment that does not change its behaviour.
func (id osIdentity) newCommand(bin Binaries, name, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(bin.programPath(name), args...)
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

// startChild starts cmd. onDeath is the signal that the kernel sends it when this process dies (Linux).
func startChild(cmd *exec.Cmd, onDeath syscall.Signal) (*childProcess, error) {
	p := &childProcess{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error, 1)
	setDeathSignal(cmd.SysProcAttr, onDeath)
	safe.Go(safe.Database, func() {
		// The death signal belongs to the thread that started the child, not to the process: the thread has to
		// stay.
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

// runCommand waits for a short-lived cmd. It kills its process group when ctx ends first.
func runCommand(ctx context.Context, cmd *exec.Cmd) error {
	p, err := startChild(cmd, syscall.SIGKILL)
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

// stop ends the postmaster: fast (sessions are closed, everything is written), then immediate (recovery at the
// next start), then SIGKILL. A done ctx skips to the next step at once.
func (p *childProcess) stop(ctx context.Context) error {
	steps := []struct {
		signal   syscall.Signal
		patience time.Duration
	}{{syscall.SIGINT, fastTimeout}, {syscall.SIGQUIT, immediateTimeout}}
	for _, step := range steps {
		_ = p.cmd.Process.Signal(step.signal)
		if p.waitExit(ctx, step.patience) {
			return nil
		}
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if !p.waitExit(context.WithoutCancel(ctx), immediateTimeout) {
		return errors.New("PostgreSQL does not stop")
	}
	return nil
}

func (p *childProcess) waitExit(ctx context.Context, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
	case <-ctx.Done():
		// Out of time: leave it a moment to act on the last signal.
		select {
		case <-p.exited:
			return true
		case <-time.After(500 * time.Millisecond):
		}
	}
	return false
}
