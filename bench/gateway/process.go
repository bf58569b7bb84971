package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// serverProcess is a started server.
type serverProcess struct {
	cmd     *exec.Cmd
	address string // URL from its output
}

// startProcess starts a program and waits until it prints a URL.
func startProcess(ctx context.Context, env []string, name string, args ...string) (*serverProcess, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the program that is measured
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if index := strings.Index(lines.Text(), "http://"); index >= 0 {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			address, _, _ := strings.Cut(lines.Text()[index:], " ")
			return &serverProcess{cmd: cmd, address: strings.TrimSuffix(address, "/")}, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s printed no address", name), cmd.Wait())
}

// stop sends SIGTERM once and waits. It returns the exit error.
func (p *serverProcess) stop() error {
	if p.cmd.ProcessState != nil {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.cmd.Wait()
}

// cpuTime returns the process's CPU time without its children.
func (p *serverProcess) cpuTime() (time.Duration, error) {
	var spec unix.Timespec
	// The CPU clock of another process: see clock_getcpuclockid(3).
	if err := unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|2), &spec); err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	return time.Duration(spec.Nano()), nil
}

// residentMemory returns VmRSS in bytes.
func (p *serverProcess) residentMemory() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("no VmRSS")
}

// childrenCPU returns the CPU time of all descendants, such as PostgreSQL, in ticks of 10 ms.
func (p *serverProcess) childrenCPU() time.Duration {
	parents, ticks := map[int]int{}, map[int]int64{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has exited
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parents[pid], _ = strconv.Atoi(fields[1])
		for _, field := range fields[11:15] { // utime, stime, and those of exited children
			n, _ := strconv.ParseInt(field, 10, 64)
			ticks[pid] += n
		}
	}
	var sum int64
	for pid := range parents {
		for ancestor := parents[pid]; ancestor > 1; ancestor = parents[ancestor] {
			if ancestor == p.cmd.Process.Pid {
				sum += ticks[pid]
				break
			}
		}
	}
	return time.Duration(sum) * 10 * time.Millisecond
}
