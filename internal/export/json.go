package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"time"
)

// jsonLines writes one object, whose rows stand one a line: {"table":…,"exported_at":…,"rows":[…],"count":…,"complete":…,"notice":…}.
type jsonLines struct {
	w       *bufio.Writer
	columns []string
	rows    int
}

func (j *jsonLines) head(table string, at time.Time, columns []string) error {
	j.columns = make([]string, len(columns))
	for i, name := range columns {
		j.columns[i] = string(encoded(name)) + ":"
	}
	_, err := fmt.Fprintf(j.w, `{"table":%s,"exported_at":%s,"rows":[`, encoded(table), encoded(plain(at)))
	return err
}

func (j *jsonLines) row(values []any) error {
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
		_, _ = j.w.Write(encoded(plain(v)))
	}
	return j.w.WriteByte('}')
}

func (j *jsonLines) end(rows int, notice string) error {
	_, err := fmt.Fprintf(j.w, "\n],\"count\":%d,\"complete\":%t", rows, notice == "")
	if notice != "" {
		_, err = fmt.Fprintf(j.w, `,"notice":%s`, encoded(notice))
	}
	if err != nil {
		return err
	}
	_, err = j.w.WriteString("}\n")
	return err
}

// encoded is a value as JSON; what is none is null.
func encoded(value any) []byte {
	b, err := json.Marshal(value)
	if err != nil {
		return []byte("null")
	}
	return b
}
