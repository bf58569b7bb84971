package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
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

// guarded keeps a spreadsheet from taking a text for a formula: a text that begins as one gets an apostrophe before it. A program that
// reads the file takes JSON, which has each text as it is.
func guarded(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(text)[0]) {
		return "'" + text
	}
	return text
}
