//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
)

// revocations counts the deleted accounts that wait for their authorization server, and makes them due.
func (w *connecting) revocations(conn *pgx.Conn) (n int) {
	w.t.Helper()
	err := conn.QueryRow(w.t.Context(), `
		with due as (update account_revocations set due_at = now() returning 1)
		select count(*) from due`).Scan(&n)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

// The authorization server hangs when the connector is deleted, and until the process is killed.
func TestDeletedAccountIsRevokedAfterAKill(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.connector("/mcp")
	w.connect("", "ann@example.com")
	if n := w.as.counts()["live_refresh_tokens"]; n != 1 {
		t.Fatalf("%d live refresh tokens", n)
	}
	conn, err := pgx.Connect(t.Context(), w.database) // one for all: it is asked forty times a second
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	w.as.pull("hold")
	w.c.must(http.StatusNoContent, http.MethodDelete, "/api/v1/connectors/notes", nil)
	if n := w.revocations(conn); n != 1 {
		t.Fatalf("%d revocations", n)
	}
	w.held(1)
	w.s.kill()
	w.held(0) // else the request would be served after its client has gone
	w.as.pull("release")
	if n := w.as.counts()["revocation"]; n != 0 {
		t.Fatalf("%d revocations before the restart", n)
	}

	w.serve()
	eventually(t, func() error {
		if n := w.revocations(conn); n != 0 {
			return fmt.Errorf("%d revocations are left", n)
		}
		return nil
	})
	counts := w.as.counts()
	if counts["revocation"] != 1 || counts["live_refresh_tokens"] != 0 {
		t.Errorf("counts = %v", counts)
	}
}
