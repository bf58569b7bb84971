package store

import "context"

// RecordAnything appends an entry of any kind and shape: the chain does not ask what an entry says.
func RecordAnything(ctx context.Context, t *Tenant, e Event) error {
	return insertEvent(ctx, t.q, t.id, e)
}
