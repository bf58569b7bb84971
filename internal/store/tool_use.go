package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// ToolKey is a tool of a connector, by upstream name.
type ToolKey struct {
	ConnectorID connectors.ConnectorID
	Tool        string
}

// ToolUse describes which of its tools an agent uses.
type ToolUse struct {
	Called map[ToolKey]CalledTool // called since then, with or without success
	New    map[ToolKey]bool       // first listed since then, so they could not be called before
}

// CalledTool is the number of an agent's calls of a tool, and the last one.
type CalledTool struct {
	Calls int
	Last  time.Time
}

// Use reads an agent's use of tools since a time.
func (t Tools) Use(ctx context.Context, agent connectors.AgentID, since time.Time) (ToolUse, error) {
	var (
		called []dbgen.ToolsCalledRow
		fresh  []dbgen.ToolsNewForRow
	)
	err := t.scope.runReadBatch(ctx,
		func(q *dbgen.Queries) (err error) {
			called, err = q.ToolsCalled(ctx, t.id, agent.UUID, minUUIDv7At(since))
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

// minUUIDv7At returns the lowest UUIDv7 of a millisecond (RFC 9562 section 5.7).
func minUUIDv7At(at time.Time) uuid.UUID {
	var id uuid.UUID
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[8] = 0x70, 0x80
	return id
}
