package toolsync

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
)

// Programs says which programs connectors may start on this machine, and what of our environment they get. The zero value is none.
type Programs struct {
	Allowed connectors.AllowedCommands
	Env     []string // PATH, HOME and LANG, as NAME=value
}

// How many programs run at once. Each is a process with a thread of ours that waits for it.
const (
	maxPrograms       = 32
	maxTenantPrograms = 8
)

// programLimits bound each process of a program. A runtime like Node's is far below, with some hundred megabytes of tools.
var programLimits = mcp.Limits{Memory: 4 << 30, OpenFiles: 1024, Processes: 4096}

// blockedProgram is why a connector's command is not started; nil: it may be.
func (s *Syncer) blockedProgram(c connectors.Connector, env connectors.Environment) *fault.Error {
	if c.Transport != connectors.TransportStdio {
		return nil
	}
	fields := s.programs.Allowed.CheckStart(c.Command, env)
	if len(fields) == 0 {
		return nil
	}
	message := fields[0].Message
	if strings.HasPrefix(fields[0].Location, "env.") {
		message += " Set the connector's environment without it."
	}
	return upstream(codeBlocked, message, &fault.Remote{Phase: string(mcp.PhaseConnect)}, nil)
}

// command is a connector's program as package mcp is told of it; nil for the other transports.
func (s *Syncer) command(ctx context.Context, c connectors.Connector, env connectors.Environment) *mcp.Command {
	if c.Transport != connectors.TransportStdio {
		return nil
	}
	all := slices.Clone(s.programs.Env)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name].Reveal())
	}
	dir := c.Command.Dir
	if dir == "" {
		dir = "/"
	}
	return &mcp.Command{
		Path: c.Command.Path, Args: c.Command.Args, Env: all, Dir: dir, Limits: programLimits,
		Diagnose: func(text []byte) { s.lastWords(ctx, c, env, text) },
	}
}

// lastWords notes what a program said on its standard error before it ended, for who looks for the reason. What its environment held
// is taken out: programs like to print their settings.
func (s *Syncer) lastWords(ctx context.Context, c connectors.Connector, env connectors.Environment, text []byte) {
	if !s.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	text = withoutSecrets(text, env)
	s.log.DebugContext(ctx, "program ended", slog.String("connector_id", c.ID.String()), slog.String("stderr", string(text)))
}

// withoutSecrets takes the values of an environment out of a text, the longest line first: one may be a part of another.
func withoutSecrets(text []byte, env connectors.Environment) []byte {
	var lines [][]byte
	for _, value := range env {
		for line := range bytes.Lines([]byte(value.Reveal())) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				lines = append(lines, line)
			}
		}
	}
	slices.SortFunc(lines, func(a, b []byte) int { return len(b) - len(a) })
	for _, line := range lines {
		text = bytes.ReplaceAll(text, line, []byte("[secret]"))
	}
	return text
}

// seats are where running programs sit. The zero value works.
type seats struct {
	mu     sync.Mutex // guards what follows
	taken  map[connectors.TenantID]int
	total  int
	change chan struct{} // closed when a seat is free; nil: nobody waits
}

// take waits for a seat. The caller gives it back by leave.
func (s *seats) take(ctx context.Context, tenant connectors.TenantID) (leave func(), err error) {
	for {
		free := s.try(tenant)
		if free == nil {
			return func() { s.leave(tenant) }, nil
		}
		select {
		case <-free:
		case <-ctx.Done():
			f := fault.Errorf(fault.Unavailable,
				"Too many programs run already: %d for each tenant, %d in all. Try again when one has ended.", maxTenantPrograms, maxPrograms)
			f.Code = string(mcp.ReasonUnreachable)
			return nil, f
		}
	}
}

// try takes a seat and returns nil, or what to wait for.
func (s *seats) try(tenant connectors.TenantID) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total < maxPrograms && s.taken[tenant] < maxTenantPrograms {
		if s.taken == nil {
			s.taken = map[connectors.TenantID]int{}
		}
		s.taken[tenant]++
		s.total++
		return nil
	}
	if s.change == nil {
		s.change = make(chan struct{})
	}
	return s.change
}

func (s *seats) leave(tenant connectors.TenantID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.taken[tenant]--; s.taken[tenant] == 0 {
		delete(s.taken, tenant)
	}
	if s.change != nil {
		close(s.change)
		s.change = nil
	}
}

// seat is a place for the conversation with a program; other servers need none.
func (s *Syncer) seat(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, env connectors.Environment,
) (leave func(), err error) {
	if c.Transport != connectors.TransportStdio {
		return func() {}, nil
	}
	if blocked := s.blockedProgram(c, env); blocked != nil {
		return nil, blocked
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return s.seats.take(ctx, tenant)
}

// programSentence tells of a program what [sentence] tells of other servers.
func programSentence(e *mcp.Error, c connectors.Connector) string {
	const stderr = " What it wrote to its standard error stands in Patchbay's log, at level debug."
	switch e.Reason {
	case mcp.ReasonUnreachable:
		return "The program " + orElse(e.Detail, "cannot be reached") + ". Check the command, its arguments and its folder."
	case mcp.ReasonTimeout:
		return fmt.Sprintf("The program did not answer within %s. Try again, or give the connector a longer timeout.", spoken(c.Timeout))
	case mcp.ReasonProtocol:
		return "The program " + orElse(e.Detail, "does not speak MCP") + ". Check its arguments and its environment." + stderr
	case mcp.ReasonUnsupportedVersion:
		return "The program speaks a version of MCP that Patchbay does not know" + because(e.Detail) + ". Update the program, or Patchbay."
	case mcp.ReasonTooLarge:
		return "The program " + orElse(e.Detail, "sent more than Patchbay takes") + "."
	case mcp.ReasonRPC:
		return fmt.Sprintf("The program refused %s with the JSON-RPC error %d.", request(e.Phase), e.RPCCode) + stderr
	default:
		return "The conversation with the program failed. Try again later."
	}
}
