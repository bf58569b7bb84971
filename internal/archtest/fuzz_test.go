package archtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var fuzzTest = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9_]+)\(`)

// A fuzz test without seeds begins anew on each machine. A comment says what it asserts.
func TestEveryFuzzTestHasInputsAndAComment(t *testing.T) {
	t.Parallel()
	targets := fuzzTests(t, "../..")
	if len(targets) < 60 {
		t.Fatalf("%d fuzz tests are found", len(targets))
	}
	for name, dir := range targets {
		inputs, err := os.ReadDir(filepath.Join(dir, "testdata", "fuzz", filepath.Base(name)))
		hasSeeds := anyTestFile(t, dir, func(text string) bool { return strings.Contains(text, "f.Add(") })
		if (err != nil || len(inputs) == 0) && !hasSeeds {
			t.Errorf("%s has no inputs: add seeds, or keep those of a run that reach more code, below testdata/fuzz", name)
		}
		comment := regexp.MustCompile(`(?m)^// .*\nfunc ` + filepath.Base(name) + `\(`)
		if !anyTestFile(t, dir, comment.MatchString) {
			t.Errorf("%s has no comment that says what it asserts", name)
		}
	}
}

func TestInputsOfFuzzTestsAreSmallAndTheirs(t *testing.T) {
	t.Parallel()
	const most = 4 << 10
	targets := fuzzTests(t, "../..")
	seen := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.ToSlash(path), "/testdata/fuzz/") {
			return err
		}
		seen++
		dir, name := filepath.Split(filepath.Dir(path))
		if owner := filepath.Dir(filepath.Dir(filepath.Clean(dir))); targets[filepath.Join(owner, name)] == "" {
			t.Errorf("%s is an input of a fuzz test that is gone", path)
		}
		text := read(t, path)
		if !strings.HasPrefix(text, "go test fuzz v1\n") || len(text) > most {
			t.Errorf("%s is no input, or has %d bytes", path, len(text))
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("%d inputs are found: %v", seen, err)
	}
}

// anyTestFile reports whether the text of a test file in the directory has the property.
func anyTestFile(t *testing.T, dir string, has func(text string) bool) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool { return has(read(t, file)) })
}

// fuzzTests are the directories of the fuzz tests below root, by these and the tests' names.
func fuzzTests(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "testdata" || path == filepath.Join(root, "bin")):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, name := range fuzzTest.FindAllStringSubmatch(read(t, path), -1) {
			found[filepath.Join(filepath.Dir(path), name[1])] = filepath.Dir(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
