package db

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations returns the embedded migrations, one file each at the root.
func Migrations() fs.FS {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the directory is embedded above
	}
	return sub
}

// Version is the number of the newest embedded migration.
func Version() int64 { return slices.Max(Versions()) }

// Versions are the numbers of the embedded migrations, oldest first.
func Versions() []int64 { return migrationNumbers(Migrations()) }

// migrationNumbers returns the numbers of migrations, oldest first.
func migrationNumbers(migrations fs.FS) []int64 {
	var all []int64
	for _, name := range migrationNames(migrations) {
		number, _, _ := strings.Cut(name, "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic("migration without a number: " + name)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// Fingerprint is a short hash of everything that Migrate brings: two databases of the same fingerprint have the same
// schema. Tests name their template databases by it.
func Fingerprint() string {
	sum := sha256.New()
	for _, name := range migrationNames(Migrations()) {
		text, err := fs.ReadFile(Migrations(), name)
		if err != nil {
			panic(err) // embedded
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	fmt.Fprintf(sum, "river %d grants %d", jobsVersion(), grantsVersion)
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

func migrationNames(migrations fs.FS) []string {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		panic(err) // the pattern is constant
	}
	return names
}

// jobsVersion is the newest of the job queue's own migrations.
func jobsVersion() int64 {
	migrator, err := rivermigrate.New(riverpgxv5.New(nil), nil)
	if err != nil {
		panic(err) // no input of ours
	}
	all := migrator.AllVersions()
	return int64(all[len(all)-1].Version)
}
