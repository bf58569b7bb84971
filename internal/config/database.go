package config

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

const defaultDataDir = "./data"

// DatabaseFlags select the database and its keyset. Every command that reads the database has them.
type DatabaseFlags struct {
	URL         string `name:"database-url" env:"DATABASE_URL" placeholder:"URL" help:"PostgreSQL 15 or newer. Unset: embedded, in the data directory."`
	Pooler      string `name:"database-pooler" env:"PATCHBAY_DATABASE_POOLER" placeholder:"auto|none|transaction" help:"Whether the database URL points to a pooler such as PgBouncer: auto, none, or transaction (each transaction may use another session). Unset: auto."`
	DirectURL   string `name:"database-direct-url" env:"PATCHBAY_DATABASE_DIRECT_URL" placeholder:"URL" help:"The same database without the pooler, for migrations and notifications. Unset: notifications are polled, and patchbay migrate needs another DATABASE_URL."`
	DataDir     string `name:"data-dir" env:"PATCHBAY_DATA_DIR" placeholder:"DIR" default:"./data" help:"Directory of the call journal, and of the embedded PostgreSQL and its keyset (${default})."`
	Keyset      string `name:"keyset" env:"PATCHBAY_KEYSET" placeholder:"KEY" help:"32 random bytes in base64, file:PATH, or a KMS: aws-kms://ARN, hcvault://HOST/transit/keys/NAME. Wraps all other keys. Required with a database URL; otherwise created in the data directory at the first start."`
	PostgresBin string `name:"postgres-bin" env:"PATCHBAY_POSTGRES_BIN" placeholder:"DIR" help:"Directory of PostgreSQL's programs, if not found automatically."`
}

// Database is the checked form of DatabaseFlags.
type Database struct {
	URL         secret.Text // empty: embedded; it can contain a password
	DirectURL   secret.Text // past the pooler at URL; empty: unknown
	Pooler      string      // "none" or "transaction"; empty: detected
	DataDir     string      // absolute
	Keyset      secret.Text // base64, file:PATH or the URI of a KMS; empty: the file in DataDir
	PostgresBin string      // empty: searched for
}

// Embedded reports whether the database is the embedded PostgreSQL in the data directory.
func (d Database) Embedded() bool { return d.URL.Empty() }

// KeysetFile is the keyset that the first embedded start creates.
func (d Database) KeysetFile() string { return filepath.Join(d.DataDir, "keyset") }

// Check checks the flags. It accesses no file but a PATCHBAY_POSTGRES_BIN directory, which has to exist.
func (f DatabaseFlags) Check() (Database, error) {
	var c fieldErrors
	d := f.checkInto(&c)
	if f.URL != "" && f.Keyset == "" {
		c.addField("PATCHBAY_KEYSET", "must be set together with DATABASE_URL. Create one with `patchbay keys new` and store it safely: encrypted data cannot be read without it.")
	}
	return d, c.asFault()
}

// CheckSchema checks the flags for a command that opens nothing sealed: migrations need no keyset.
func (f DatabaseFlags) CheckSchema() (Database, error) {
	var c fieldErrors
	d := f.checkInto(&c)
	return d, c.asFault()
}

func (f DatabaseFlags) checkInto(c *fieldErrors) Database {
	d := Database{
		URL:         secret.Text(f.URL),
		DirectURL:   secret.Text(f.DirectURL),
		Keyset:      secret.Text(f.Keyset),
		PostgresBin: f.PostgresBin,
	}
	if f.URL != "" && !isPostgresURL(f.URL) {
		// The sentence omits the value, which can contain a password.
		c.addField("DATABASE_URL", "must look like postgres://user:password@host:5432/database.")
	}
	d.Pooler = c.checkPooler(f)
	if f.PostgresBin != "" && !isDir(f.PostgresBin) {
		c.addField("PATCHBAY_POSTGRES_BIN", "must be a directory with PostgreSQL's programs; %s has none.", f.PostgresBin)
	}
	dir, err := filepath.Abs(orDefault(f.DataDir, defaultDataDir))
	if err != nil {
		c.addField("PATCHBAY_DATA_DIR", "must be a directory; the path %q cannot be resolved.", f.DataDir)
	}
	d.DataDir = dir
	return d
}

// checkPooler checks the settings of a pooler.
func (c *fieldErrors) checkPooler(f DatabaseFlags) string {
	switch {
	case f.URL == "" && f.DirectURL != "":
		c.addField("DATABASE_URL", "must be set with PATCHBAY_DATABASE_DIRECT_URL, for the same database.")
	case f.DirectURL != "" && !isPostgresURL(f.DirectURL):
		c.addField("PATCHBAY_DATABASE_DIRECT_URL", "must look like postgres://user:password@host:5432/database.")
	}
	switch {
	case f.URL == "":
		return "none" // the embedded database has no pooler
	case f.Pooler == "" || f.Pooler == "auto":
		return ""
	case f.Pooler != "none" && f.Pooler != "transaction":
		c.addField("PATCHBAY_DATABASE_POOLER", "must be auto, none or transaction, not %q.", f.Pooler)
	}
	return f.Pooler
}

func isPostgresURL(raw string) bool {
	if strings.Contains(raw, "\x00") {
		return false
	}
	u, err := url.Parse(raw)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql")
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// fieldErrors collects the errors of one group of settings, so that a person can fix all of them at once.
type fieldErrors struct{ fields []fault.Field }

func (c *fieldErrors) addField(variable, format string, args ...any) {
	sentence := fault.Errorf(fault.Invalid, format, args...).Message
	c.fields = append(c.fields, fault.Field{Location: variable, Message: variable + " " + sentence})
}

func (c *fieldErrors) asFault() error { return fault.InvalidFields(c.fields...) }
