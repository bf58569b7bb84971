package store

import (
	"context"

	"patchbay/internal/fault"
)

// MaxServedBytes is how much the definitions of all served tools may have together: they are read at once.
const MaxServedBytes = 32 << 20

// ServedTool is a tool as agents are served it.
type ServedTool struct {
	ConnectorSlug string
	Name          string
	Raw           []byte // the accepted definition; nil: the tool is there and not served
}

// ServedTools lists the tools that are there, of all enabled connectors, by the connector's name and their own. A tool that is
// disabled, rejected or still to be accepted comes without its definition, for it keeps its exposed name from others. Where the
// definitions have more than [MaxServedBytes] it returns a Conflict.
func (t *Tenant) ServedTools(ctx context.Context) ([]ServedTool, error) {
	rows, err := t.q.ServedTools(ctx, MaxServedBytes, t.id)
	if err != nil {
		return nil, err
	}
	tools := make([]ServedTool, len(rows))
	for i, r := range rows {
		if r.Bytes > MaxServedBytes {
			return nil, fault.Errorf(fault.Conflict,
				"The definitions of all tools have %d MiB, and %d fit into one answer. Disable the connectors that nobody needs.",
				r.Bytes>>20, MaxServedBytes>>20)
		}
		tools[i] = ServedTool{ConnectorSlug: r.Slug, Name: r.Name, Raw: r.Raw}
	}
	return tools, nil
}
