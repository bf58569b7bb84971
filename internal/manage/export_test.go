package manage

import "patchbay/internal/connectors"

// HoldPreviews takes all places of a tenant for previews.
func (r *Registry) HoldPreviews(t connectors.TenantID) (release func()) {
	held := 0
	for r.previews.TryAcquire(t) {
		held++
	}
	return func() {
		for range held {
			r.previews.Release(t)
		}
	}
}
