package archtest_test

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const threatsFile = "../../docs/security.md"

var (
	namedPackage = regexp.MustCompile("^`([a-z0-9/]+)` ")
	namedTest    = regexp.MustCompile(`\bTest[A-Z]\w*`)
)

// TestEveryTestOfTheThreatListIsThere checks that each threat of docs/security.md has a line of tests, and that these tests exist.
// A threat begins with "- **", its line of tests with a package in backticks.
func TestEveryTestOfTheThreatListIsThere(t *testing.T) {
	t.Parallel()
	threats, tested := 0, true
	for n, line := range strings.Split(read(t, threatsFile)+"\n## ", "\n") {
		where := "line " + strconv.Itoa(n+1)
		if strings.HasPrefix(line, "  `") {
			tested = true
			wantTests(t, where, line)
			continue
		}
		if named := namedTest.FindString(line); named != "" {
			t.Errorf("%s names %s outside a line of tests", where, named)
		}
		threat := strings.HasPrefix(line, "- **")
		if !tested && (threat || strings.HasPrefix(line, "## ")) {
			t.Errorf("%s: the threat before it has no test", where)
		}
		if threat {
			threats, tested = threats+1, false
		}
	}
	if threats < 100 {
		t.Errorf("%d threats can be read", threats)
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

// hasTest reports whether the package has the test. The path may leave out internal/.
func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	for _, dir := range []string{pkg, "internal/" + pkg} {
		files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(dir), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.Contains(read(t, file), "\nfunc "+name+"(t ") {
				return true
			}
		}
	}
	return false
}
