package history

import (
	"patchbay/internal/connectors"
	"patchbay/internal/safe"
)

// Keep cuts and redacts what a tenant keeps of a call's arguments and result.
func Keep(c *connectors.ToolCall, how connectors.CallHistory) {
	keepPart(c, &c.Arguments, how, nil)
	keepPart(c, &c.Content, how, cutContent)
	keepPart(c, &c.Structured, how, nil)
}

// keepPart keeps one document: what is too long is cut, where that is possible, or left out.
func keepPart(c *connectors.ToolCall, part *[]byte, how connectors.CallHistory, cut func([]byte) []byte) {
	raw := *part
	if len(raw) == 0 || how == connectors.HistoryNone {
		*part = nil
		return
	}
	if len(raw) > connectors.MaxHistoryBytes {
		c.Truncated = true
		if raw = nil; cut != nil {
			raw = cut(*part)
		}
	}
	if how != connectors.HistoryFull && raw != nil {
		raw = Redact(raw)
	}
	*part = raw
}

// keepSafely is Keep for rows of a batch: where it panics, the contents are left out, which could hold a secret.
func keepSafely(c *connectors.ToolCall, how connectors.CallHistory) {
	err := safe.Try(safe.Background, func() error { Keep(c, how); return nil })()
	if err != nil {
		c.Arguments, c.Content, c.Structured, c.Truncated = nil, nil, nil, true
	}
}
