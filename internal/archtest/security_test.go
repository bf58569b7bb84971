package archtest_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const threatsFile = "../../docs/security.md"

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
		for part := range strings.SplitSeq(strings.TrimSpace(cells[3]), "; ") {
			pkg := namedPackage.FindStringSubmatch(part)
			tests := namedTest.FindAllString(part, -1)
			if pkg == nil || len(tests) == 0 {
				t.Errorf("line %d: %q is no package with its tests", n+1, part)
				continue
			}
			for _, name := range tests {
				if !hasTest(t, pkg[1], name) {
					t.Errorf("line %d: there is no %s in %s", n+1, name, pkg[1])
				}
			}
		}
	}
	if rows < 30 {
		t.Errorf("%d rows can be read", rows)
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
