package db

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// The head of an array in PostgreSQL's binary form (array_recv in arrayfuncs.c): dimensions, whether there are nulls, the elements' type;
// then of the one dimension its length and lower bound. Before each element stands its length.
const (
	arrayHead   = 20
	lengthField = 4
)

// epoch is PostgreSQL's, in microseconds of Unix.
const epoch = 946_684_800 * 1_000_000

// slicePlan writes a slice as an array.
type slicePlan[T any] struct {
	next pgtype.EncodePlan
	flat func([]T) any                   // what next writes
	oid  uint32                          // the elements' type that put is for
	put  func(v T, buf []byte) []byte    // appends one element behind its length
	null func(v T) bool                  // nil: none is
	room func(values []T) (elements int) // nil: grown as it comes

	asked bool
	ours  bool // an array of oid in binary form is wanted
}

// SetNext implements pgtype.WrappedEncodePlanNextSetter.
func (p *slicePlan[T]) SetNext(next pgtype.EncodePlan) { p.next = next }

// Encode implements pgtype.EncodePlan.
func (p *slicePlan[T]) Encode(value any, buf []byte) ([]byte, error) {
	values, _ := value.([]T) // the plan was made for it
	if values == nil {
		return nil, nil //nolint:nilnil // pgx's word for NULL
	}
	if !p.asked {
		if err := p.ask(); err != nil {
			return nil, err
		}
	}
	if !p.ours || len(values) == 0 {
		return p.next.Encode(p.flat(values), buf)
	}
	return p.append(values, buf), nil
}

// ask has pgx write an empty array, which says what is wanted. A connection has its own plans, and uses them one at a time.
func (p *slicePlan[T]) ask() error {
	empty, err := p.next.Encode(p.flat([]T{}), nil)
	if err != nil {
		return err
	}
	p.asked = true
	p.ours = len(empty) == arrayHead && binary.BigEndian.Uint64(empty) == 1<<32 && binary.BigEndian.Uint32(empty[8:]) == p.oid
	return nil
}

func (p *slicePlan[T]) append(values []T, buf []byte) []byte {
	if p.room != nil {
		buf = slices.Grow(buf, p.room(values))
	}
	nulls := len(buf) + 4
	buf = binary.BigEndian.AppendUint32(buf, 1)
	buf = binary.BigEndian.AppendUint32(buf, 0)
	buf = binary.BigEndian.AppendUint32(buf, p.oid)
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(values)))
	buf = binary.BigEndian.AppendUint32(buf, 1)
	for _, v := range values {
		at := len(buf)
		buf = append(buf, 0xff, 0xff, 0xff, 0xff)
		if p.null != nil && p.null(v) {
			binary.BigEndian.PutUint32(buf[nulls:], 1)
			continue
		}
		buf = p.put(v, buf)
		binary.BigEndian.PutUint32(buf[at:], uint32(len(buf)-at-lengthField))
	}
	return buf
}

// bytesRoom is what an array of contents takes: a buffer that holds megabytes is made once, and does not grow by copies. So the longest
// parameter of a statement is its last.
func bytesRoom(contents [][]byte) int {
	size := arrayHead
	for _, c := range contents {
		size += lengthField + len(c)
	}
	return size
}

func flat[T any](values []T) any { return pgtype.FlatArray[T](values) }

func wrapSlice(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	switch v := value.(type) {
	case []uuid.UUID:
		return &slicePlan[uuid.UUID]{oid: pgtype.UUIDOID, flat: func(ids []uuid.UUID) any { return uuids(ids) },
			put: func(id uuid.UUID, buf []byte) []byte { return append(buf, id[:]...) }}, uuids(v), true
	case [][]byte:
		return &slicePlan[[]byte]{oid: pgtype.ByteaOID, flat: flat[[]byte], room: bytesRoom, null: func(b []byte) bool { return b == nil },
			put: func(b, buf []byte) []byte { return append(buf, b...) }}, flat(v), true
	case []bool:
		return &slicePlan[bool]{oid: pgtype.BoolOID, flat: flat[bool], put: putBool}, flat(v), true
	case []string:
		return &slicePlan[string]{oid: pgtype.TextOID, flat: flat[string],
			put: func(s string, buf []byte) []byte { return append(buf, s...) }}, flat(v), true
	case []int64:
		return &slicePlan[int64]{oid: pgtype.Int8OID, flat: flat[int64],
			put: func(n int64, buf []byte) []byte { return binary.BigEndian.AppendUint64(buf, uint64(n)) }}, flat(v), true
	case []time.Time:
		return &slicePlan[time.Time]{oid: pgtype.TimestamptzOID, flat: flat[time.Time],
			put: func(t time.Time, buf []byte) []byte {
				return binary.BigEndian.AppendUint64(buf, uint64(t.UnixMicro()-epoch))
			}}, flat(v), true
	}
	return nil, nil, false
}

func putBool(v bool, buf []byte) []byte {
	if v {
		return append(buf, 1)
	}
	return append(buf, 0)
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
