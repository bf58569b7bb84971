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

// A fuzz test without seeds begins anew on each machine, and one that the list does not name is not found.
func TestEveryFuzzTestHasInputsAndARow(t *testing.T) {
	t.Parallel()
	targets, told := fuzzTests(t, "../.."), read(t, "../../docs/fuzzing.md")
	if len(targets) < 60 {
		t.Fatalf("%d fuzz tests are found", len(targets))
	}
	for name, dir := range targets {
		inputs, err := os.ReadDir(filepath.Join(dir, "testdata", "fuzz", filepath.Base(name)))
		if (err != nil || len(inputs) == 0) && !hasSeeds(t, dir) {
			t.Errorf("%s has no inputs: add seeds, or keep those of a run that reach more code, below testdata/fuzz", name)
		}
		if !strings.Contains(told, "`"+filepath.Base(name)+"`") {
			t.Errorf("docs/fuzzing.md does not name %s", name)
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

// hasSeeds reports whether the fuzz tests of a directory add seeds.
func hasSeeds(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool { return strings.Contains(read(t, file), "f.Add(") })
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
