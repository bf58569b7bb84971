package main

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

// keyset reads the key that wraps all others: from PATCHBAY_KEYSET, else from the file in the data directory, which the
// first embedded start makes.
func keyset(d config.Database) (secret.KEK, error) {
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

// makeKeyset writes a new key. It comes before the database, so that a database without it has lost it: a new key would
// open nothing there, and hide the loss until the first credential is needed.
func makeKeyset(d config.Database) error {
	if postgres.Exists(d.DataDir) {
		return fault.Errorf(fault.Conflict, "%s is gone, and the database beside it cannot be opened without it. Restore it from a backup, or set PATCHBAY_KEYSET.", d.KeysetFile())
	}
	kek, err := secret.NewKEK()
	if err != nil {
		return err
	}
	// Others may pass through to PostgreSQL's directory, which another user owns where we are root; nobody may look around.
	if err := os.MkdirAll(d.DataDir, 0o711); err != nil {
		return fault.Wrap(fault.Internal, err, "The data directory cannot be made")
	}
	err = writeOnce(d.KeysetFile(), []byte(kek.Encode()+"\n"))
	if err != nil && !errors.Is(err, fs.ErrExist) { // another command was faster: its key counts
		return fault.Wrap(fault.Internal, err, "The keyset cannot be written")
	}
	return nil
}

// writeOnce puts the whole content at path, or nothing: a key that is cut short by a crash would look like a wrong one.
// It is fs.ErrExist where path is there already.
func writeOnce(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // 0600
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
