//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ownerConnection looks at the database as its owner, through whatever happens to it.
type ownerConnection struct {
	t   *testing.T
	url string
}

func (o *ownerConnection) do(fn func(tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(o.t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, o.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		return fn(tx)
	})
}

func (o *ownerConnection) exec(statement string, args ...any) {
	o.t.Helper()
	if err := o.do(func(tx pgx.Tx) error { _, err := tx.Exec(o.t.Context(), statement, args...); return err }); err != nil {
		o.t.Fatal(err)
	}
}

// column is what a query of one column of texts finds.
func (o *ownerConnection) column(query string, args ...any) []string {
	o.t.Helper()
	var found []string
	if err := o.do(func(tx pgx.Tx) error {
		rows, err := tx.Query(o.t.Context(), query, args...)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}); err != nil {
		o.t.Fatal(err)
	}
	return found
}

// agrees holds the answers to queries against what is wanted.
func (o *ownerConnection) agrees(want map[string]int) error {
	return o.do(func(tx pgx.Tx) error {
		for query, n := range want {
			var got int
			if err := tx.QueryRow(o.t.Context(), query).Scan(&got); err != nil {
				return err
			}
			if got != n {
				return fmt.Errorf("%s: %d, want %d", query, got, n)
			}
		}
		return nil
	})
}

// waitsForStandby has each commit wait until the standby has it, too, as where nothing may be lost.
func (o *ownerConnection) waitsForStandby() {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, o.url)
	if err != nil {
		o.t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, statement := range []string{"alter system set synchronous_standby_names = '*'", "select pg_reload_conf()"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			o.t.Fatal(err)
		}
	}
	eventually(o.t, func() error {
		return o.agrees(map[string]int{"select count(*) from pg_stat_replication where sync_state = 'sync'": 1})
	})
}

// killPostgreSQL ends it as a crash does: nothing of it has time to say anything.
func (o *ownerConnection) killPostgreSQL() {
	o.t.Helper()
	data := o.column("show data_directory")
	killPostmaster(o.t, data[0])
}

// killPostmaster ends the PostgreSQL of a data directory.
func killPostmaster(t *testing.T, data string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
