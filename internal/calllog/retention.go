package calllog

import (
	"patchbay/internal/connectors"
	"patchbay/internal/safe"
)

// Keep truncates and redacts a call's arguments and result as its tenant's retention says.
func Keep(c *connectors.ToolCall, retention connectors.CallHistory) {
	keepDocument(c, &c.Arguments, retention, nil)
	keepDocument(c, &c.Content, retention, truncateContent)
	keepDocument(c, &c.Structured, retention, nil)
}

// keepDocument applies the retention to one document. A document that is too long is truncated, or dropped if
// truncate is nil.
func keepDocument(c *connectors.ToolCall, part *[]byte, retention connectors.CallHistory, truncate func([]byte) []byte) {
	raw := *part
	if len(raw) == 0 || retention == connectors.HistoryNone {
		*part = nil
		return
	}
	if len(raw) > connectors.MaxHistoryBytes {
		c.Truncated = true
		if raw = nil; truncate != nil {
			raw = truncate(*part)
		}
	}
	if retention != connectors.HistoryFull && raw != nil {
		raw = Redact(raw)
	}
	*part = raw
}

// keepSafely is Keep for rows of a batch: after a panic the contents are dropped, for they may hold a secret.
func keepSafely(c *connectors.ToolCall, retention connectors.CallHistory) {
	err := safe.Try(safe.Background, func() error { Keep(c, retention); return nil })()
	if err != nil {
		c.Arguments, c.Content, c.Structured, c.Truncated = nil, nil, nil, true
	}
}
