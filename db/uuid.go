package db

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
)

// learnTypes teaches a connection our ids. pgx would take them for driver.Valuers, and each would be written as text and read again.
// Slices it would go through by reflection, or with an allocation for each element: array.go. The pool calls it in goroutines of its own.
func learnTypes(_ context.Context, c *pgx.Conn) (err error) {
	defer safe.RecoverTo(safe.Database, &err)
	m := c.TypeMap()
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapID, wrapSlice}, m.TryWrapEncodePlanFuncs...)
	return nil
}

// idPlan writes an id as pgx's own type.
type idPlan[T any] struct {
	next pgtype.EncodePlan
	of   func(T) uuid.UUID
}

// SetNext implements pgtype.WrappedEncodePlanNextSetter.
func (p *idPlan[T]) SetNext(next pgtype.EncodePlan) { p.next = next }

// Encode implements pgtype.EncodePlan.
func (p *idPlan[T]) Encode(value any, buf []byte) ([]byte, error) {
	id, _ := value.(T) // the plan was made for it
	return p.next.Encode(pgtype.UUID{Bytes: p.of(id), Valid: true}, buf)
}

type typedID interface{ ~struct{ uuid.UUID } }

func plan[T typedID](_ T) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	return &idPlan[T]{of: func(id T) uuid.UUID { return struct{ uuid.UUID }(id).UUID }}, pgtype.UUID{}, true
}

func wrapID(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	switch v := value.(type) {
	case uuid.UUID:
		return &idPlan[uuid.UUID]{of: func(id uuid.UUID) uuid.UUID { return id }}, pgtype.UUID{}, true
	case connectors.TenantID:
		return plan(v)
	case connectors.UserID:
		return plan(v)
	case connectors.ConnectorID:
		return plan(v)
	case connectors.AgentID:
		return plan(v)
	case connectors.CredentialID:
		return plan(v)
	case connectors.SyncRunID:
		return plan(v)
	case connectors.APIKeyID:
		return plan(v)
	case connectors.AgentTokenID:
		return plan(v)
	case connectors.ToolCallID:
		return plan(v)
	case connectors.InstanceID:
		return plan(v)
	}
	return nil, nil, false
}
