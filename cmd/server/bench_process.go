package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/operator"
)

// benchServersCommand is the process of a benchmark's servers.
type benchServersCommand struct {
	Tools int    `name:"tools" required:"" help:"How many tools each server lists."`
	Era   string `name:"era" enum:"handshake,modern" required:"" help:"What they speak."`
}

// Run prints the servers' addresses in one line, and serves until its standard input ends.
func (c benchServersCommand) Run(ctx context.Context, p operator.IO) error {
	s, err := startBenchServers(ctx, c.Tools, c.Era == "modern")
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := fmt.Fprintln(p.Stdout, strings.Join(s.hosts, " ")); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, p.Stdin)
	return err
}

// startBenchProcess starts the servers in a separate process.
func startBenchProcess(ctx context.Context, tools int, era string) (*benchServers, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "bench-servers", "--tools", strconv.Itoa(tools), "--era", era) //nolint:gosec // this program
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &benchServers{release: make(chan struct{}), process: cmd, stdin: in}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.close()
		return nil, fmt.Errorf("start the servers: %w", err)
	}
	s.hosts = strings.Fields(line)
	return s, nil
}

// processCPU is the CPU time of the servers' process; 0: there is none.
func (s *benchServers) processCPU() time.Duration {
	if s.process == nil {
		return 0
	}
	return statCPU(processStat(strconv.Itoa(s.process.Process.Pid)))
}
