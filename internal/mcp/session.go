package mcp

import (
	"context"
	"errors"
	"time"
)

// ServerInfo is what a server says of itself. All of it is remote text: show it escaped.
type ServerInfo struct {
	Name            string
	Version         string
	Title           string
	ProtocolVersion string
	Instructions    string
}

// Session is an open conversation with one server. It is for one goroutine at a time.
type Session struct {
	link     *link
	retry    retry
	client   clientInfo
	deadline time.Time // for everything but Close
	observe  func(Progress)

	server   ServerInfo
	hasTools bool // the server says that it has tools
	lastID   int
	renewed  bool // a lost session was opened anew, which happens once
}

// errSessionLost marks an answer that says that the server does not know our MCP session any more.
var errSessionLost = errors.New("the server does not know the session")

// Server returns what the server said of itself in the handshake.
func (s *Session) Server() ServerInfo { return s.server }

// Tools reads the whole tool list. A session that the server lost meanwhile is opened anew, once, and the list begun
// again: cursors belong to a session. Every error is an *Error.
func (s *Session) Tools(ctx context.Context) (ToolList, error) {
	ctx, cancel := context.WithDeadline(ctx, s.deadline)
	defer cancel()
	list, err := s.list(ctx)
	if err == nil || !errors.Is(err, errSessionLost) || s.renewed {
		return list, err
	}
	s.renewed = true
	if err := s.open(ctx); err != nil {
		return ToolList{}, err
	}
	return s.list(ctx)
}

// Close ends the session on the server, within two seconds and as a courtesy: its failure changes nothing. It works
// after ctx has ended, too.
func (s *Session) Close(ctx context.Context) {
	if s.link.session == "" {
		return
	}
	s.report(Progress{Phase: PhaseClose})
	s.link.end(ctx)
}

func (s *Session) report(p Progress) {
	if s.observe != nil {
		s.observe(p)
	}
}
