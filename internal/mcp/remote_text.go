package mcp

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"patchbay/internal/safe"
)

// maxRemoteText bounds the text of a failure that is kept, in bytes.
const maxRemoteText = 4 << 10

// redactedRemoteText replaces a RemoteText in all output, because it can repeat a secret.
const redactedRemoteText = "[remote text]"

// RemoteText is a part of what a server or program wrote before a failure. fmt, slog and encoding/json print
// [remote text]; only Reveal returns it.
type RemoteText struct {
	text             string
	cutStart, cutEnd bool
	isTail           bool // the end of what a program wrote
}

func newRemoteText(text []byte, isCut bool) RemoteText {
	return RemoteText{text: string(text[:min(len(text), maxRemoteText)]), cutEnd: isCut || len(text) > maxRemoteText}
}

// newRPCText returns message and data of a JSON-RPC error, on lines of their own.
func newRPCText(e *RPCError) RemoteText {
	text := append([]byte(nil), e.Message[:min(len(e.Message), maxRemoteText+1)]...)
	if len(e.Data) > 0 && string(e.Data) != "null" {
		text = append(append(text, '\n'), e.Data[:min(len(e.Data), maxRemoteText+1)]...)
	}
	return newRemoteText(text, false)
}

// newChallengeText returns error and error_description of the challenges (RFC 6750 section 3), on lines of their own.
func newChallengeText(all []Challenge) RemoteText {
	var text []byte
	for _, c := range all {
		for _, name := range []string{"error", "error_description"} {
			if value := c.Params[name]; value != "" {
				text = append(append(text, value...), '\n')
			}
		}
	}
	return newRemoteText(text, false)
}

// Reveal returns the text, of at most 8 KiB, and whether its start or end is missing. Redact it before anything else.
func (t RemoteText) Reveal() (text string, cutStart, cutEnd bool) {
	return t.text, t.cutStart, t.cutEnd
}

// IsTail reports whether the text is the end of what a program wrote to its standard error.
func (t RemoteText) IsTail() bool { return t.isTail }

// Format hides the text for every verb.
func (t RemoteText) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedRemoteText) }

// LogValue hides the text.
func (t RemoteText) LogValue() slog.Value { return slog.StringValue(redactedRemoteText) }

// MarshalText hides the text.
func (t RemoteText) MarshalText() ([]byte, error) { return []byte(redactedRemoteText), nil }

// RemoteText returns what the server wrote: message and data of its JSON-RPC error, else the beginning of its response.
// A refusal without a body is what its WWW-Authenticate says of the error.
// For a program it is the end of its standard error.
func (e *Error) RemoteText() RemoteText {
	if e.RPC != nil && (e.RPC.Message != "" || len(e.RPC.Data) > 0) {
		return newRPCText(e.RPC)
	}
	return e.remote
}

// readRemoteText reads the beginning of a response that is no MCP, as far as it arrives at once.
func readRemoteText(body io.Reader, closer io.Closer) RemoteText {
	timer := time.AfterFunc(drainTimeout, func() {
		defer safe.Recover(safe.Timer)
		_ = closer.Close()
	})
	defer timer.Stop()
	text, err := io.ReadAll(io.LimitReader(body, maxRemoteText+1))
	return newRemoteText(text, err != nil)
}
