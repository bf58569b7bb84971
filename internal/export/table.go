package export

import (
	"bufio"
	"fmt"
	"io"
	"time"
)

// MaxRows is how many rows a file has at most: as many as a spreadsheet bears, and a few seconds of the database's time.
const MaxRows = 100_000

// Format is how a file is written.
type Format string

// The formats.
const (
	CSV  Format = "csv"
	JSON Format = "json"
)

// Formats lists the formats.
var Formats = []Format{CSV, JSON}

// ContentType is what a browser is told of a file.
func (f Format) ContentType() string {
	if f == JSON {
		return "application/json"
	}
	return "text/csv; charset=utf-8; header=present"
}

// Column is one column of a table.
type Column[T any] struct {
	Name string // in snake_case, as the JSON API has it
	// Of is a row's value: a text, a number, a boolean, a time or a pointer to one, a list of texts, JSON, or nil for none.
	Of func(T) any
}

// Table is what a file is made of.
type Table[T any] struct {
	Name    string // "calls"
	Columns []Column[T]
	// Part reads the rows after a cursor, and the cursor of the next part; empty: there is none.
	Part func(cursor string) (rows []T, next string, err error)
	Most int              // rows; 0: MaxRows
	Now  func() time.Time // nil: time.Now
}

// File is a table that has begun to be read.
type File[T any] struct {
	table Table[T]
	rows  []T
	next  string
}

// Open reads the first part.
func (t Table[T]) Open() (*File[T], error) {
	if t.Most == 0 {
		t.Most = MaxRows
	}
	if t.Now == nil {
		t.Now = time.Now
	}
	rows, next, err := t.Part("")
	return &File[T]{table: t, rows: rows, next: next}, err
}

// Name is the file's: "calls-2026-11-21.csv".
func (f *File[T]) Name(format Format) string {
	return fmt.Sprintf("%s-%s.%s", f.table.Name, f.table.Now().UTC().Format(time.DateOnly), format)
}

// lines is a file in one of the formats.
type lines interface {
	head(table string, at time.Time, columns []string) error
	row(values []any) error
	end(rows int, notice string) error // notice empty: all rows are there
}

// Write writes the file and tells how many rows it has. What it could not read it says in the file, too.
func (f *File[T]) Write(w io.Writer, format Format) (int, error) {
	buffered := bufio.NewWriterSize(w, 32<<10)
	n, err := f.write(linesOf(format, buffered))
	if flushed := buffered.Flush(); err == nil {
		err = flushed
	}
	return n, err
}

func linesOf(format Format, w *bufio.Writer) lines {
	if format == JSON {
		return &jsonLines{w: w}
	}
	return newCSVLines(w)
}

func (f *File[T]) write(out lines) (n int, err error) {
	names := make([]string, len(f.table.Columns))
	for i, c := range f.table.Columns {
		names[i] = c.Name
	}
	if err := out.head(f.table.Name, f.table.Now(), names); err != nil {
		return 0, err
	}
	n, full, err := f.rowsTo(out)
	notice := ""
	switch {
	case err != nil:
		notice = "This file ends early: the table could not be read further. Export it again."
	case full:
		notice = fmt.Sprintf("These are the first %s rows, and there are more. Filter the table, and export it again.", grouped(f.table.Most))
	}
	if ended := out.end(n, notice); err == nil {
		err = ended
	}
	return n, err
}

// rowsTo writes part after part; full: there are more rows than a file has.
func (f *File[T]) rowsTo(out lines) (n int, full bool, err error) {
	values := make([]any, len(f.table.Columns))
	for {
		for _, r := range f.rows {
			if n == f.table.Most {
				return n, true, nil
			}
			for i, c := range f.table.Columns {
				values[i] = c.Of(r)
			}
			if err := out.row(values); err != nil {
				return n, false, err
			}
			n++
		}
		if f.next == "" {
			return n, false, nil
		}
		if f.rows, f.next, err = f.table.Part(f.next); err != nil {
			return n, false, fmt.Errorf("read rows after %d: %w", n, err)
		}
	}
}

// grouped writes a number with commas: "100,000".
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
