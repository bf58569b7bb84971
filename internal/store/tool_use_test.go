package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// toolUseAttempts are the outsider's at what agents use.
var toolUseAttempts = map[string]attempt{
	"Tools.Use": func(ctx context.Context, o outsider) (bool, error) {
		use, err := o.door.Tools().Use(ctx, o.agent.ID, time.Now().Add(-time.Hour))
		return len(use.Called)+len(use.New) > 0, err
	},
	"Tools.Learned": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.Door().Tools().AddLearned(ctx, []store.LearnedTerm{{ToolKey: store.ToolKey{ConnectorID: o.connector.ID, Tool: "search"}, Term: "find", Weight: 1}}); err != nil {
			return true, err
		}
		mine, err := o.door.Tools().Learned(ctx)
		return len(mine) > 0, err
	},
	"Tools.Vectors": func(ctx context.Context, o outsider) (bool, error) {
		hash := fixture.Definition("search").Hash
		if err := o.Door().Tools().SaveVectors(ctx, "model", map[connectors.Hash][]byte{hash: {1, 2}}); err != nil {
			return true, err
		}
		mine, err := o.door.Tools().Vectors(ctx, "model", []connectors.Hash{hash})
		return len(mine) > 0, err
	},
	"Tools.SaveVectors": func(ctx context.Context, o outsider) (bool, error) {
		hash := fixture.Definition("search").Hash
		err := o.door.Tools().SaveVectors(ctx, "mine", map[connectors.Hash][]byte{hash: {1, 2}})
		theirs, readErr := o.Door().Tools().Vectors(ctx, "mine", []connectors.Hash{hash})
		return len(theirs) > 0, errors.Join(err, readErr)
	},
	"Tools.AddLearned": func(ctx context.Context, o outsider) (bool, error) {
		err := o.door.Tools().AddLearned(ctx, []store.LearnedTerm{{ToolKey: store.ToolKey{ConnectorID: o.connector.ID, Tool: "search"}, Term: "mine", Weight: 1}})
		theirs, readErr := o.Door().Tools().Learned(ctx)
		return slices.ContainsFunc(theirs, func(l store.LearnedTerm) bool { return l.Term == "mine" }), errors.Join(err, readErr)
	},
}

var callIDs atomic.Uint64

// callIDAt returns an id of a time, to the millisecond. Ids of the same millisecond are in the order in which they were made.
func callIDAt(at time.Time) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16|0x7000) // version 7
	binary.BigEndian.PutUint64(id[8:], 1<<63|callIDs.Add(1))              // variant of RFC 9562
	return id
}

// callAt is a call that ended when it began, with an id of that time.
func callAt(w *fixture.World, a connectors.Agent, c connectors.Connector, tool string, at time.Time) store.OwnedCall {
	id := callIDAt(at)
	return store.OwnedCall{Tenant: w.Tenant, ToolCall: connectors.ToolCall{
		ID: connectors.ToolCallID{UUID: id}, AgentID: &a.ID, AgentSlug: a.Slug, ConnectorID: &c.ID, ConnectorSlug: c.Slug,
		Kind: connectors.CallTool, Tool: tool, ExposedName: tool, Source: connectors.SourceGateway, Status: connectors.CallSuccess,
		StartedAt: at, CompletedAt: &at,
	}}
}

func TestToolUseIsWhatAnAgentCalledSinceThen(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, other, c := w.Agent(t), w.Agent(t), w.Connector(t)
	w.Synced(t, c.ID, "search", "create")
	w.Grant(t, agent.ID, c.ID)
	now := time.Now().UTC().Truncate(time.Millisecond)
	since := now.Add(-30 * 24 * time.Hour)
	calls := []store.OwnedCall{
		callAt(w, agent, c, "search", now.Add(-time.Hour)), callAt(w, agent, c, "search", now), callAt(w, agent, c, "just_then", since),
		callAt(w, agent, c, "long_ago", since.Add(-time.Millisecond)), callAt(w, other, c, "create", now),
	}
	if err := w.St.System().Calls().EndCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	have, err := w.Door().Tools().Use(t.Context(), agent.ID, since)
	want := store.ToolUse{
		Called: map[store.ToolKey]store.CalledTool{{c.ID, "search"}: {2, now}, {c.ID, "just_then"}: {1, since}},
		New:    map[store.ToolKey]bool{{c.ID, "search"}: true, {c.ID, "create"}: true},
	}
	if diff := cmp.Diff(want, have); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if have, err = w.Door().Tools().Use(t.Context(), agent.ID, now.Add(time.Hour)); len(have.Called)+len(have.New) != 0 || err != nil {
		t.Errorf("in the time to come: %+v, %v", have, err)
	}
}

// What it costs to look through the calls of a busy agent.
func BenchmarkToolUseOfAHundredThousandCalls(b *testing.B) {
	w := fixture.New(b)
	agent, c := w.Agent(b), w.Connector(b)
	now := time.Now()
	for n := range 100 {
		var calls []store.OwnedCall
		for i := range 1000 {
			call := callAt(w, agent, c, fmt.Sprintf("tool_%d", i%52), now.Add(-time.Duration(1000*n+i)*time.Second))
			call.Arguments, call.Content = []byte(`{"query":"open bugs"}`), bytes.Repeat([]byte("what was found "), 40)
			calls = append(calls, call)
		}
		if err := w.St.System().Calls().EndCalls(b.Context(), calls); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if use, err := w.Door().Tools().Use(b.Context(), agent.ID, now.Add(-30*24*time.Hour)); err != nil || len(use.Called) != 52 {
			b.Fatal(use, err)
		}
	}
}
