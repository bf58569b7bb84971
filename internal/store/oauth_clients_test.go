package store_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// blocked waits until some connection of the database waits for a lock.
func blocked(t *testing.T, w *fixture.World) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.URL) // superuser: sees what other roles wait for
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	look, patience := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer look.Stop()
	for waiting := 0; waiting == 0; {
		err := conn.QueryRow(t.Context(), `
			select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-look.C:
		case <-patience:
			t.Fatal("nobody waits for a lock")
		}
	}
}

// A connection that is being started opens the secret that an admin is just replacing.
func TestClientSecret_NewSecretWinsOverBinding(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, vault := withClient(t, w), w.St.Vault(w.Tenant)
	if err := w.Door().Connectors().SetClientSecret(t.Context(), c, "mistyped"); err != nil {
		t.Fatal(err)
	}
	used := make(chan error, 1)
	err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		if err := tx.Connectors().SetClientSecret(t.Context(), c, "right"); err != nil {
			return err
		}
		go func() {
			_, err := vault.ClientSecret(context.WithoutCancel(t.Context()), c, issuer)
			used <- err
		}()
		blocked(t, w)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-used; !fault.Is(err, fault.Conflict) {
		t.Errorf("the old one was used: %v", err)
	}
	if s, err := vault.ClientSecret(t.Context(), c, issuer); err != nil || s.Reveal() != "right" {
		t.Errorf("stored is %q, %v", s.Reveal(), err)
	}
}

func TestClientSecretFits_DoesNotBind(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, vault := withClient(t, w), w.St.Vault(w.Tenant)
	if err := vault.ClientSecretFits(t.Context(), c, issuer); !fault.Is(err, fault.NotFound) {
		t.Errorf("of none: %v", err)
	}
	if err := w.Door().Connectors().SetClientSecret(t.Context(), c, "s3cret"); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{issuer, "https://other.example.com"} {
		if err := vault.ClientSecretFits(t.Context(), c, other); err != nil {
			t.Errorf("before its first use, for %s: %v", other, err)
		}
	}
	if _, err := vault.ClientSecret(t.Context(), c, issuer); err != nil {
		t.Fatal(err)
	}
	if err := vault.ClientSecretFits(t.Context(), c, "https://other.example.com"); !fault.Is(err, fault.Conflict) {
		t.Errorf("for another issuer than its own: %v", err)
	}
}

func TestAConnectorsFlowsAreForgottenTogether(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, other := w.Connector(t), w.Connector(t)
	for serial, of := range map[byte]connectors.Connector{1: c, 2: c, 3: other} {
		if err := w.Door().Accounts().SaveFlow(t.Context(), newFlow(of, serial)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Door().Accounts().DeleteFlows(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	for serial, kept := range map[byte]bool{1: false, 2: false, 3: true} {
		_, err := w.St.System().Sessions().TakeFlow(t.Context(), bytes.Repeat([]byte{serial}, 32))
		if kept != (err == nil) || err != nil && !fault.Is(err, fault.NotFound) {
			t.Errorf("flow %d: %v", serial, err)
		}
	}
}
