package toolcall

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

const (
	progressEvery = time.Second     // between two looks: a server may tell a thousand times in it
	progressTime  = 5 * time.Second // of one statement
	progressRows  = 1000            // of one statement
	mostSaid      = 300             // characters of what a server says in words
)

// progress is how far calls are, of which nothing is on record yet: the last word of each. The zero value works.
type progress struct {
	mu sync.Mutex
	of map[connectors.ToolCallID]soFar // guarded by mu
}

// soFar is how far one call is.
type soFar struct {
	view *access.View
	note mcp.ProgressNote
	task bool // it is what a task says, which has no number
}

// noteProgress has people see how far the call is. It is quick: what is told often is written now and then.
func (a *attempt) noteProgress(s soFar) {
	s.view = a.order.View
	p := &a.Caller.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[connectors.ToolCallID]soFar{}
	}
	p.of[a.call.ID] = s
}

// take empties it.
func (p *progress) take() map[connectors.ToolCallID]soFar {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.of
	p.of = nil
	return all
}

// again keeps a note for the next time, unless the server has told something since.
func (p *progress) again(id connectors.ToolCallID, s soFar) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[connectors.ToolCallID]soFar{}
	}
	if _, newer := p.of[id]; !newer {
		p.of[id] = s
	}
}

// noteProgressNowAndThen writes how far calls are, all in one statement, until the process stops.
func (c *Caller) noteProgressNowAndThen() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.saveProgress()
		case <-c.life.Done():
			return
		}
	}
}

// saveProgress writes what was told since the last time. The beginning of a call may not be on record yet, or its row be locked: while the
// call goes on, it is tried again.
func (c *Caller) saveProgress() {
	all := c.progress.take()
	if len(all) == 0 {
		return
	}
	calls := make([]store.OwnedCall, 0, len(all))
	for id, s := range all {
		calls = append(calls, store.OwnedCall{Tenant: s.view.Tenant.ID, ToolCall: connectors.ToolCall{ID: id, Progress: s.kept()}})
	}
	ctx, cancel := context.WithTimeout(c.life, progressTime)
	defer cancel()
	for batch := range slices.Chunk(calls, progressRows) {
		noted, err := c.o.Store.System().NoteProgress(ctx, batch)
		if err != nil && c.life.Err() == nil {
			c.o.Log.DebugContext(ctx, "progress of calls not noted", slog.Int("calls", len(batch)), slog.Any("error", err)) // the history warns
		}
		for _, id := range noted {
			delete(all, id)
		}
	}
	for id, s := range all {
		if c.runsHere(id) {
			c.progress.again(id, s)
		}
	}
}

func (c *Caller) runsHere(id connectors.ToolCallID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running[id] != nil
}

// kept is what the history keeps of it: the numbers, and the words as the tenant keeps contents.
func (s soFar) kept() *connectors.CallProgress {
	p := connectors.CallProgress{Total: s.note.Total}
	if !s.task {
		p.Done = &s.note.Progress
	}
	if raw, err := json.Marshal(s.note.Message); err == nil && s.note.Message != "" {
		_ = json.Unmarshal(kept(s.view, raw), &p.Message) // of what is not kept there is nothing
	}
	p.Message = firstOf(p.Message, mostSaid)
	return &p
}

// firstOf is the beginning of a text, most characters long.
func firstOf(s string, most int) string {
	for at := range s {
		if most--; most < 0 {
			return s[:at] + "…"
		}
	}
	return s
}
