package calllog

import (
	"encoding/json"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/redact"
	"patchbay/internal/safe"
)

// ApplyRetention truncates and redacts a call's arguments and result as its tenant's retention says.
// What the server said of a failure was redacted before.
func ApplyRetention(c *connectors.ToolCall, retention connectors.CallHistory) {
	if retention == connectors.HistoryNone {
		c.Upstream = c.Upstream.WithoutSaid()
	}
	retainDocument(c, &c.Arguments, retention, nil)
	retainDocument(c, &c.Content, retention, truncateContent)
	retainDocument(c, &c.Structured, retention, nil)
	if c.IsError && c.Upstream == nil {
		c.Upstream = quoteContent(c.Content)
	}
}

// maxQuoted bounds the text of a result that is searched for its first words, in bytes.
const maxQuoted = 4 << 10

// quoteContent returns the first text of a retained result, so that lists, which have no contents, can show why a tool
// failed; nil: it has none.
func quoteContent(content []byte) *connectors.Upstream {
	var blocks []struct{ Text string }
	_ = json.Unmarshal(content, &blocks) // of invalid content what was read counts
	for _, b := range blocks {
		text := strings.TrimSpace(b.Text)
		source := redact.Source{Text: text[:min(len(text), maxQuoted)], CutEnd: len(text) > maxQuoted}
		if said := redact.Excerpt(source); said != "" {
			return &connectors.Upstream{Said: said}
		}
	}
	return nil
}

// retainDocument applies the retention to one document. A document that is too long is truncated, or dropped if
// truncate is nil.
func retainDocument(c *connectors.ToolCall, part *[]byte, retention connectors.CallHistory, truncate func([]byte) []byte) {
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
		raw = redact.JSON(raw)
	}
	*part = raw
}

// applyRetentionSafely is ApplyRetention for rows of a batch: after a panic the contents are dropped, for they may hold a secret.
func applyRetentionSafely(c *connectors.ToolCall, retention connectors.CallHistory) {
	err := safe.Try(safe.Background, func() error { ApplyRetention(c, retention); return nil })()
	if err != nil {
		c.Arguments, c.Content, c.Structured, c.Upstream, c.Truncated = nil, nil, nil, nil, true
	}
}
