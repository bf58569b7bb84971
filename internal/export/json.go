package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"time"
)

// jsonWriter writes one object with one row a line:
// {"table":…,"exported_at":…,"rows":[…],"count":…,"complete":…,"notice":…}.
type jsonWriter struct {
	w       *bufio.Writer
	columns []string
	rows    int
}

func (j *jsonWriter) writeHeader(table string, at time.Time, columns []string) error {
	j.columns = make([]string, len(columns))
	for i, name := range columns {
		j.columns[i] = string(marshalValue(name)) + ":"
	}
	_, err := fmt.Fprintf(j.w, `{"table":%s,"exported_at":%s,"rows":[`, marshalValue(table), marshalValue(toJSONValue(at)))
	return err
}

func (j *jsonWriter) writeRow(values []any) error {
	before := "\n{"
	if j.rows > 0 {
		before = ",\n{"
	}
	j.rows++
	_, _ = j.w.WriteString(before) // the writer keeps its first error
	for i, v := range values {
		if i > 0 {
			_ = j.w.WriteByte(',')
		}
		_, _ = j.w.WriteString(j.columns[i])
		_, _ = j.w.Write(marshalValue(toJSONValue(v)))
	}
	return j.w.WriteByte('}')
}

func (j *jsonWriter) writeEnd(rows int, notice string) error {
	_, err := fmt.Fprintf(j.w, "\n],\"count\":%d,\"complete\":%t", rows, notice == "")
	if notice != "" {
		_, err = fmt.Fprintf(j.w, `,"notice":%s`, marshalValue(notice))
	}
	if err != nil {
		return err
	}
	_, err = j.w.WriteString("}\n")
	return err
}

// marshalValue returns a value as JSON, null if it has none.
func marshalValue(value any) []byte {
	b, err := json.Marshal(value)
	if err != nil {
		return []byte("null")
	}
	return b
}
