package calllog_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"patchbay/internal/connectors"
)

// The mark is longer than the secret.
func TestRedact_LongerResultIsKept(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	b.tenant.CallHistory = connectors.HistoryRedacted
	e := b.writer.Begin(b.tenant, b.newCall())
	content, err := json.Marshal([]map[string]string{{"type": "text", "text": string(bytes.Repeat([]byte("pwd=1 "), 33_000))}})
	if err != nil {
		t.Fatal(err)
	}
	structured := append(append([]byte(`{"a":[`), bytes.TrimSuffix(bytes.Repeat([]byte(`{"pwd":1},`), 19_900), []byte(","))...), `]}`...)
	if len(content) > connectors.MaxHistoryBytes || len(structured) > connectors.MaxHistoryBytes {
		t.Fatal(len(content), len(structured))
	}
	c := e.End(func(c *connectors.ToolCall) {
		succeedWith("")(c)
		c.Content, c.Structured = content, structured
	})
	b.writer.Flush(t.Context())
	got, err := b.Door().Calls().Get(t.Context(), c.ID)
	if err != nil || len(got.Content) < 2*len(content) || len(got.Structured) < 2*len(structured) || !json.Valid(got.Content) || !json.Valid(got.Structured) {
		t.Errorf("%d bytes are %d, %d are %d: %v", len(content), len(got.Content), len(structured), len(got.Structured), err)
	}
}
