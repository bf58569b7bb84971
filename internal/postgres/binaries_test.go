//go:build e2e

package postgres_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/postgres"
	"patchbay/internal/testing/executable"
)

// fakeBinaries is a directory with programs that only print a version.
func fakeBinaries(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + " (Debian " + version + "-1)'\n"
	for _, name := range []string{"postgres", "initdb"} {
		executable.Write(t, filepath.Join(dir, name), script)
	}
	return dir
}

func clusterOfMajor(t *testing.T, major string) string {
	t.Helper()
	dir := dataDir(t)
	data := filepath.Join(dir, "postgres/data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(major+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFindBinaries_PrefersClusterVersion(t *testing.T) {
	older, newer := fakeBinaries(t, "16.9"), fakeBinaries(t, "17.5")
	t.Setenv("PATCHBAY_POSTGRES_BIN", "")
	t.Setenv("PATH", newer+string(filepath.ListSeparator)+older)

	b, err := postgres.FindBinaries(t.Context(), dataDir(t), "")
	if err != nil || b.Dir != newer || b.Major != 17 {
		t.Errorf("for a new cluster: %+v, %v; want %s", b, err, newer)
	}
	b, err = postgres.FindBinaries(t.Context(), clusterOfMajor(t, "16"), "")
	if err != nil || b.Dir != older || b.Version != "16.9" {
		t.Errorf("for a cluster of version 16: %+v, %v; want %s", b, err, older)
	}
}

func TestFindBinaries_RefusesOtherClusterVersion(t *testing.T) {
	t.Parallel()
	dir := clusterOfMajor(t, "14")
	_, err := postgres.Start(t.Context(), throwaway(dir))
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "was created by PostgreSQL 14") {
		t.Errorf("start: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "postgres/data/PG_VERSION")); err != nil {
		t.Errorf("the cluster: %v", err)
	}
}

func TestFindBinaries_NamesTooOld(t *testing.T) {
	t.Parallel()
	_, err := postgres.FindBinaries(t.Context(), dataDir(t), fakeBinaries(t, "14.2"))
	if !errors.Is(err, postgres.ErrNoBinaries) || !strings.Contains(err.Error(), "is 14.2; Patchbay needs 15 or newer") {
		t.Errorf("error: %v", err)
	}
}

func TestFindBinaries_NamesEmptyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := postgres.FindBinaries(t.Context(), dataDir(t), dir)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "PATCHBAY_POSTGRES_BIN is "+dir) {
		t.Errorf("error: %v", err)
	}
}
