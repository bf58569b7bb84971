package toolsync

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/redact"
)

// CommandPolicy says which programs connectors may start on this machine, and which environment variables these
// inherit. The zero value allows none.
type CommandPolicy struct {
	Allowed connectors.AllowedCommands
	Env     []string // PATH, HOME and LANG, as NAME=value
	// Launcher sets a program's limits before it starts, see [mcp.Command].
	Launcher string
}

// Limits on running programs. Each is a process and a waiting thread of ours.
const (
	maxPrograms       = 32
	maxTenantPrograms = 8
)

// programLimits bound each process of a program. Node with some hundred megabytes of tools stays far below.
var programLimits = mcp.Limits{Memory: 4 << 30, OpenFiles: 1024, Processes: 4096}

// checkProgram returns a fault if the rules forbid a connector's command; nil: it may start.
func (s *Syncer) checkProgram(c connectors.Connector, env connectors.Environment) *fault.Error {
	if c.Transport != connectors.TransportStdio {
		return nil
	}
	fields := s.programs.Allowed.CheckStart(c.Command, env)
	if len(fields) == 0 {
		return nil
	}
	message := fields[0].Message
	if strings.HasPrefix(fields[0].Location, "env.") {
		message += " Remove it from the connector's environment."
	}
	return upstreamFault(codeBlocked, message, &fault.Remote{Phase: string(mcp.PhaseConnect)}, nil)
}

// newCommand returns a connector's program for package mcp; nil for other transports.
func (s *Syncer) newCommand(ctx context.Context, c connectors.Connector, env connectors.Environment) *mcp.Command {
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
		Path: c.Command.Path, Args: c.Command.Args, Env: all, Dir: dir, Limits: programLimits, Launcher: s.programs.Launcher,
		Diagnose: func(text []byte) { s.logStderr(ctx, c, env, text) },
	}
}

// logStderr logs what a program wrote to standard error before it exited. Values of its environment are
// redacted, for programs print their settings.
func (s *Syncer) logStderr(ctx context.Context, c connectors.Connector, env connectors.Environment, text []byte) {
	if !s.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	var values []string
	for _, value := range env {
		values = append(values, value.Reveal())
	}
	said := redact.NewSecrets(values...).Remove(string(text))
	s.log.DebugContext(ctx, "program ended", slog.String("connector_id", c.ID.String()), slog.String("stderr", said))
}

// acquireProgramSlot waits until a program may run; release returns its slot.
func acquireProgramSlot(ctx context.Context, g *limit.Gate[connectors.TenantID], tenant connectors.TenantID) (release func(), err error) {
	if g.Acquire(ctx, tenant) == nil {
		return func() { g.Release(tenant) }, nil
	}
	f := fault.Errorf(fault.Unavailable,
		"Too many programs are running: %d per tenant, %d in total. Try again when one ends.", maxTenantPrograms, maxPrograms)
	f.Code = string(mcp.ReasonUnreachable)
	return nil, f
}

// acquireSyncProgram waits until the connector's program may run for a sync. Other transports need no slot.
func (s *Syncer) acquireSyncProgram(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, env connectors.Environment,
) (release func(), err error) {
	if c.Transport != connectors.TransportStdio {
		return func() {}, nil
	}
	if blocked := s.checkProgram(c, env); blocked != nil {
		return nil, blocked
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return acquireProgramSlot(ctx, s.syncCommandSlots, tenant)
}

// programSentence is [failureSentence] for programs.
func programSentence(e *mcp.Error, c connectors.Connector) string {
	const stderr = " Its standard error is in Patchbay's debug log."
	switch e.Reason {
	case mcp.ReasonUnreachable:
		return "The program " + orElse(e.Detail, "can't be reached") + ". Check its command, arguments and folder."
	case mcp.ReasonTimeout:
		return fmt.Sprintf("The program didn't answer within %s. Try again, or increase the connector's timeout.", formatDuration(c.Timeout))
	case mcp.ReasonProtocol:
		return "The program " + orElse(e.Detail, "doesn't speak MCP") + ". Check its arguments and environment." + stderr
	case mcp.ReasonUnsupportedVersion:
		return "The program speaks an unsupported MCP version" + detailSuffix(e.Detail) + ". Update it or Patchbay."
	case mcp.ReasonTooLarge:
		return "The program " + orElse(e.Detail, "exceeded Patchbay's size limit") + "."
	case mcp.ReasonRPC:
		return fmt.Sprintf("The program refused %s with the JSON-RPC error %d.", requestName(e.Phase), e.RPCCode) + stderr
	default:
		return "The connection to the program failed. Try again later."
	}
}
