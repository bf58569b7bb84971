package store

import "context"

// RecordAnything appends an entry of any kind and shape: the chain does not ask what an entry says.
func RecordAnything(ctx context.Context, t *Tenant, e Event) error {
	return insertEvent(ctx, t.q, t.id, e)
}

// WaitQueue is the queue of a store with an invented database.
type WaitQueue struct{ *waitQueue }

// NewWaitQueue makes one.
func NewWaitQueue(probe func(context.Context) error) WaitQueue { return WaitQueue{newWaitQueue(probe)} }

// Retry is Store.Retry.
func (q WaitQueue) Retry(ctx context.Context, b *WaitBudget, do func(context.Context) error) error {
	return q.run(ctx, b, do)
}

// Stats is Store.WaitStats.
func (q WaitQueue) Stats() WaitStats { return q.copyStats() }

// Close ends its goroutine.
func (q WaitQueue) Close() { q.close() }

// Classify is what becomes of an error of the database.
func Classify(err error) error { return classifyError(err) }
