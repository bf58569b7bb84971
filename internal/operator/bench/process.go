package bench

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
)

// Serve starts the servers, prints their addresses in one line, and serves until in ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, tools int, era string) error {
	s, err := startUpstreams(ctx, tools, era == "modern")
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := fmt.Fprintln(out, strings.Join(s.hosts, " ")); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// startProcess starts the servers in a separate process.
func startProcess(ctx context.Context, tools int, era string) (*upstreams, error) {
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
	s := &upstreams{release: make(chan struct{}), process: cmd, stdin: in}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.close()
		return nil, fmt.Errorf("start the servers: %w", err)
	}
	s.hosts = strings.Fields(line)
	return s, nil
}

// processCPU is the CPU time of the servers' process; 0: there is none.
func (s *upstreams) processCPU() time.Duration {
	if s.process == nil {
		return 0
	}
	return statCPU(processStat(strconv.Itoa(s.process.Process.Pid)))
}
