package db_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/testing/pgtest"
)

func TestSlicesReachPostgreSQLAsPgxWouldSendThem(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	ours, theirs := pgtest.Open(t, address, db.PoolOptions{}), connect(t, address)
	noon := time.Date(2026, 11, 21, 12, 0, 0, 123_456_789, time.FixedZone("", 3600))
	for _, c := range []struct {
		as    string
		value any
	}{
		{"uuid[]", []uuid.UUID{uuid.Max, uuid.Nil}},
		{"uuid[]", []uuid.UUID{}},
		{"uuid[]", []uuid.UUID(nil)},
		{"bytea[]", [][]byte{[]byte("a"), nil, {}, {0, 255}}},
		{"bytea[]", [][]byte{}},
		{"bytea[]", [][]byte(nil)},
		{"boolean[]", []bool{true, false}},
		{"text[]", []string{"", "NULL", `a "quoted" {one}, ü`}},
		{"text[]", []string{}},
		{"text[]", []string(nil)},
		{"varchar[]", []string{"a", ""}},
		{"name[]", []string{"a"}},
		{"jsonb", []string{"a", "b"}},
		{"bigint[]", []int64{-1 << 63, -1, 0, 1<<63 - 1}},
		{"integer[]", []int64{-1, 7}},
		{"numeric[]", []int64{-1, 7}},
		{"timestamptz[]", []time.Time{noon, {}, time.Unix(0, 0), time.Date(1999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)}},
		{"timestamp[]", []time.Time{noon.UTC()}},
		{"date[]", []time.Time{noon.UTC()}},
	} {
		query := "select coalesce($1::" + c.as + "::text, 'null')"
		for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec} {
			var got, want string
			wantErr := theirs.QueryRow(t.Context(), query, mode, c.value).Scan(&want)
			for range 2 { // the second goes by what was learnt at the first
				gotErr := ours.QueryRow(t.Context(), query, mode, c.value).Scan(&got)
				if got != want || (gotErr == nil) != (wantErr == nil) {
					t.Errorf("%v as %s, mode %v: %s, %v; pgx sends %s, %v", c.value, c.as, mode, got, gotErr, want, wantErr)
				}
			}
		}
	}
}
