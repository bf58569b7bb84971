package store

import (
	"context"

	"patchbay/internal/connectors"
)

// Definitions reads definitions by their hashes, as the upstream sent them; an unknown hash has no entry. A sync asks for
// those that were accepted and have now changed, and for no others.
func (t *Tenant) Definitions(ctx context.Context, hashes []connectors.Hash) (map[connectors.Hash][]byte, error) {
	rows, err := t.q.Definitions(ctx, t.id, hashKeys(hashes))
	if err != nil {
		return nil, err
	}
	raws := make(map[connectors.Hash][]byte, len(rows))
	for _, r := range rows {
		raws[*hashOf(r.Hash)] = r.Raw
	}
	return raws, nil
}

// DefinitionsWithin is Definitions for a page: those that together have more than [MaxPageBytes] are left out.
func (t *Tenant) DefinitionsWithin(ctx context.Context, hashes []connectors.Hash) (map[connectors.Hash][]byte, error) {
	rows, err := t.q.DefinitionsWithin(ctx, MaxPageBytes, t.id, hashKeys(hashes))
	if err != nil {
		return nil, err
	}
	raws := make(map[connectors.Hash][]byte, len(rows))
	for _, r := range rows {
		raws[*hashOf(r.Hash)] = r.Raw
	}
	return raws, nil
}

func hashKeys(hashes []connectors.Hash) [][]byte {
	keys := make([][]byte, len(hashes))
	for i := range hashes {
		keys[i] = hashes[i][:]
	}
	return keys
}
