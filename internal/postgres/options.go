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

// Options say where the cluster is and with what it runs.
type Options struct {
	Dir    string       // the data directory; the cluster lives below it
	Log    *slog.Logger // nil: silent
	BinDir string       // where initdb and postgres are; empty: $PATCHBAY_POSTGRES_BIN, else they are looked for

	// Throwaway is for tests: nothing is synced to disk, and a crash of the machine loses the cluster.
	Throwaway bool
	// Settings are added to PostgreSQL's command line.
	Settings map[string]string
}

func (o Options) complete() (Options, error) {
	if o.Dir == "" {
		return o, fault.Errorf(fault.Invalid, "The data directory has no name; set PATCHBAY_DATA_DIR.")
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

// flags is PostgreSQL's command line after -D.
func (o Options) flags(socketDir string) []string {
	settings := map[string]string{
		"listen_addresses":        "", // no port: the socket's directory is the lock
		"port":                    socketPort,
		"unix_socket_directories": socketDir,
		"unix_socket_permissions": "0700",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"jit":                     "off", // every query of ours is short
		"max_wal_size":            "512MB",
		"wal_init_zero":           "off", // its zeros were a fifth of PostgreSQL's time under many calls, until the first files are used again
		"log_checkpoints":         "off",
		"log_min_messages":        "warning",
		// A statement can hold what must not be in a log: only its SQLSTATE and message are written.
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
