package installation

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/config"
	"patchbay/internal/secret"
)

func embedded(t *testing.T) config.Database {
	t.Helper()
	d, err := config.DatabaseFlags{DataDir: filepath.Join(t.TempDir(), "data")}.Check()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestKeyset_MadeOnceAtFirstStart(t *testing.T) {
	t.Parallel()
	d := embedded(t)
	var keys [8]string
	var starts sync.WaitGroup
	for i := range keys {
		starts.Go(func() {
			kek, err := readKeyset(d)
			if err != nil {
				t.Error(err)
			}
			keys[i] = kek.Encode()
		})
	}
	starts.Wait()
	for _, key := range keys {
		if key != keys[0] {
			t.Error("two commands that started at once have different keys")
		}
	}
	info, err := os.Stat(d.KeysetFile())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(d.DataDir, ".keyset-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestKeyset_EnvironmentWinsOverFile(t *testing.T) {
	t.Parallel()
	d := embedded(t)
	made, err := readKeyset(d)
	if err != nil {
		t.Fatal(err)
	}
	other, err := secret.NewKEK()
	if err != nil {
		t.Fatal(err)
	}
	d.Keyset = secret.Text(other.Encode())
	if have, err := readKeyset(d); err != nil || have.Encode() != other.Encode() || have.Encode() == made.Encode() {
		t.Errorf("have another key, %v", err)
	}
}

func TestKeyset_LostIsNotReplaced(t *testing.T) {
	t.Parallel()
	d := embedded(t)
	cluster := filepath.Join(d.DataDir, "postgres", "data")
	if err := os.MkdirAll(cluster, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cluster, "PG_VERSION"), []byte("17\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readKeyset(d); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("have %v", err)
	}
}
