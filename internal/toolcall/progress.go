package toolcall

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

const (
	progressInterval = time.Second     // servers may send thousands of notifications in between
	progressTimeout  = 5 * time.Second // of one statement
	maxProgressRows  = 1000            // of one statement
	maxProgressText  = 300             // characters
)

// progressSaver saves the progress of running calls.
type progressSaver struct {
	o       *Options
	running *runningCalls
	queue   progressQueue
}

// progressQueue holds the latest unsaved progress of each call. The zero value works.
type progressQueue struct {
	mu     sync.Mutex
	byCall map[connectors.ToolCallID]callProgress // guarded by mu
}

// callProgress is the progress of one call.
type callProgress struct {
	view     *agentview.View
	note     mcp.ProgressNotification
	noNumber bool   // from a task's state, and no notification had one before
	task     []byte // state of the task; nil: not stored
}

// queueProgress queues a notification.
func (p *progressSaver) queueProgress(a *activeCall, note mcp.ProgressNotification) {
	a.lastNote.Store(&note)
	p.queue.addProgress(a.call.ID, callProgress{view: a.request.View, note: note})
}

// queueTask queues the state of a task. It has a message and no number: the last notification's stays.
func (p *progressSaver) queueTask(a *activeCall, t *mcp.Task) {
	s := callProgress{view: a.request.View, note: mcp.ProgressNotification{Message: t.Message}, noNumber: true, task: a.request.trimTask(t)}
	if last := a.lastNote.Load(); last != nil {
		s.note.Progress, s.note.Total, s.noNumber = last.Progress, last.Total, false
		s.note.Message = cmp.Or(t.Message, last.Message)
	}
	p.queue.addProgress(a.call.ID, s)
}

func (p *progressQueue) addProgress(id connectors.ToolCallID, s callProgress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byCall == nil {
		p.byCall = map[connectors.ToolCallID]callProgress{}
	}
	if s.task == nil {
		s.task = p.byCall[id].task
	}
	p.byCall[id] = s
}

func (p *progressQueue) takeAll() map[connectors.ToolCallID]callProgress {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.byCall
	p.byCall = nil
	return all
}

// requeueProgress queues progress again, unless there is newer one.
func (p *progressQueue) requeueProgress(id connectors.ToolCallID, s callProgress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byCall == nil {
		p.byCall = map[connectors.ToolCallID]callProgress{}
	}
	if _, exists := p.byCall[id]; !exists {
		p.byCall[id] = s
	}
}

// saveProgress saves the queue, in a loop. A call's row may not exist yet or be locked: a running call is retried.
func (p *progressSaver) saveProgress(ctx context.Context) {
	all := p.queue.takeAll()
	if len(all) == 0 {
		return
	}
	defer func() { // after a panic too
		for id, s := range all {
			if p.running.isRunning(id) {
				p.queue.requeueProgress(id, s)
			}
		}
	}()
	calls := make([]store.OwnedCall, 0, len(all))
	for id, s := range all {
		calls = append(calls, store.OwnedCall{Tenant: s.view.Tenant.ID, ToolCall: connectors.ToolCall{ID: id, Progress: s.toRecord(), Task: s.task}})
	}
	saveCtx, cancel := context.WithTimeout(ctx, progressTimeout)
	defer cancel()
	for batch := range slices.Chunk(calls, maxProgressRows) {
		saved, err := p.o.Store.System().Calls().NoteProgress(saveCtx, batch)
		if err != nil && ctx.Err() == nil {
			p.o.Log.DebugContext(ctx, "call progress not recorded", slog.Int("calls", len(batch)), slog.Any("error", err)) // the history logs the outage
		}
		for _, id := range saved {
			delete(all, id)
		}
	}
}

// toRecord is the history's form: numbers, and the message as far as the tenant stores contents.
func (s callProgress) toRecord() *connectors.CallProgress {
	p := connectors.CallProgress{Total: s.note.Total}
	if !s.noNumber {
		p.Done = &s.note.Progress
	}
	if raw, err := json.Marshal(s.note.Message); err == nil && s.note.Message != "" {
		_ = json.Unmarshal(trimForHistory(s.view, raw), &p.Message) // dropped contents leave no message
	}
	p.Message = truncateText(p.Message, maxProgressText)
	return &p
}

func truncateText(s string, maxChars int) string {
	for offset := range s {
		if maxChars--; maxChars < 0 {
			return s[:offset] + "…"
		}
	}
	return s
}

// sentProgress is the progress of a call that its client got. Its numbers must increase (MCP, "Progress"). They count the states
// of a task, until the server sends a higher number of its own. The zero value works.
type sentProgress struct {
	mu       sync.Mutex // guards the fields below, and keeps the order of what is sent
	states   int        // sent
	hasNotes bool       // the server's numbers are sent
	last     float64
}

// sendNote sends the server's notification. After states, a number that does not increase is left out.
func (p *sentProgress) sendNote(send func(json.RawMessage), note mcp.ProgressNotification) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.states > 0 && note.Progress <= p.last {
		return
	}
	p.hasNotes, p.last = true, note.Progress
	send(progressParams(note))
}

// sendState sends a task's state, unless the server's own progress is sent.
func (p *sentProgress) sendState(send func(json.RawMessage), message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hasNotes {
		return
	}
	p.last = float64(p.states)
	p.states++
	send(progressParams(mcp.ProgressNotification{Progress: p.last, Message: message}))
}
