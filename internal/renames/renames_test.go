package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// before is the tree that each case changes.
const before = `
-- go.mod --
module example.org/m

go 1.26
-- queue/queue.go --
// Package queue is a queue.
package queue

// Q is a queue.
type Q struct{ seats, guests int }

func (q *Q) take() int { return q.seats }

func (q *Q) end() { q.seats, q.guests = 0, 0 }

type other struct{}

func (other) take() {}

// Use uses it.
func Use(q *Q) (int, string) {
	other{}.take()
	q.end()
	return q.take(), "a text"
}
-- queue/queue_test.go --
package queue

import "testing"

func TestThatItIsUsed(t *testing.T) {
	if n, _ := Use(&Q{}); n != 0 {
		t.Error(n)
	}
}
-- main.go --
package main

import "example.org/m/queue"

func main() {
	println(queue.Use(&queue.Q{}))
}
-- internal/archtest/testdata/vocabulary.txt --
queue 3 0
-- rooms.txt --
queue is "example.org/m/queue"
`

func TestCompare_FindsWhatIsMoreThanARenaming(t *testing.T) {
	t.Parallel()
	base := loadFolder(t, filesBefore())
	move := func(from, to string) func(map[string]string) {
		return func(files map[string]string) { files[to] = files[from]; delete(files, from) }
	}
	for name, tc := range map[string]struct {
		replace []string // pairs, in all files
		change  func(files map[string]string)
		wrong   string // empty: nothing
	}{
		"nothing":                 {},
		"a field":                 {replace: []string{"seats", "slots"}},
		"two methods of one name": {replace: []string{"func (q *Q) take", "func (q *Q) slotCount", "q.take", "q.slotCount", "(other) take", "(other) reset", "other{}.take", "other{}.reset"}},
		"a test's name":           {replace: []string{"TestThatItIsUsed", "TestUse_Empty"}},
		"comments":                {replace: []string{"// Q is a queue.", "// Q is a line\n// of things."}},
		"a file":                  {change: move("queue/queue.go", "queue/line.go")},
		"lines that are broken":   {replace: []string{"Use(q *Q) (int, string) {", "Use(\n\tq *Q,\n) (int, string) {"}},
		"names exchanged":         {replace: []string{"q.seats, q.guests = 0, 0", "q.guests, q.seats = 0, 0"}, wrong: "elsewhere"},
		"another method":          {replace: []string{"return q.take(), ", "q.end(); return 0, "}, wrong: "not the same"},
		"one use of two":          {replace: []string{"return q.seats", "return q.guests"}, wrong: "elsewhere"},
		"a text":                  {replace: []string{"a text", "another text"}, wrong: "a text"},
		"a number":                {replace: []string{"= 0, 0", "= 0, 1"}, wrong: "1 was 0"},
		"a function less":         {replace: []string{"func (other) take() {}\n", "", "other{}.take()\n", ""}, wrong: "not the same"},
		"a new file":              {change: func(files map[string]string) { files["queue/more.go"] = "package queue\n\nvar X = 1\n" }, wrong: "more.go"},
		"a document":              {change: func(files map[string]string) { files["README.md"] = "new" }},
		"a file that is not Go":   {replace: []string{"queue is", "queue was"}, wrong: "rooms.txt"},
		"a ceiling":               {replace: []string{"queue 3 0", "queue 2 0"}},
		"a directive":             {replace: []string{"package main\n", "//go:build !windows\n\npackage main\n"}, wrong: "directives"},
		"a package": {replace: []string{"example.org/m/queue", "example.org/m/line", "package queue", "package line", "queue.Use(&queue.Q", "line.Use(&line.Q", "queue is", "line is"}, change: func(files map[string]string) {
			move("queue/queue.go", "line/line.go")(files)
			move("queue/queue_test.go", "line/line_test.go")(files)
		}},
		"a package's name and its texts": {replace: []string{"queue is", "list is"}, wrong: "rooms.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := filesBefore()
			for path, text := range files {
				files[path] = strings.NewReplacer(tc.replace...).Replace(text)
			}
			if tc.change != nil {
				tc.change(files)
			}
			c, err := compare(base, loadFolder(t, files))
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(c.wrong, "\n"); (said == "") != (tc.wrong == "") || !strings.Contains(said, tc.wrong) {
				t.Errorf("it says %q, and %q is wrong", said, tc.wrong)
			}
		})
	}
}

func TestCompareCommits_ReadsThemFromGit(t *testing.T) {
	t.Parallel()
	repository, files := t.TempDir(), filesBefore()
	git(t, repository, "init", "-q")
	for range 2 {
		git(t, repository, "rm", "-rq", "--ignore-unmatch", ".")
		writeFiles(t, repository, files)
		git(t, repository, "add", "-A")
		git(t, repository, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "a commit")
		files["queue/queue.go"] = strings.ReplaceAll(files["queue/queue.go"], "seats", "slots")
		files["queue/more.go"] = "package queue\n"
	}
	c, err := compareCommits(t.Context(), repository, [2]string{"HEAD~1", "HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(c.wrong, "\n"); len(c.renamed) != 1 || !strings.Contains(said, "more.go") || len(c.wrong) != 1 {
		t.Errorf("it says %q of %v", said, c.renamed)
	}
}

func filesBefore() map[string]string {
	files := map[string]string{}
	for _, f := range txtar.Parse([]byte(before)).Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// loadFolder reads a new folder with these files.
func loadFolder(t *testing.T, files map[string]string) *tree {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, files)
	read, err := readTree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func git(t *testing.T, repository string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", repository}, args...)...).CombinedOutput(); err != nil { //nolint:gosec // a repository of the test's
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}
