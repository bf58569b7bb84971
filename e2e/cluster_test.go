//go:build e2e

package e2e_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"patchbay/db"
	"patchbay/internal/postgres"
)

// migrated is a stopped cluster with the migrations, which installations copy: it saves most of their first start.
var migrated struct {
	once sync.Once
	dir  string
	err  error
}

func makeMigrated() error {
	dir, err := os.MkdirTemp(memory(), "pb-e2e-cluster-")
	if err != nil {
		return err
	}
	migrated.dir = dir
	ctx := context.Background()
	cluster, err := postgres.Start(ctx, postgres.Options{Dir: dir})
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx, cluster.URL(), slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	return cluster.Stop(ctx)
}

// copyCluster gives an installation without a database a copy of the migrated cluster, and a keyset: a cluster without
// one is refused.
func (h *home) copyCluster() {
	h.t.Helper()
	into := filepath.Join(h.data(), "postgres")
	hasDatabase := slices.ContainsFunc(h.env, func(e string) bool { return strings.HasPrefix(e, "DATABASE_URL=") })
	if _, err := os.Stat(into); err == nil || hasDatabase {
		return
	}
	migrated.once.Do(func() { migrated.err = makeMigrated() })
	if migrated.err != nil {
		h.t.Fatal(migrated.err)
	}
	if err := os.MkdirAll(h.data(), 0o711); err != nil { //nolint:gosec // PostgreSQL's user passes through
		h.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", filepath.Join(migrated.dir, "postgres"), into).CombinedOutput(); err != nil {
		h.t.Fatalf("copy the cluster: %v: %s", err, out)
	}
	if slices.ContainsFunc(h.env, func(e string) bool { return strings.HasPrefix(e, "PATCHBAY_KEYSET=") }) {
		return
	}
	if err := os.WriteFile(filepath.Join(h.data(), "keyset"), []byte(h.run("keys", "new")), 0o600); err != nil {
		h.t.Fatal(err)
	}
}
