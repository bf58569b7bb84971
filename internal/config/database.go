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

// DatabaseFlags say where the data is and which keyset opens it. Every command that reads the database has them.
type DatabaseFlags struct {
	URL         string `name:"database-url" env:"DATABASE_URL" placeholder:"URL" help:"PostgreSQL 15 or newer. Unset: an embedded one in the data directory."`
	Pooler      string `name:"database-pooler" env:"PATCHBAY_DATABASE_POOLER" placeholder:"auto|none|transaction" help:"Whether a pooler as PgBouncer stands at the database URL: transaction, where each transaction may have another session. Unset: auto, it is found out."`
	DirectURL   string `name:"database-direct-url" env:"PATCHBAY_DATABASE_DIRECT_URL" placeholder:"URL" help:"The same database past the pooler, for migrating and for listening. Without it notices are polled for, and patchbay migrate needs another DATABASE_URL."`
	DataDir     string `name:"data-dir" env:"PATCHBAY_DATA_DIR" placeholder:"DIR" default:"./data" help:"Where the journal of calls is kept, and the embedded PostgreSQL with its keyset (${default})."`
	Keyset      string `name:"keyset" env:"PATCHBAY_KEYSET" placeholder:"KEY" help:"32 random bytes in base64, file:PATH, or the KMS that holds them: aws-kms://ARN, hcvault://HOST/transit/keys/NAME. It wraps all other keys. Required with a database URL; else made in the data directory at the first start."`
	PostgresBin string `name:"postgres-bin" env:"PATCHBAY_POSTGRES_BIN" placeholder:"DIR" help:"The directory with PostgreSQL's own programs, where they are not found by themselves."`
}

// Database is where the data is, checked.
type Database struct {
	URL         secret.Text // empty: embedded; it can hold a password
	DirectURL   secret.Text // past the pooler at URL; empty: not known
	Pooler      string      // "none" or "transaction"; empty: it is found out
	DataDir     string      // absolute
	Keyset      secret.Text // base64, file:PATH or the URI of a KMS; empty: the file in DataDir
	PostgresBin string      // empty: searched for
}

// Embedded tells whether the database is our own PostgreSQL in the data directory.
func (d Database) Embedded() bool { return d.URL.Empty() }

// KeysetFile is the keyset that the first embedded start makes.
func (d Database) KeysetFile() string { return filepath.Join(d.DataDir, "keyset") }

// Check reads the flags. It touches no file but a PATCHBAY_POSTGRES_BIN directory, which has to exist.
func (f DatabaseFlags) Check() (Database, error) {
	var c checker
	d := f.check(&c)
	if f.URL != "" && f.Keyset == "" {
		c.refuse("PATCHBAY_KEYSET", "must be set together with DATABASE_URL: `patchbay keys new` prints one. Keep it: nothing else opens what it sealed.")
	}
	return d, c.err()
}

// CheckSchema reads the flags for a command that opens nothing sealed: whoever migrates a database need not have its
// keyset.
func (f DatabaseFlags) CheckSchema() (Database, error) {
	var c checker
	d := f.check(&c)
	return d, c.err()
}

func (f DatabaseFlags) check(c *checker) Database {
	d := Database{
		URL:         secret.Text(f.URL),
		DirectURL:   secret.Text(f.DirectURL),
		Keyset:      secret.Text(f.Keyset),
		PostgresBin: f.PostgresBin,
	}
	if f.URL != "" && !isPostgresURL(f.URL) {
		// The value is left out of the sentence: it can hold a password.
		c.refuse("DATABASE_URL", "must look like postgres://user:password@host:5432/database.")
	}
	d.Pooler = c.pooler(f)
	if f.PostgresBin != "" && !isDir(f.PostgresBin) {
		c.refuse("PATCHBAY_POSTGRES_BIN", "must be a directory with PostgreSQL's programs; there is none at %s.", f.PostgresBin)
	}
	dir, err := filepath.Abs(or(f.DataDir, defaultDataDir))
	if err != nil {
		c.refuse("PATCHBAY_DATA_DIR", "must be a directory; %q cannot be made absolute.", f.DataDir)
	}
	d.DataDir = dir
	return d
}

// pooler checks what is said about a pooler.
func (c *checker) pooler(f DatabaseFlags) string {
	switch {
	case f.URL == "" && f.DirectURL != "":
		c.refuse("DATABASE_URL", "must be set together with PATCHBAY_DATABASE_DIRECT_URL, which leads to the same database.")
	case f.DirectURL != "" && !isPostgresURL(f.DirectURL):
		c.refuse("PATCHBAY_DATABASE_DIRECT_URL", "must look like postgres://user:password@host:5432/database.")
	}
	switch {
	case f.URL == "":
		return "none" // the embedded database has none
	case f.Pooler == "" || f.Pooler == "auto":
		return ""
	case f.Pooler != "none" && f.Pooler != "transaction":
		c.refuse("PATCHBAY_DATABASE_POOLER", "must be auto, none or transaction, and is %q.", f.Pooler)
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

func or(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// checker gathers the complaints about one group of settings, so that a person mends all of them at once.
type checker struct{ fields []fault.Field }

func (c *checker) refuse(variable, format string, args ...any) {
	sentence := fault.Errorf(fault.Invalid, format, args...).Message
	c.fields = append(c.fields, fault.Field{Location: variable, Message: variable + " " + sentence})
}

func (c *checker) err() error { return fault.InvalidFields(c.fields...) }
