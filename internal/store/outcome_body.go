package store

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// callEnd is how a call ended: its columns as PostgreSQL sends them, nil for null, in the order of the migrations 00058 and 00075 and of CallEnds.
type callEnd [][]byte

// The columns that are told apart from the others.
const (
	endID        = 0
	endAgent     = 1
	endConnector = 3
	endOutcome   = 13
	endErrorCode = 14
	endsBefore   = 22 // columns until migration 00075: of what such a link tells, the others were null
	endColumns   = 24
)

var errBody = errors.New("the body of a link is not of this form")

// unpackEnds reads the body of a link: a column after the other, each an array.
func unpackEnds(body []byte, calls int64) ([]callEnd, error) {
	if calls < 1 || calls > int64(len(body)) {
		return nil, errBody
	}
	ends := make([]callEnd, calls)
	for i := range ends {
		ends[i] = make(callEnd, 0, endColumns)
	}
	for n := range endColumns {
		if n == endsBefore && len(body) == 0 {
			for i := range ends {
				ends[i] = append(ends[i], nil, nil)
			}
			break
		}
		rest, err := unpackColumn(body, ends)
		if err != nil {
			return nil, err
		}
		body = rest
	}
	if len(body) > 0 {
		return nil, errBody
	}
	return ends, nil
}

// unpackColumn reads an array of one dimension: 20 bytes about it, of which 12 to 16 are how long it is, and its values, each after its length,
// which is -1 for null.
func unpackColumn(body []byte, ends []callEnd) (rest []byte, _ error) {
	const head = 20
	if len(body) < head || int(binary.BigEndian.Uint32(body[12:])) != len(ends) {
		return nil, errBody
	}
	body = body[head:]
	for i := range ends {
		if len(body) < 4 {
			return nil, errBody
		}
		size := int32(binary.BigEndian.Uint32(body)) //nolint:gosec // as it was sent
		body = body[4:]
		if size < 0 {
			ends[i] = append(ends[i], nil)
			continue
		}
		if int(size) > len(body) {
			return nil, errBody
		}
		ends[i], body = append(ends[i], body[:size:size]), body[size:]
	}
	return body, nil
}

// differs lists the columns in which a row is not as it was recorded. An agent and a connector that are gone leave their calls.
func (e callEnd) differs(row callEnd) (columns []int) {
	if len(row) != len(e) {
		return []int{endID}
	}
	for i := range e {
		gone := (i == endAgent || i == endConnector) && row[i] == nil
		if !gone && ((e[i] == nil) != (row[i] == nil) || !bytes.Equal(e[i], row[i])) {
			columns = append(columns, i)
		}
	}
	return columns
}

// is tells whether a row has the end that was recorded. That nobody took its answer may have been noted since.
func (e callEnd) is(row callEnd) bool {
	columns := e.differs(row)
	return len(columns) == 0 || len(columns) == 1 && columns[0] == endErrorCode && len(e[endErrorCode]) == 0 && string(row[endErrorCode]) == "undelivered"
}

// lost tells whether the call was believed lost.
func (e callEnd) lost() bool { return string(e[endOutcome]) == "lost" }
