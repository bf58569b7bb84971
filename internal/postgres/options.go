package postgres

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"patchbay/internal/fault"
)

// The cluster's only login role and its only database.
const (
	ownerRole    = "patchbay"
	databaseName = "patchbay"
)

// Options configure a cluster.
type Options struct {
	Dir    string       // the data directory, the cluster's parent
	Log    *slog.Logger // nil: silent
	BinDir string       // has initdb and postgres; empty: $PATCHBAY_POSTGRES_BIN, or else a search

	// Throwaway is for tests: fsync is off, and a crash of the machine loses the cluster.
	Throwaway bool
	// Settings are added to PostgreSQL's command line.
	Settings map[string]string
}

func (o Options) withDefaults() (Options, error) {
	if o.Dir == "" {
		return o, fault.Errorf(fault.Invalid, "PATCHBAY_DATA_DIR is not set.")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fault.Wrap(fault.Internal, err, "The data directory's path cannot be resolved.")
	}
	o.Dir = dir
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.BinDir == "" {
		o.BinDir = os.Getenv("PATCHBAY_POSTGRES_BIN")
	}
	return o, nil
}

// commandLineFlags are PostgreSQL's arguments after -D.
func (o Options) commandLineFlags(socketDir string) []string {
	settings := map[string]string{
		"listen_addresses":        "", // no port: the socket's directory has the permissions
		"port":                    socketPort,
		"unix_socket_directories": socketDir,
		"unix_socket_permissions": "0700",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"jit":                     "off", // every query of Patchbay is short
		"max_wal_size":            "512MB",
		"wal_init_zero":           "off", // until the first files are reused, writing zeros took a fifth of PostgreSQL's time under many calls
		"log_checkpoints":         "off",
		"log_min_messages":        "warning",
		// A statement can contain secrets: only its SQLSTATE and message are logged.
		"log_min_error_statement": "panic",
		"log_error_verbosity":     "terse",
	}
	if o.Throwaway {
		for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit", "autovacuum"} {
			settings[name] = "off"
		}
		settings["wal_level"] = "minimal"
		settings["max_wal_senders"] = "0"
	}
	maps.Copy(settings, o.Settings)
	var args []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}
