package postgres

import "os"

// Exists tells whether a cluster was made below the data directory, running or not.
func Exists(dataDir string) bool {
	_, err := os.Stat(layout{dataDir}.versionFile())
	return err == nil
}
