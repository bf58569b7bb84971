package mcp

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is what every printer shows of a session: its id and its target's headers let anybody speak in our place.
const hidden = "[mcp session]"

// Format shows nothing of the session, whatever the verb.
func (s *Session) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// LogValue shows nothing of the session.
func (s *Session) LogValue() slog.Value { return slog.StringValue(hidden) }
