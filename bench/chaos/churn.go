package main

import (
	"context"
	"errors"
	"time"

	"patchbay/bench/churn"
)

// churnDelay bounds how late a process sees a change during an outage: one second to notice, one of maxStale,
// and a busy machine.
const churnDelay = 5 * time.Second

// newChurn sets up the tenant of package churn.
func (w *world) newChurn(ctx context.Context) error {
	_, err := w.runCommand(ctx, "tenant", "create", "Churn", "--slug", "churn")
	key, keyErr := w.runCommand(ctx, "apikey", "create", "--tenant", "churn", "--role", "owner", "--name", "churn")
	if err := errors.Join(err, keyErr); err != nil {
		return err
	}
	w.churn, err = churn.New(ctx, churn.Options{Base: w.front.base, Key: key, Admins: 3, Agents: 4, Delay: churnDelay, Outages: true})
	return err
}

// churnRows are its rows of the report.
func (w *world) churnRows() []reportRow {
	rows := []reportRow{
		{"acts of admins on connectors that agents use", int64(w.churned.Acts), -1},
		{"lists of these agents, each held against what its agent was granted", int64(w.churned.Lists), -1},
	}
	for _, kind := range churn.Kinds {
		rows = append(rows, reportRow{"of these acts, lists and calls: " + kind, int64(w.churned.Wrong[kind]), 0})
	}
	return rows
}
