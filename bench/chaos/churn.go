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

// Requests of package churn must succeed from recoveryTime after all processes are ready until the next fault.
// The load goes on for calmTime after the last recovery, so that there is such a time in each run.
const (
	recoveryTime = 2 * time.Second
	calmTime     = 4 * time.Second
)

// newChurn sets up the tenant of package churn.
func (w *world) newChurn(ctx context.Context) error {
	_, err := w.runCommand(ctx, "tenant", "create", "Churn", "--slug", "churn")
	key, keyErr := w.runCommand(ctx, "apikey", "create", "--tenant", "churn", "--role", "owner", "--name", "churn")
	if err := errors.Join(err, keyErr); err != nil {
		return err
	}
	w.churn, err = churn.New(ctx, churn.Options{Base: w.front.base, Key: key, Admins: 3, Agents: 4, Delay: churnDelay, Outages: &w.outages})
	return err
}

// endOutage ends the outage of the last faults if all processes get ready within d.
func (w *world) endOutage(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for _, r := range w.replicas {
		for !r.probeReady(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	w.outages.End(time.Now().Add(recoveryTime))
}

// waitCalm ends the last outage, and waits while requests of package churn must succeed.
func (w *world) waitCalm(ctx context.Context) {
	w.endOutage(ctx, recoveryTime)
	select {
	case <-ctx.Done():
	case <-time.After(recoveryTime + calmTime):
	}
}

// churnRows are its rows of the report.
func (w *world) churnRows() []reportRow {
	var rows []reportRow
	for _, kind := range churn.ActKinds() {
		rows = append(rows, reportRow{"acts of admins on connectors that agents use: " + kind, int64(w.churned.Acts[kind]), -1})
	}
	for _, kind := range churn.ListKinds() {
		rows = append(rows, reportRow{"lists of these agents, each held against what its agent was granted: " + kind, int64(w.churned.Lists[kind]), -1})
	}
	rows = append(rows, reportRow{"calls of these agents", int64(w.churned.Calls), -1},
		reportRow{"those that were to succeed, as no fault was near", int64(w.churned.JudgedCalls), -1})
	for _, kind := range churn.Kinds {
		rows = append(rows, reportRow{"of these acts, lists and calls: " + kind, int64(w.churned.Wrong[kind]), 0})
	}
	return rows
}
