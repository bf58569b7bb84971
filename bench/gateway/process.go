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

// process is a server that was started here.
type process struct {
	cmd     *exec.Cmd
	address string // its URL, from the first line that has one
}

// start runs a program until it has printed a URL.
func start(ctx context.Context, env []string, name string, args ...string) (*process, error) {
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
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			address, _, _ := strings.Cut(lines.Text()[at:], " ")
			return &process{cmd: cmd, address: strings.TrimSuffix(address, "/")}, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s printed no address", name), cmd.Wait())
}

// end ends it as an operator would, once. It is an error where the process says so.
func (p *process) end() error {
	if p.cmd.ProcessState != nil {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.cmd.Wait()
}

// cpu is the processor time that the process alone has used.
func (p *process) cpu() (time.Duration, error) {
	var at unix.Timespec
	// The clock of another process (clock_getcpuclockid(3)), which counts nanoseconds.
	if err := unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|2), &at); err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	return time.Duration(at.Nano()), nil
}

// memory is what of the process is resident.
func (p *process) memory() (int64, error) {
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

// childrenCPU is the processor time of what the process has started, PostgreSQL with all of its own; in ticks of 10 ms.
func (p *process) childrenCPU() time.Duration {
	parents, ticks := map[int]int{}, map[int]int64{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parents[pid], _ = strconv.Atoi(fields[1])
		for _, field := range fields[11:15] { // utime, stime, and those of children that have ended
			n, _ := strconv.ParseInt(field, 10, 64)
			ticks[pid] += n
		}
	}
	var sum int64
	for pid := range parents {
		for at := parents[pid]; at > 1; at = parents[at] {
			if at == p.cmd.Process.Pid {
				sum += ticks[pid]
				break
			}
		}
	}
	return time.Duration(sum) * 10 * time.Millisecond
}
