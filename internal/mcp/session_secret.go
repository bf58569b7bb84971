package mcp

import (
	"fmt"
	"io"
	"log/slog"
)

// redactedSession replaces a session in all output: its id and headers are credentials.
const redactedSession = "[mcp session]"

// Format hides the session for every verb.
func (s *Session) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedSession) }

// LogValue hides the session.
func (s *Session) LogValue() slog.Value { return slog.StringValue(redactedSession) }
