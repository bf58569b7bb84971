package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Vectors reads the embeddings of definitions by a model. Definitions without one are missing.
func (t Tools) Vectors(ctx context.Context, model string, hashes []connectors.Hash) (map[connectors.Hash][]byte, error) {
	rows, err := t.q.ToolVectors(ctx, t.id, model, hashKeys(hashes))
	if err != nil {
		return nil, err
	}
	vectors := make(map[connectors.Hash][]byte, len(rows))
	for _, r := range rows {
		vectors[*toHash(r.DefinitionHash)] = r.Vector
	}
	return vectors, nil
}

// SaveVectors stores embeddings of definitions by a model, and deletes those by other models. Deleted definitions are left
// out.
func (t Tools) SaveVectors(ctx context.Context, model string, vectors map[connectors.Hash][]byte) error {
	add := dbgen.AddToolVectorsParams{TenantID: t.id, Model: model}
	for hash, vector := range vectors {
		add.Hashes, add.Vectors = append(add.Hashes, hash[:]), append(add.Vectors, vector)
	}
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.DeleteOtherVectors(ctx, t.id, add.Hashes, model); err != nil {
			return classifyError(err)
		}
		return classifyError(tx.q.AddToolVectors(ctx, add))
	})
}
