package store

import (
	"context"

	"patchbay/internal/connectors"
)

// Definitions reads definitions by hash, as the upstream sent them. Unknown hashes have no entry.
func (t Tools) Definitions(ctx context.Context, hashes []connectors.Hash) (map[connectors.Hash][]byte, error) {
	rows, err := t.q.Definitions(ctx, t.id, hashKeys(hashes))
	if err != nil {
		return nil, err
	}
	raws := make(map[connectors.Hash][]byte, len(rows))
	for _, r := range rows {
		raws[*toHash(r.Hash)] = r.Raw
	}
	return raws, nil
}

// DefinitionsWithin is [Tools.Definitions] for a page: definitions beyond [MaxPageBytes] in total are left
// out.
func (t Tools) DefinitionsWithin(ctx context.Context, hashes []connectors.Hash) (map[connectors.Hash][]byte, error) {
	rows, err := t.q.DefinitionsWithin(ctx, MaxPageBytes, t.id, hashKeys(hashes))
	if err != nil {
		return nil, err
	}
	raws := make(map[connectors.Hash][]byte, len(rows))
	for _, r := range rows {
		raws[*toHash(r.Hash)] = r.Raw
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
