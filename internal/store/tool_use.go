package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// ToolKey is a tool of a connector, by the upstream's name.
type ToolKey struct {
	ConnectorID connectors.ConnectorID
	Tool        string
}

// ToolUse is which of its tools an agent really uses.
type ToolUse struct {
	Called map[ToolKey]CalledTool // since then, successfully or not
	New    map[ToolKey]bool       // that its servers have listed only since then: nobody could call them before
}

// CalledTool is how often an agent called a tool, and when last.
type CalledTool struct {
	Calls int
	Last  time.Time
}

// ToolUse reads which tools an agent called since then.
func (t *Tenant) ToolUse(ctx context.Context, agent connectors.AgentID, since time.Time) (ToolUse, error) {
	var (
		called []dbgen.ToolsCalledRow
		fresh  []dbgen.ToolsNewForRow
	)
	err := t.scope.readTogether(ctx,
		func(q *dbgen.Queries) (err error) {
			called, err = q.ToolsCalled(ctx, t.id, agent.UUID, firstIDAt(since))
			return err
		},
		func(q *dbgen.Queries) (err error) { fresh, err = q.ToolsNewFor(ctx, t.id, agent, since); return err },
	)
	if err != nil {
		return ToolUse{}, err
	}
	use := ToolUse{Called: make(map[ToolKey]CalledTool, len(called)), New: make(map[ToolKey]bool, len(fresh))}
	for _, r := range called {
		use.Called[ToolKey{r.ConnectorID, r.Tool}] = CalledTool{Calls: int(r.Calls), Last: r.LastAt.UTC()}
	}
	for _, r := range fresh {
		use.New[ToolKey{r.ConnectorID, r.Name}] = true
	}
	return use, nil
}

// firstIDAt is the least UUIDv7 of a millisecond (RFC 9562 §5.7).
func firstIDAt(at time.Time) uuid.UUID {
	var id uuid.UUID
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[8] = 0x70, 0x80
	return id
}
