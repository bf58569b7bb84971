package export_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/export"
)

type row struct {
	name string
	n    int
	at   time.Time
	end  *time.Time
	tags []string
	more json.RawMessage
}

var columns = []export.Column[row]{
	{Name: "name", Of: func(r row) any { return r.name }},
	{Name: "n", Of: func(r row) any { return r.n }},
	{Name: "at", Of: func(r row) any { return r.at }},
	{Name: "ended_at", Of: func(r row) any { return r.end }},
	{Name: "tags", Of: func(r row) any { return r.tags }},
	{Name: "detail", Of: func(r row) any { return r.more }},
}

var noon = time.Date(2026, 11, 21, 13, 0, 0, 5_000_000, time.FixedZone("", 3600))

// tableOf is a table with these parts.
func tableOf(parts ...[]row) export.Table[row] {
	return export.Table[row]{
		Name: "calls", Columns: columns, Now: func() time.Time { return noon },
		Part: func(cursor string) ([]row, string, error) {
			at, _ := strconv.Atoi(cursor)
			if at+1 < len(parts) {
				return parts[at], strconv.Itoa(at + 1), nil
			}
			return parts[at], "", nil
		},
	}
}

func written(t *testing.T, table export.Table[row], f export.Format) (string, int, error) {
	t.Helper()
	file, err := table.Open()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	n, err := file.Write(&b, f)
	return b.String(), n, err
}

func cells(t *testing.T, text string) [][]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return lines
}

func TestCSV_HasAHeaderAndARowForEachRow(t *testing.T) {
	t.Parallel()
	table := tableOf(
		[]row{{name: `a "b", c`, n: -1, at: noon, end: &noon, tags: []string{"x", "y"}, more: json.RawMessage(`{"k":1}`)}},
		[]row{{name: "two\nlines", at: noon}},
	)
	text, n, err := written(t, table, export.CSV)
	if err != nil || n != 2 {
		t.Fatalf("%d rows, %v", n, err)
	}
	const at = "2026-11-21T12:00:00.005Z"
	want := [][]string{
		{"name", "n", "at", "ended_at", "tags", "detail"},
		{`a "b", c`, "-1", at, at, "x y", `{"k":1}`},
		{"two\nlines", "0", at, "", "", ""},
	}
	if diff := cmp.Diff(want, cells(t, text)); diff != "" {
		t.Error(diff)
	}
}

func TestCSV_EscapesFormulas(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{`=HYPERLINK("https://evil.example.com")`, "+1", "-1+cmd", "@SUM(A1)", "\tx", "\rx", "\n=x", "＝1"} {
		text, _, err := written(t, tableOf([]row{{name: evil, tags: []string{evil}}}), export.CSV)
		if err != nil {
			t.Fatal(err)
		}
		lines := cells(t, text)
		for _, at := range []int{0, 4} {
			if !strings.HasPrefix(lines[1][at], "'") {
				t.Errorf("%q became the cell %q", evil, lines[1][at])
			}
		}
	}
}

// In locales with decimal commas, spreadsheets split cells at semicolons and honour only quotes at the start of
// a cell.
func TestCSV_EscapesFormulasAfterOtherSeparators(t *testing.T) {
	t.Parallel()
	formula := regexp.MustCompile(`(^|[;\t\r\n])["\s]*[=+\-@＝＋－＠]`)
	for _, evil := range []string{"well;=HYPERLINK(A1)", "well\n=1+1", "well\r\n-1", "well\t+1", "well; @SUM(A1)", `well;"=1"`, " =1", "\u00a0=1", "\ufeff=1", ";;=1", "well;＝1"} {
		text, _, err := written(t, tableOf([]row{{name: evil, tags: []string{evil}}}), export.CSV)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{0, 4} {
			if cell := cells(t, text)[1][at]; formula.MatchString(cell) {
				t.Errorf("%q became the cell %q", evil, cell)
			}
		}
	}
	const harmless = "one; two - three; a=b, 1+1 (me@example.com)\nlast"
	if text, _, _ := written(t, tableOf([]row{{name: harmless}}), export.CSV); cells(t, text)[1][0] != harmless {
		t.Errorf("%q became %q", harmless, text)
	}
}

func TestJSON_KeepsValues(t *testing.T) {
	t.Parallel()
	text, _, err := written(t, tableOf(
		[]row{{name: "=1", n: 3, at: noon, tags: []string{"x"}, more: json.RawMessage(`{"k":1}`)}},
		[]row{{name: "b", at: noon}},
	), export.JSON)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	const at = "2026-11-21T12:00:00.005Z"
	want := map[string]any{
		"table": "calls", "exported_at": at, "count": 2.0, "complete": true,
		"rows": []any{
			map[string]any{"name": "=1", "n": 3.0, "at": at, "ended_at": nil, "tags": []any{"x"}, "detail": map[string]any{"k": 1.0}},
			map[string]any{"name": "b", "n": 0.0, "at": at, "ended_at": nil, "tags": nil, "detail": nil},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFile_EndsAtItsLimitWithANotice(t *testing.T) {
	t.Parallel()
	many := make([]row, 3)
	for f, says := range map[export.Format]string{export.CSV: `"# Showing the first 5 rows, and there are more.`, export.JSON: `"count":5,"complete":false,"notice":"Showing the first 5 rows, and there are more.`} {
		table := tableOf(many, many, many)
		table.MaxRows = 5
		text, n, err := written(t, table, f)
		if err != nil || n != 5 || !strings.Contains(text, says) {
			t.Errorf("%s: %d rows, %v:\n%s", f, n, err, text)
		}
		table.MaxRows = 9
		if text, n, _ := written(t, table, f); n != 9 || strings.Contains(text, "there are more") {
			t.Errorf("%s: %d of 9 rows:\n%s", f, n, text)
		}
	}
}

func TestFile_ReportsAReadFailure(t *testing.T) {
	t.Parallel()
	for f, says := range map[export.Format]string{export.CSV: "# This file ends early", export.JSON: `"complete":false,"notice":"This file ends early`} {
		table := tableOf([]row{{name: "a"}})
		table.Part = func(cursor string) ([]row, string, error) {
			if cursor != "" {
				return nil, "", errors.New("away")
			}
			return []row{{name: "a"}}, "1", nil
		}
		text, n, err := written(t, table, f)
		if err == nil || n != 1 || !strings.Contains(text, says) {
			t.Errorf("%s: %d rows, %v:\n%s", f, n, err, text)
		}
	}
}

func TestOpen_FailsWithTheFirstPart(t *testing.T) {
	t.Parallel()
	table := tableOf()
	table.Part = func(string) ([]row, string, error) { return nil, "", errors.New("away") }
	if _, err := table.Open(); err == nil {
		t.Error("it was opened")
	}
}

func TestFile_NameHasTableAndDay(t *testing.T) {
	t.Parallel()
	file, err := tableOf(nil).Open()
	if err != nil || file.Name(export.JSON) != "calls-2026-11-21.json" {
		t.Errorf("%q, %v", file.Name(export.JSON), err)
	}
}

// Memory holds one part and the writer's buffer.
func TestFile_LongTableUsesLittleMemory(t *testing.T) {
	t.Parallel()
	part := make([]row, 200)
	for i := range part {
		part[i] = row{name: fmt.Sprint("row ", i), at: noon}
	}
	asked := 0
	table := tableOf(part)
	out := &counter{}
	table.Part = func(string) ([]row, string, error) {
		if behind := asked*len(part) - out.lines; behind > 10*len(part) {
			t.Fatalf("%d rows were read and not written", behind)
		}
		asked++
		return part, "more", nil
	}
	file, err := table.Open()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := file.Write(out, export.CSV); n != export.MaxRows || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

// counter counts the lines that it is given.
type counter struct{ lines int }

func (c *counter) Write(p []byte) (int, error) {
	c.lines += strings.Count(string(p), "\n")
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)
