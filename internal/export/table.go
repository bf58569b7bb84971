package export

import (
	"bufio"
	"fmt"
	"io"
	"time"
)

// MaxRows bounds the rows of a file: what a spreadsheet handles, and a few seconds of database time.
const MaxRows = 100_000

// Format is a file format.
type Format string

// File formats.
const (
	CSV  Format = "csv"
	JSON Format = "json"
)

// Formats lists all formats.
var Formats = []Format{CSV, JSON}

// ContentType returns the media type of a file.
func (f Format) ContentType() string {
	if f == JSON {
		return "application/json"
	}
	return "text/csv; charset=utf-8; header=present"
}

// Column is one column of a table.
type Column[T any] struct {
	Name string // in snake_case, as in the JSON API
	// Of returns a row's value: a string, number, boolean, time or a pointer to one, list of strings, JSON, or
	// nil.
	Of func(T) any
}

// Table describes the contents of a file.
type Table[T any] struct {
	Name    string // for example "calls"
	Columns []Column[T]
	// Part reads the rows after a cursor and returns the next cursor; empty: no more rows.
	Part    func(cursor string) (rows []T, next string, err error)
	MaxRows int              // maximum rows; 0: MaxRows
	Now     func() time.Time // nil: time.Now
}

// File is a table with its first part read.
type File[T any] struct {
	table Table[T]
	rows  []T
	next  string
}

// Open reads the first part.
func (t Table[T]) Open() (*File[T], error) {
	if t.MaxRows == 0 {
		t.MaxRows = MaxRows
	}
	if t.Now == nil {
		t.Now = time.Now
	}
	rows, next, err := t.Part("")
	return &File[T]{table: t, rows: rows, next: next}, err
}

// Name returns the file name: "calls-2026-11-21.csv".
func (f *File[T]) Name(format Format) string {
	return fmt.Sprintf("%s-%s.%s", f.table.Name, f.table.Now().UTC().Format(time.DateOnly), format)
}

// tableWriter writes one of the formats.
type tableWriter interface {
	writeHeader(table string, at time.Time, columns []string) error
	writeRow(values []any) error
	writeEnd(rows int, notice string) error // notice empty: all rows are in the file
}

// Write writes the file and returns its number of rows. A read failure is also noted in the file.
func (f *File[T]) Write(w io.Writer, format Format) (int, error) {
	buffered := bufio.NewWriterSize(w, 32<<10)
	n, err := f.writeTable(newTableWriter(format, buffered))
	if flushErr := buffered.Flush(); err == nil {
		err = flushErr
	}
	return n, err
}

func newTableWriter(format Format, w *bufio.Writer) tableWriter {
	if format == JSON {
		return &jsonWriter{w: w}
	}
	return newCSVWriter(w)
}

func (f *File[T]) writeTable(out tableWriter) (n int, err error) {
	names := make([]string, len(f.table.Columns))
	for i, c := range f.table.Columns {
		names[i] = c.Name
	}
	if err := out.writeHeader(f.table.Name, f.table.Now(), names); err != nil {
		return 0, err
	}
	n, isFull, err := f.writeRows(out)
	notice := ""
	switch {
	case err != nil:
		notice = "This file ends early: the table could not be read further. Export it again."
	case isFull:
		notice = fmt.Sprintf("Showing the first %s rows, and there are more. Filter the table and export it again.", groupThousands(f.table.MaxRows))
	}
	if endErr := out.writeEnd(n, notice); err == nil {
		err = endErr
	}
	return n, err
}

// writeRows writes part after part; isFull: there are more rows than the limit.
func (f *File[T]) writeRows(out tableWriter) (n int, isFull bool, err error) {
	values := make([]any, len(f.table.Columns))
	for {
		for _, r := range f.rows {
			if n == f.table.MaxRows {
				return n, true, nil
			}
			for i, c := range f.table.Columns {
				values[i] = c.Of(r)
			}
			if err := out.writeRow(values); err != nil {
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

// groupThousands formats a number with commas: "100,000".
func groupThousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", groupThousands(n/1000), n%1000)
}
