package calllog

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

// FuzzSlot: a slot of any content is a call or none, and a call is written back as it was read.
func FuzzSlot(f *testing.F) {
	whole := make([]byte, slotSize)
	whole[0] = 1
	writeSlot(whole[1:1], connectors.TenantID{UUID: uuid.Max}, &connectors.ToolCall{
		ID: connectors.ToolCallID{UUID: uuid.Max}, StartedAt: time.Unix(1, 0), AgentSlug: "agent", ConnectorSlug: "connector", Kind: connectors.CallTool, Tool: "größe", ExposedName: "mcp_connector__x", RequestBytes: 7,
	})
	f.Add(whole[:200])
	f.Add(bytes.Repeat([]byte{1}, 300))
	f.Add(bytes.Repeat([]byte{255}, 300))
	f.Add(append([]byte{1}, bytes.Repeat([]byte{255}, slotSize)...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, left []byte) {
		slot := make([]byte, slotSize)
		copy(slot, left)
		c, ok := readSlot(slot)
		if !ok {
			return
		}
		written := make([]byte, slotSize)
		written[0] = 1
		writeSlot(written[1:1], c.Tenant, &c.ToolCall)
		again, ok := readSlot(written)
		if !ok || again.Tenant != c.Tenant || again.ID != c.ID || *again.AgentID != *c.AgentID || *again.InstanceID != *c.InstanceID || again.RequestBytes != c.RequestBytes || !again.StartedAt.Equal(c.StartedAt) {
			t.Errorf("%q is the call %+v, and written as %+v, %v", left, c, again, ok)
		}
		for _, pair := range [][2]string{
			{c.AgentSlug, again.AgentSlug}, {c.ConnectorSlug, again.ConnectorSlug}, {string(c.Kind), string(again.Kind)}, {string(c.Source), string(again.Source)},
			{c.Tool, again.Tool}, {c.ExposedName, again.ExposedName}, {c.Caller, again.Caller},
		} {
			if strings.ToValidUTF8(pair[0][:min(len(pair[0]), maxName)], "") != pair[1] {
				t.Errorf("%q is written as %q", pair[0], pair[1])
			}
		}
	})
}
