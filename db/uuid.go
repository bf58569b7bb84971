package db

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"patchbay/internal/connectors"
)

// learnTypes teaches a connection our ids. pgx would take them for driver.Valuers, and each would be written as text and read again;
// and it would go through slices by reflection.
func learnTypes(_ context.Context, c *pgx.Conn) error {
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

// slicePlan writes a slice as an array that pgx goes through without reflection.
type slicePlan struct {
	next pgtype.EncodePlan
	of   func(any) any
}

// SetNext implements pgtype.WrappedEncodePlanNextSetter.
func (p *slicePlan) SetNext(next pgtype.EncodePlan) { p.next = next }

// Encode implements pgtype.EncodePlan.
func (p *slicePlan) Encode(value any, buf []byte) ([]byte, error) {
	if contents, ok := value.([][]byte); ok {
		buf = slices.Grow(buf, roomFor(contents))
	}
	return p.next.Encode(p.of(value), buf)
}

// roomFor is what an array takes in PostgreSQL's format, with something for the values behind it: a buffer that holds megabytes is
// made once, and does not grow by copies.
func roomFor(contents [][]byte) int {
	const head, length = 20, 4
	size := head
	for _, c := range contents {
		size += length + len(c)
	}
	return size + size/8
}

func wrapSlice(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	var of func(any) any
	switch value.(type) {
	case []uuid.UUID:
		of = func(v any) any { return uuids(as[[]uuid.UUID](v)) }
	case [][]byte:
		of = func(v any) any { return pgtype.FlatArray[[]byte](as[[][]byte](v)) }
	case []bool:
		of = func(v any) any { return pgtype.FlatArray[bool](as[[]bool](v)) }
	case []string:
		of = func(v any) any { return pgtype.FlatArray[string](as[[]string](v)) }
	case []int64:
		of = func(v any) any { return pgtype.FlatArray[int64](as[[]int64](v)) }
	case []time.Time:
		of = func(v any) any { return pgtype.FlatArray[time.Time](as[[]time.Time](v)) }
	default:
		return nil, nil, false
	}
	return &slicePlan{of: of}, of(value), true
}

// as is the type that a plan was made for.
func as[T any](v any) T {
	t, _ := v.(T)
	return t
}

// uuids is an array of PostgreSQL's.
type uuids []uuid.UUID

// Dimensions implements pgtype.ArrayGetter.
func (u uuids) Dimensions() []pgtype.ArrayDimension {
	if u == nil {
		return nil
	}
	return []pgtype.ArrayDimension{{Length: int32(len(u)), LowerBound: 1}}
}

// Index implements pgtype.ArrayGetter.
func (u uuids) Index(i int) any { return pgtype.UUID{Bytes: u[i], Valid: true} }

// IndexType implements pgtype.ArrayGetter.
func (u uuids) IndexType() any { return pgtype.UUID{} }
