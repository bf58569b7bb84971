package installation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"patchbay/internal/config"
	"patchbay/internal/fault"
	"patchbay/internal/postgres"
	"patchbay/internal/secret"
)

// readKeyset reads the key that wraps all others: from PATCHBAY_KEYSET, or from the file in the data directory,
// which the first embedded start creates.
func readKeyset(d config.Database) (secret.KEK, error) {
	if !d.Keyset.Empty() {
		return secret.ParseKEK(d.Keyset.Reveal())
	}
	_, err := os.Stat(d.KeysetFile())
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKeyset(d); err != nil {
			return secret.KEK{}, err
		}
	}
	return secret.ParseKEK("file:" + d.KeysetFile())
}

// makeKeyset writes a new key before the database exists. So a database without a key file has lost it: a new
// key would open nothing, and hide the loss until a credential is needed.
func makeKeyset(d config.Database) error {
	if postgres.Exists(d.DataDir) {
		return fault.Errorf(fault.Conflict, "%s is missing, and its database cannot be opened without it. Restore it from a backup, or set PATCHBAY_KEYSET.", d.KeysetFile())
	}
	kek, err := secret.NewKEK()
	if err != nil {
		return err
	}
	// Other users may pass through, because PostgreSQL's directory belongs to another user if the server runs
	// as root. They may not list.
	if err := os.MkdirAll(d.DataDir, 0o711); err != nil {
		return fault.Wrap(fault.Internal, err, "The data directory cannot be created")
	}
	err = writeFileOnce(d.KeysetFile(), []byte(kek.Encode()+"\n"))
	if err != nil && !errors.Is(err, fs.ErrExist) { // another command was faster: its key counts
		return fault.Wrap(fault.Internal, err, "The keyset cannot be written")
	}
	return nil
}

// writeFileOnce writes the whole content to path, or nothing: a key that a crash cut short would look like a
// wrong one. It returns fs.ErrExist if path exists.
func writeFileOnce(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	return os.Link(f.Name(), path)
}
