package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

// csvLines writes RFC 4180: one line a row, under a line of names.
type csvLines struct {
	w     *csv.Writer
	cells []string
}

func newCSVLines(w io.Writer) *csvLines {
	c := &csvLines{w: csv.NewWriter(w)}
	c.w.UseCRLF = true
	return c
}

func (c *csvLines) head(_ string, _ time.Time, columns []string) error {
	c.cells = make([]string, len(columns))
	return c.w.Write(columns)
}

func (c *csvLines) row(values []any) error {
	for i, v := range values {
		c.cells[i] = cell(v)
	}
	return c.w.Write(c.cells)
}

// end has the notice in the first cell of a line that is as wide as the others.
func (c *csvLines) end(_ int, notice string) error {
	if notice != "" {
		clear(c.cells)
		c.cells[0] = "# " + notice
		if err := c.w.Write(c.cells); err != nil {
			return err
		}
	}
	c.w.Flush()
	return c.w.Error()
}

// cell is a value as a text. What others wrote is guarded; our own numbers and times are not, since nothing of them is a formula.
func cell(value any) string {
	switch v := plain(value).(type) {
	case nil:
		return ""
	case string:
		return guarded(v)
	case []string:
		return guarded(strings.Join(v, " "))
	case json.RawMessage:
		return guarded(string(v))
	default:
		return fmt.Sprint(v)
	}
}

// guarded keeps a spreadsheet from taking a text for a formula: what begins as one gets an apostrophe before it. That is also what follows
// a sign at which some part a line into cells, whatever the quotes say: where decimals have commas, it is the semicolon. A program that
// reads the file takes JSON, which has each text as it is.
func guarded(text string) string {
	if !strings.ContainsAny(text, formulaSigns) && !strings.ContainsAny(text, "\t\r\n") {
		return text
	}
	var b strings.Builder
	begins := true // of what may be a cell
	for i, c := range text {
		switch {
		case i == 0 && strings.ContainsRune("\t\r\n", c):
			b.WriteByte('\'')
		case strings.ContainsRune(";\t\r\n", c):
			begins = true
		case begins && strings.ContainsRune(formulaSigns, c):
			b.WriteByte('\'')
			begins = false
		case !unicode.IsSpace(c) && c != '"' && c != '\ufeff': // which are dropped from the beginning of a cell
			begins = false
		}
		b.WriteRune(c)
	}
	return b.String()
}

// formulaSigns are what a formula begins with.
const formulaSigns = "=+-@＝＋－＠"
