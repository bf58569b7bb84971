package store

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// outcomeRow has the outcome columns of a call in PostgreSQL's binary format, nil for null, in the order of
// function note_calls and of query CallEnds.
type outcomeRow [][]byte

// Columns with a meaning here.
const (
	columnID             = 0
	columnAgent          = 1
	columnConnector      = 3
	columnOutcome        = 13
	columnErrorCode      = 14
	columnsWithoutOrigin = 22 // columns of links without address and request id, which are null then
	columnCount          = 24
)

var errOutcomeBody = errors.New("the body of a link is malformed")

// unpackOutcomes decodes a link's body: one array per column.
func unpackOutcomes(body []byte, calls int64) ([]outcomeRow, error) {
	return unpackSome(body, calls, 0, calls)
}

// unpackSome decodes the calls of a link's body from one index up to another, which is not included.
func unpackSome(body []byte, calls, from, to int64) ([]outcomeRow, error) {
	if calls < 1 || calls > int64(len(body)) || from < 0 || from > to || to > calls {
		return nil, errOutcomeBody
	}
	p := linkPart{calls: int(calls), from: int(from), rows: make([]outcomeRow, to-from)}
	for i := range p.rows {
		p.rows[i] = make(outcomeRow, 0, columnCount)
	}
	for n := range columnCount {
		if n == columnsWithoutOrigin && len(body) == 0 {
			for i := range p.rows {
				p.rows[i] = append(p.rows[i], nil, nil)
			}
			break
		}
		rest, err := p.unpackColumn(body)
		if err != nil {
			return nil, err
		}
		body = rest
	}
	if len(body) > 0 {
		return nil, errOutcomeBody
	}
	return p.rows, nil
}

// linkPart is a part of a link's calls.
type linkPart struct {
	calls int // of the link
	from  int // the first of rows
	rows  []outcomeRow
}

// unpackColumn decodes a one-dimensional array: a 20-byte header with the length at bytes 12 to 16, then the
// values, each after its 32-bit length, -1 for null.
func (p *linkPart) unpackColumn(body []byte) (rest []byte, _ error) {
	const head = 20
	if len(body) < head || int(binary.BigEndian.Uint32(body[12:])) != p.calls {
		return nil, errOutcomeBody
	}
	body = body[head:]
	for i := range p.calls {
		if len(body) < 4 {
			return nil, errOutcomeBody
		}
		size := int32(binary.BigEndian.Uint32(body)) //nolint:gosec // as it was sent
		body = body[4:]
		var value []byte
		if size >= 0 {
			if int(size) > len(body) {
				return nil, errOutcomeBody
			}
			value, body = body[:size:size], body[size:]
		}
		if at := i - p.from; at >= 0 && at < len(p.rows) {
			p.rows[at] = append(p.rows[at], value)
		}
	}
	return body, nil
}

// diffColumns returns the columns in which row differs from the record. Calls outlive their agent and
// connector, which become null.
func (e outcomeRow) diffColumns(row outcomeRow) (columns []int) {
	if len(row) != len(e) {
		return []int{columnID}
	}
	for i := range e {
		isDeleted := (i == columnAgent || i == columnConnector) && row[i] == nil
		if !isDeleted && ((e[i] == nil) != (row[i] == nil) || !bytes.Equal(e[i], row[i])) {
			columns = append(columns, i)
		}
	}
	return columns
}

// hasOutcome reports whether row matches the record. A later mark as undelivered is allowed.
func (e outcomeRow) hasOutcome(row outcomeRow) bool {
	columns := e.diffColumns(row)
	return len(columns) == 0 || len(columns) == 1 && columns[0] == columnErrorCode && len(e[columnErrorCode]) == 0 && string(row[columnErrorCode]) == "undelivered"
}

// isLost reports whether the call was recorded as lost.
func (e outcomeRow) isLost() bool { return string(e[columnOutcome]) == "lost" }
