package archtest_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"patchbay/internal/safe"
)

const (
	threatsFile      = "../../docs/security.md"
	architectureFile = "../../docs/architecture.md"
)

var (
	namedPackage = regexp.MustCompile("^`([a-z0-9/]+)` ")
	namedTest    = regexp.MustCompile(`\bTest[A-Z]\w*`)
)

// TestEveryTestOfTheThreatListIsThere holds each row of docs/security.md to tests that exist, in the packages that it says.
func TestEveryTestOfTheThreatListIsThere(t *testing.T) {
	t.Parallel()
	rows := 0
	for n, line := range strings.Split(read(t, threatsFile), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[3]) == "shown by" {
			if named := namedTest.FindString(line); named != "" {
				t.Errorf("line %d names %s outside a row of threat, place and tests", n+1, named)
			}
			continue
		}
		rows++
		wantTests(t, "line "+strconv.Itoa(n+1), cells[3])
	}
	if rows < 30 {
		t.Errorf("%d rows can be read", rows)
	}
}

// TestEveryKindOfPanicHasATest holds the table of docs/architecture.md to the kinds of package safe, and to tests that exist.
func TestEveryKindOfPanicHasATest(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(read(t, architectureFile), "\n## Panics\n")
	for _, kind := range safe.Kinds() {
		_, row, found := strings.Cut(section, "\n| "+kind.String()+" | ")
		row, _, _ = strings.Cut(row, "\n")
		if cells := strings.Split(row, "|"); found && len(cells) == 3 {
			wantTests(t, kind.String(), cells[1])
			continue
		}
		t.Errorf("no row shows a panic of the kind %s", kind)
	}
}

// wantTests wants the tests to exist that a cell of a row names, by their packages.
func wantTests(t *testing.T, row, cell string) {
	t.Helper()
	for part := range strings.SplitSeq(strings.TrimSpace(cell), "; ") {
		pkg := namedPackage.FindStringSubmatch(part)
		tests := namedTest.FindAllString(part, -1)
		if pkg == nil || len(tests) == 0 {
			t.Errorf("%s: %q is no package with its tests", row, part)
			continue
		}
		for _, name := range tests {
			if !hasTest(t, pkg[1], name) {
				t.Errorf("%s: there is no %s in %s", row, name, pkg[1])
			}
		}
	}
}

func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.Contains(read(t, file), "\nfunc "+name+"(t ") {
			return true
		}
	}
	return false
}
