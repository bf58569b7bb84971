//go:build e2e && interop

package e2e_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// interopTables guards the files of tables.
var interopTables sync.Mutex

// wantRow wants a row of a table in interop/ with these cells. The first one finds it. UPDATE=1 writes the row.
func wantRow(t *testing.T, file string, cells ...any) {
	t.Helper()
	row := "|"
	for _, cell := range cells {
		row += strings.TrimRight(fmt.Sprintf(" %v", cell), " ") + " |"
	}
	interopTables.Lock()
	defer interopTables.Unlock()
	rows := readTable(t, file)
	i := slices.IndexFunc(rows, func(r string) bool { return firstCell(r) == cells[0] })
	switch {
	case i >= 0 && rows[i] == row:
		return
	case os.Getenv("UPDATE") == "":
		have := "no row"
		if i >= 0 {
			have = rows[i]
		}
		t.Errorf("UPDATE=1 writes the row of %s:\nhave %s\nwant %s", file, have, row)
		return
	case i >= 0:
		rows[i] = row
	default:
		rows = append(rows, row)
	}
	slices.Sort(rows[2:])
	if err := os.WriteFile(file, []byte(strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
		t.Error(err)
	}
}

// wantRowsOf wants a table to have rows of these alone.
func wantRowsOf(t *testing.T, file string, names []string) {
	t.Helper()
	interopTables.Lock()
	defer interopTables.Unlock()
	for _, row := range readTable(t, file)[2:] {
		if !slices.Contains(names, firstCell(row)) {
			t.Errorf("%s has a row of %s, which is not tested", file, firstCell(row))
		}
	}
}

func readTable(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func firstCell(row string) string {
	cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
	return cell
}
