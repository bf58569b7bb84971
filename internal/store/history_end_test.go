package store_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// historyWorld has a connector that an agent may use, and what ends the answers of that agent.
type historyWorld struct {
	*fixture.World
	agent     connectors.Agent
	connector connectors.Connector
}

func newHistoryWorld(t *testing.T) historyWorld {
	t.Helper()
	w := fixture.New(t)
	h := historyWorld{w, w.Agent(t), w.Connector(t)}
	w.Grant(t, h.agent.ID, h.connector.ID)
	return h
}

func (h historyWorld) keepAnswer(ctx context.Context, door *store.Tenant) error {
	mail := newMail(h.agent, store.ResultBox+"1")
	mail.Connector = h.connector.ID
	return door.Calls().PutMail(ctx, mail)
}

func (h historyWorld) learnTerm(ctx context.Context, door *store.Tenant) error {
	return door.Tools().AddLearned(ctx, []store.LearnedTerm{{ToolKey: store.ToolKey{ConnectorID: h.connector.ID, Tool: "search"}, Term: "find", Weight: 1}})
}

func (h historyWorld) disableAgent(ctx context.Context, door *store.Tenant) error {
	disabled := h.agent
	disabled.Enabled = false
	_, err := door.Agents().Update(ctx, disabled)
	return err
}

func (h historyWorld) endHistory(ctx context.Context, door *store.Tenant) error {
	return door.SetCallSettings(ctx, connectors.HistoryNone, connectors.ReadersEveryone, time.Minute)
}

// TestHistoryEnd_MeetsWrites lets the end and a write meet in both orders. Nothing may be stored after both.
func TestHistoryEnd_MeetsWrites(t *testing.T) {
	t.Parallel()
	type step func(historyWorld, context.Context, *store.Tenant) error
	for name, c := range map[string]struct {
		write, end step
		table      string
		kind       fault.Kind // of a write after the end; zero: none
	}{
		"an answer, the agent is disabled": {historyWorld.keepAnswer, historyWorld.disableAgent, "gateway_mail", fault.NotFound},
		"an answer, the history ends":      {historyWorld.keepAnswer, historyWorld.endHistory, "gateway_mail", fault.NotFound},
		"a term, the history ends":         {historyWorld.learnTerm, historyWorld.endHistory, "search_terms", 0},
	} {
		for order, first := range map[string]bool{"the write is first": true, "the end is first": false} {
			t.Run(name+", "+order, func(t *testing.T) {
				t.Parallel()
				h := newHistoryWorld(t)
				open, late := c.end, c.write
				if first {
					open, late = c.write, c.end
				}
				done := make(chan error, 1)
				err := h.Door().Tx(t.Context(), func(tx *store.Tenant) error {
					if err := open(h, t.Context(), tx); err != nil {
						return err
					}
					go func() { done <- late(h, context.WithoutCancel(t.Context()), h.Door()) }()
					blocked(t, h.World)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := <-done; first && err != nil || !first && c.kind == 0 && err != nil || !first && c.kind != 0 && !fault.Is(err, c.kind) {
					t.Errorf("the second: %v", err)
				}
				if n := h.Count(t, c.table); n != 0 {
					t.Errorf("%d rows are left", n)
				}
			})
		}
	}
}

func TestPutMail_CountsTheAnswersOfATenantOnce(t *testing.T) {
	t.Parallel()
	h := newHistoryWorld(t)
	keep := func() error {
		mail := newMail(h.agent, store.ResultBox+"1")
		mail.Connector, mail.AnswerBytes = h.connector.ID, 1
		return h.Door().Calls().PutMail(t.Context(), mail)
	}
	if err := keep(); err != nil {
		t.Fatal(err)
	}
	h.AsSystem(t, "delete from gateway_mail", nil)
	if err := keep(); !fault.Is(err, fault.RateLimited) {
		t.Errorf("within the minute the tenant's answers are counted again: %v", err)
	}
}
