//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// recorder keeps every answer of one host, headers included.
type recorder struct {
	host string

	mu   sync.Mutex // guards seen
	seen map[string]string
}

func newRecorder(host string) *recorder { return &recorder{host: host, seen: map[string]string{}} }

// RoundTrip sends the request and keeps its answer.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := localTransport.RoundTrip(req)
	if err != nil || req.URL.Host != r.host {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	r.keep(fmt.Sprintf("%s %s (%d)", req.Method, req.URL.Path, res.StatusCode), fmt.Sprint(res.Header)+string(body))
	return res, nil
}

func (r *recorder) keep(where, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[fmt.Sprintf("%s, answer %d", where, len(r.seen))] = text
}

// dump is every row of every table of a database as JSON, by the table's name; bytea stands in it as hex.
func dump(t *testing.T, database string) map[string]string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	tables, _ := conn.Query(t.Context(), `select format('%I.%I', schemaname, tablename) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`)
	names, err := pgx.CollectRows(tables, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		rows, _ := conn.Query(t.Context(), "select coalesce(string_agg(row_to_json(t)::text, e'\\n'), '') from "+name+" t")
		if all[name], err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
