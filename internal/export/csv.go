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

// csvWriter writes RFC 4180 with a header line.
type csvWriter struct {
	w     *csv.Writer
	cells []string
}

func newCSVWriter(w io.Writer) *csvWriter {
	c := &csvWriter{w: csv.NewWriter(w)}
	c.w.UseCRLF = true
	return c
}

func (c *csvWriter) writeHeader(_ string, _ time.Time, columns []string) error {
	c.cells = make([]string, len(columns))
	return c.w.Write(columns)
}

func (c *csvWriter) writeRow(values []any) error {
	for i, v := range values {
		c.cells[i] = formatCell(v)
	}
	return c.w.Write(c.cells)
}

// writeEnd puts the notice into the first cell of a full row.
func (c *csvWriter) writeEnd(_ int, notice string) error {
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

// formatCell returns a value as text. Texts are escaped against formulas; numbers and times cannot be formulas.
func formatCell(value any) string {
	switch v := toJSONValue(value).(type) {
	case nil:
		return ""
	case string:
		return escapeFormulas(v)
	case []string:
		return escapeFormulas(strings.Join(v, " "))
	case json.RawMessage:
		return escapeFormulas(string(v))
	default:
		return fmt.Sprint(v)
	}
}

// escapeFormulas puts an apostrophe before a text that a spreadsheet would take for a formula. That includes
// text after separators at which some spreadsheets split cells despite quotes, such as semicolons in locales
// with decimal commas. Programs use JSON, which is not escaped.
func escapeFormulas(text string) string {
	if !strings.ContainsAny(text, formulaSigns) && !strings.ContainsAny(text, "\t\r\n") {
		return text
	}
	var b strings.Builder
	atCellStart := true // at the start of a possible cell
	for i, c := range text {
		switch {
		case i == 0 && strings.ContainsRune("\t\r\n", c):
			b.WriteByte('\'')
		case strings.ContainsRune(";\t\r\n", c):
			atCellStart = true
		case atCellStart && strings.ContainsRune(formulaSigns, c):
			b.WriteByte('\'')
			atCellStart = false
		case !unicode.IsSpace(c) && c != '"' && c != '\ufeff': // spreadsheets drop these from the start of a cell
			atCellStart = false
		}
		b.WriteRune(c)
	}
	return b.String()
}

// formulaSigns start a formula.
const formulaSigns = "=+-@＝＋－＠"
