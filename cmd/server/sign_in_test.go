package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"patchbay/db"
	"patchbay/internal/installation"
	"patchbay/internal/secret"
	"patchbay/internal/testing/pgtest"
)

func TestEmbeddedDatabase_UsedWithoutSuperuser(t *testing.T) {
	t.Parallel()
	kek, err := secret.NewKEK()
	if err != nil {
		t.Fatal(err)
	}
	d, err := installation.Open(t.Context(), installation.Options{
		Route: installation.EmbeddedRoute(pgtest.Empty(t)), Keys: installation.NewLocalKeySource(kek), Log: slog.New(slog.DiscardHandler),
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

func TestDoctor_NamesSuperuserLogin(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	app, err := db.LetAppSignIn(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{url: "which bypasses row-level security", app: "OK       database role  signs in as patchbay_app"} {
		var said bytes.Buffer
		e := &doctorReport{out: commandIO{stdout: &said}}
		e.checkLogin(t.Context(), pgtest.Open(t, address, db.PoolOptions{MaxConns: 1}))
		if !strings.Contains(said.String(), want) || e.problems > 0 {
			t.Errorf("%s", said.String())
		}
	}
}
