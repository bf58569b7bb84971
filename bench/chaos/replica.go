package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// replica is one process of Patchbay, at a fixed address.
type replica struct {
	world   *world
	base    string
	private string
	env     []string
	log     string
	clock   string // file with the clock's offset

	mu           sync.Mutex // guards the fields below
	cmd          *exec.Cmd
	ended        chan struct{}
	wanted       bool // should run
	ready        bool // since its start
	crashes      int  // unexpected exits while ready
	failedStarts int  // exits before it was ready
	watchers     sync.WaitGroup
}

func (w *world) newReplica(ctx context.Context, n int) (*replica, error) {
	r := &replica{world: w, log: filepath.Join(w.home, "logs", fmt.Sprintf("replica-%d", n)), clock: filepath.Join(w.home, fmt.Sprintf("clock-%d", n))}
	for _, address := range []*string{&r.base, &r.private} {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*address = l.Addr().String()
		_ = l.Close()
	}
	r.env = append(w.processEnv(), "PATCHBAY_ADDR="+r.base, "PATCHBAY_PRIVATE_ADDR="+r.private, "PATCHBAY_API_RATE=0", "PATCHBAY_API_TENANT_RATE=0", "PATCHBAY_STRANGER_RATE=0", "PATCHBAY_AGENT_RATE=0", clockFile+"="+r.clock, fmt.Sprintf("PATCHBAY_DATA_DIR=%s/data-%d", w.files.dir, n))
	r.base = "http://" + r.base
	return r, r.startProcess()
}

// startProcess starts the process, and restarts it when it exits unexpectedly, as a supervisor does.
func (r *replica) startProcess() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wanted {
		return nil
	}
	log, err := os.OpenFile(r.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(r.world.program) //nolint:gosec,noctx // the program that is tried; it is ended by hand
	cmd.Env, cmd.Stdout, cmd.Stderr = r.env, log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	r.cmd, r.ended, r.wanted, r.ready = cmd, ended, true, false
	r.watchers.Go(func() { r.watchProcess(cmd, ended) })
	return nil
}

func (r *replica) watchProcess(cmd *exec.Cmd, ended chan struct{}) {
	_ = cmd.Wait() // the exit code is in ProcessState
	r.mu.Lock()
	unasked := r.wanted
	switch {
	case unasked && r.ready:
		r.crashes++
	case unasked:
		r.failedStarts++
	}
	r.wanted = false
	r.mu.Unlock()
	close(ended)
	if unasked {
		<-time.After(300 * time.Millisecond)
		_ = r.startProcess()
	}
}

// stopProcess sends a signal, waits, and returns the exit code.
func (r *replica) stopProcess(signal syscall.Signal) int {
	r.mu.Lock()
	cmd, ended := r.cmd, r.ended
	r.wanted = false
	r.mu.Unlock()
	_ = cmd.Process.Signal(signal)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		<-ended
		return -1
	}
	return cmd.ProcessState.ExitCode()
}

// isReady requests /readyz, and records a success.
func (r *replica) isReady(ctx context.Context) bool {
	if !r.probeReady(ctx) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready = true
	return true
}

// probeReady requests /readyz.
func (r *replica) probeReady(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/readyz", nil)
	if err != nil {
		return false
	}
	q.Close = true
	a, err := r.world.client.Do(q)
	if err != nil {
		return false
	}
	_ = a.Body.Close()
	return a.StatusCode == http.StatusOK
}
