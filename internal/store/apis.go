package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Document reads the document of an HTTP API. It fails with NotFound if none is stored.
func (t APIs) Document(ctx context.Context, id connectors.ConnectorID) (connectors.APIDocument, error) {
	row, err := t.q.APIDocument(ctx, t.id, id)
	d := connectors.APIDocument{IsFetched: row.IsFetched, ETag: row.Etag, Body: row.Body, Size: len(row.Body), ReadAt: row.ReadAt.UTC(), Seen: row.Seen}
	copy(d.Hash[:], row.Hash)
	return d, rowError(err, "document")
}

// DocumentInfo is [APIs.Document] without the body.
func (t APIs) DocumentInfo(ctx context.Context, id connectors.ConnectorID) (connectors.APIDocument, error) {
	row, err := t.q.APIDocumentInfo(ctx, t.id, id)
	d := connectors.APIDocument{IsFetched: row.IsFetched, ETag: row.Etag, Size: int(row.Size), ReadAt: row.ReadAt.UTC(), Seen: row.Seen}
	copy(d.Hash[:], row.Hash)
	return d, rowError(err, "document")
}

// SetSeen stores the operations that a person has seen, by key. It fails with NotFound without a document.
func (t APIs) SetSeen(ctx context.Context, id connectors.ConnectorID, keys []string) error {
	n, err := t.q.SetSeenOperations(ctx, keys, t.id, id)
	return affectedError(n, err, "document")
}

// SaveDocument replaces the document of an HTTP API.
func (t APIs) SaveDocument(ctx context.Context, id connectors.ConnectorID, d connectors.APIDocument) error {
	hash := sha256.Sum256(d.Body)
	err := t.q.PutAPIDocument(ctx, dbgen.PutAPIDocumentParams{
		TenantID: t.id, ConnectorID: id, IsFetched: d.IsFetched, Etag: d.ETag, Hash: hash[:], Body: d.Body,
	})
	return classifyError(err)
}

// RefreshDocument replaces the document of an HTTP API with what was fetched. It fails with NotFound if another has
// replaced the old one meanwhile.
func (t APIs) RefreshDocument(ctx context.Context, id connectors.ConnectorID, old [sha256.Size]byte, d connectors.APIDocument) error {
	hash := sha256.Sum256(d.Body)
	n, err := t.q.RefreshAPIDocument(ctx, dbgen.RefreshAPIDocumentParams{
		TenantID: t.id, ConnectorID: id, OldHash: old[:], Etag: d.ETag, Hash: hash[:], Body: d.Body,
	})
	return affectedError(n, classifyError(err), "document")
}

// Tools lists the tools of an HTTP API, by key.
func (t APIs) Tools(ctx context.Context, id connectors.ConnectorID) ([]connectors.APITool, error) {
	rows, err := t.q.APITools(ctx, t.id, id)
	tools := make([]connectors.APITool, len(rows))
	for i, r := range rows {
		tools[i] = connectors.APITool{Key: r.Key, Endpoint: r.Endpoint, Name: r.Name, Filter: r.Filter, MaxPages: int(r.MaxPages), Scopes: r.Scopes}
		if r.Annotations != nil {
			if err := json.Unmarshal(r.Annotations, &tools[i].Annotations); err != nil {
				return nil, fmt.Errorf("annotations of %q: %w", r.Key, err)
			}
		}
	}
	return tools, err
}

// Scopes lists the scopes of OAuth that the picked operations of an HTTP API need.
func (t APIs) Scopes(ctx context.Context, id connectors.ConnectorID) ([]string, error) {
	return t.q.APIScopes(ctx, t.id, id)
}

// SaveTools adds tools of an HTTP API, or replaces those with the same keys.
func (t APIs) SaveTools(ctx context.Context, id connectors.ConnectorID, tools []connectors.APITool) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		err := tx.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
			for _, tool := range tools {
				row := dbgen.PutAPIToolParams{
					TenantID: tx.id, ConnectorID: id, Key: tool.Key, Endpoint: tool.Endpoint, Filter: tool.Filter, MaxPages: int32(tool.MaxPages), //nolint:gosec // at most 20
					Scopes: append([]string{}, tool.Scopes...), Name: tool.Name,
				}
				if tool.Annotations != nil {
					row.Annotations, _ = json.Marshal(tool.Annotations) // a map of booleans always marshals
				}
				if err := q.PutAPITool(ctx, row); err != nil {
					return err
				}
			}
			return nil
		})
		return classifyError(err)
	})
}

// NameTools stores names of picked operations, by key, unless they have one.
func (t APIs) NameTools(ctx context.Context, id connectors.ConnectorID, names map[string]string) error {
	keys := slices.Sorted(maps.Keys(names))
	values := make([]string, len(keys))
	for i, key := range keys {
		values[i] = names[key]
	}
	_, err := t.q.NameAPITools(ctx, dbgen.NameAPIToolsParams{TenantID: t.id, ConnectorID: id, Keys: keys, Names: values})
	return classifyError(err)
}

// RemoveTools removes tools of an HTTP API, by key, and returns how many there were.
func (t APIs) RemoveTools(ctx context.Context, id connectors.ConnectorID, keys []string) (int, error) {
	n, err := t.q.DeleteAPITools(ctx, t.id, id, keys)
	return int(n), err
}
