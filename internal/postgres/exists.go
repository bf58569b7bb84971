package postgres

import "os"

// Exists reports whether a cluster was created below the data directory, running or not.
func Exists(dataDir string) bool {
	_, err := os.Stat(layout{dataDir}.versionFile())
	return err == nil
}
