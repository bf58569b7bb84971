package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"patchbay/db"
	"patchbay/internal/postgres"
)

// copyCluster copies a cluster with the templates into dir, so that a test binary needs neither initdb nor the
// migrations. The first binary makes it, in the user's cache directory; it is made again for other migrations or
// another PostgreSQL. Without a cache directory it does nothing.
func copyCluster(ctx context.Context, dir string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil // the server then begins with initdb
	}
	parent := filepath.Join(cache, "patchbay")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil
	}
	binaries, err := postgres.FindBinaries(ctx, dir, os.Getenv("PATCHBAY_POSTGRES_BIN"))
	if err != nil {
		return err
	}
	unlock, err := lockFile(filepath.Join(parent, "test-cluster.lock"))
	if err != nil {
		return fmt.Errorf("lock the test cluster: %w", err)
	}
	defer unlock()
	made := filepath.Join(parent, "test-cluster-"+strings.ReplaceAll(binaries.Version, " ", "_")+"-"+db.Fingerprint()+"-"+resetFingerprint())
	if _, err := os.Stat(made); err != nil {
		if err := makeCluster(ctx, parent, made); err != nil {
			return err
		}
	}
	into := filepath.Join(dir, "postgres")
	if err := os.Mkdir(into, 0o700); err != nil {
		return err
	}
	return copyTree(ctx, made, filepath.Join(into, "data"))
}

// makeCluster makes the cluster and removes the old ones.
func makeCluster(ctx context.Context, parent, made string) error {
	old, _ := filepath.Glob(filepath.Join(parent, "test-cluster-*"))
	for _, path := range old {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp(memory(), "patchbay-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cluster, err := startCluster(ctx, dir)
	if err != nil {
		return err
	}
	s, err := connectServer(cluster.URL())
	if err == nil {
		_, err = s.resettableTemplate(ctx)
		s.pool.Close()
		close(s.drops)
	}
	if stopErr := cluster.Stop(ctx); err == nil {
		err = stopErr
	}
	if err != nil {
		return fmt.Errorf("make the test cluster: %w", err)
	}
	unfinished := made + ".new"
	if err := copyTree(ctx, filepath.Join(dir, "postgres", "data"), unfinished); err != nil {
		return err
	}
	return os.Rename(unfinished, made)
}

// lockFile waits for the lock of a file, which other processes may hold.
func lockFile(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}

func copyTree(ctx context.Context, from, to string) error {
	if out, err := exec.CommandContext(ctx, "cp", "-a", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
}
