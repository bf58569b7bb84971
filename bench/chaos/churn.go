package main

import (
	"context"
	"errors"
	"time"

	"patchbay/bench/churn"
)

// churnDelay is how long a process may take to hear of a change while it or PostgreSQL is cut off: it notices within a second that it hears
// nothing, trusts what it knows for another one, and the machine is busy.
const churnDelay = 5 * time.Second

// newChurn makes a tenant whose admins change connectors while its agents use them. It is at work from now until the load ends.
func (w *world) newChurn(ctx context.Context) error {
	_, err := w.command(ctx, "tenant", "create", "Churn", "--slug", "churn")
	key, keyErr := w.command(ctx, "apikey", "create", "--tenant", "churn", "--role", "owner", "--name", "churn")
	if err := errors.Join(err, keyErr); err != nil {
		return err
	}
	w.churn, err = churn.New(ctx, churn.Options{Base: w.front.base, Key: key, Admins: 3, Agents: 4, Delay: churnDelay, Outages: true})
	return err
}

// churnRows are what came of it.
func (w *world) churnRows() []row {
	rows := []row{
		{"acts of admins on connectors that agents use", int64(w.churned.Acts), -1},
		{"lists of these agents, each held against what its agent was granted", int64(w.churned.Lists), -1},
	}
	for _, kind := range churn.Kinds {
		rows = append(rows, row{"of these acts, lists and calls: " + kind, int64(w.churned.Wrong[kind]), 0})
	}
	return rows
}
