package postgres

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/fault"
)

// minMajor is the oldest PostgreSQL that the schema supports.
const minMajor = 15

// Binaries is a directory with PostgreSQL's programs.
type Binaries struct {
	Dir     string
	Major   int
	Version string // as "15.14"
}

func (b Binaries) programPath(program string) string { return filepath.Join(b.Dir, program) }

// ErrNoBinaries says what to do without an installed PostgreSQL.
var ErrNoBinaries = fault.Errorf(fault.Unavailable,
	"No PostgreSQL %d or newer was found on this machine. Install its server (Debian and Ubuntu: apt install postgresql; Fedora: dnf install postgresql-server; "+
		"macOS: brew install postgresql@17), set PATCHBAY_POSTGRES_BIN to its location, or use your own database with DATABASE_URL.", minMajor)

// FindBinaries returns the programs for the cluster of the data directory: those of its major version, or else
// the first ones found. With binDir there is no search.
func FindBinaries(ctx context.Context, dataDir, binDir string) (Binaries, error) {
	major, err := layout{dataDir}.findMajor()
	if err != nil {
		return Binaries{}, err
	}
	dirs := []string{binDir}
	if binDir == "" {
		dirs = candidateDirs()
	}
	found := inspectAll(ctx, dirs)
	usable := slices.DeleteFunc(slices.Clone(found), func(b Binaries) bool { return b.Major < minMajor })
	switch {
	case len(found) == 0 && binDir != "":
		return Binaries{}, fault.Errorf(fault.Unavailable, "PATCHBAY_POSTGRES_BIN is %s, which has no working initdb and postgres.", binDir)
	case major == 0 && len(usable) == 0 && len(found) > 0:
		return Binaries{}, fault.Wrap(fault.Unavailable, ErrNoBinaries, fmt.Sprintf(
			"The PostgreSQL in %s is %s; Patchbay needs %d or newer.", found[0].Dir, found[0].Version, minMajor))
	case major == 0 && len(usable) == 0:
		return Binaries{}, ErrNoBinaries
	case major == 0:
		return usable[0], nil
	}
	for _, b := range found {
		if b.Major == major {
			return b, nil
		}
	}
	return Binaries{}, otherMajor(dataDir, major, found)
}

// otherMajor refuses a cluster of a version that is not installed.
func otherMajor(dataDir string, major int, found []Binaries) error {
	have := "no PostgreSQL is"
	if len(found) > 0 {
		have = "only PostgreSQL " + found[0].Version + " is"
	}
	return fault.Errorf(fault.Unavailable,
		"The database in %s was created by PostgreSQL %d, and %s installed here. Install PostgreSQL %d, or set PATCHBAY_POSTGRES_BIN; nothing was changed.",
		dataDir, major, have, major)
}

func inspectAll(ctx context.Context, dirs []string) []Binaries {
	var found []Binaries
	seen := map[string]bool{}
	for _, dir := range dirs {
		// A link such as /usr/local/bin/postgres leads to the directory with the libraries and templates.
		program, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err != nil || seen[program] {
			continue
		}
		seen[program] = true
		if b, ok := inspectDir(ctx, filepath.Dir(program)); ok {
			found = append(found, b)
		}
	}
	return found
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[^\s]*)`)

func inspectDir(ctx context.Context, dir string) (Binaries, bool) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return Binaries{}, false
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return Binaries{}, false
	}
	match := versionLine.FindStringSubmatch(string(out))
	if match == nil {
		return Binaries{}, false
	}
	major, err := strconv.Atoi(match[2])
	return Binaries{Dir: dir, Major: major, Version: match[1]}, err == nil
}

// candidateDirs lists the directories to search: PATH first, then those of packages, newest version first, then
// that of scripts/get-postgres.
func candidateDirs() []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	dirs = append(dirs, newestFirst("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*")...)
	if runtime.GOOS == "darwin" {
		dirs = append(dirs, newestFirst("/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin")...)
		dirs = append(dirs, "/Applications/Postgres.app/Contents/Versions/latest/bin")
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if home, err := os.UserHomeDir(); cache == "" && err == nil {
		cache = filepath.Join(home, ".cache")
	}
	dirs = append(dirs, newestFirst("/var/cache/patchbay/postgres/*/bin")...)
	if cache != "" {
		dirs = append(dirs, newestFirst(filepath.Join(cache, "patchbay/postgres/*/bin"))...)
	}
	return dirs
}

var digits = regexp.MustCompile(`\d+`)

// newestFirst expands each pattern and sorts by the numbers in the paths, highest first.
func newestFirst(patterns ...string) []string {
	var all []string
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		slices.SortFunc(paths, func(a, b string) int {
			return cmp.Or(slices.Compare(pathNumbers(b), pathNumbers(a)), strings.Compare(a, b))
		})
		all = append(all, paths...)
	}
	return all
}

func pathNumbers(path string) []int {
	var ns []int
	for _, text := range digits.FindAllString(path, -1) {
		if n, err := strconv.Atoi(text); err == nil {
			ns = append(ns, n)
		}
	}
	return ns
}
