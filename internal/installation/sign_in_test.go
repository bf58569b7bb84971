package installation

import (
	"log/slog"
	"testing"

	"patchbay/db"
	"patchbay/internal/secret"
	"patchbay/internal/testing/pgtest"
)

func TestEmbeddedDatabase_UsedWithoutSuperuser(t *testing.T) {
	t.Parallel()
	kek, err := secret.NewKEK()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), Options{
		Route: EmbeddedRoute(pgtest.Empty(t)), Keys: NewLocalKeySource(kek), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	var user string
	var super bool
	err = d.Pool.QueryRow(t.Context(), "select session_user, rolsuper from pg_roles where rolname = session_user").Scan(&user, &super)
	if err != nil || user != db.AppRole || super {
		t.Errorf("the program signs in as %s, superuser %v, %v", user, super, err)
	}
}
