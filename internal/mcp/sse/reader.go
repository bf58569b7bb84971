package sse

import (
	"bytes"
	"errors"
	"io"
)

// ErrTooLarge says that an event, or one line, has more bytes than the reader takes.
var ErrTooLarge = errors.New("event too large")

const bufferSize = 16 << 10

var byteOrderMark = []byte("\xef\xbb\xbf")

// Event is one event that carries data.
type Event struct {
	Name string // empty: the stream gave none, which means "message"
	ID   string // empty: none in this event
	Data []byte // the data lines joined by LF; the caller's to keep
}

// Reader reads events from a stream.
type Reader struct {
	src   io.Reader
	most  int    // bytes of one event
	buf   []byte // unread bytes
	space []byte // the array that buf is a part of
	err   error  // of src, to be told once buf is used up

	began  bool // the first line was read
	skipLF bool // the last line ended in CR, so that an LF now is a part of that end
	event  Event
	size   int // bytes of the event so far
}

// NewReader reads events from src, each of at most that many bytes.
func NewReader(src io.Reader, most int) *Reader {
	return &Reader{src: src, most: most, space: make([]byte, bufferSize)}
}

// Next returns the next event that has data. At the end of the stream the error is io.EOF, and an event that was not
// ended by a blank line comes before it.
func (r *Reader) Next() (Event, error) {
	for {
		line, err := r.line()
		if len(line) == 0 && err == nil {
			if event, ok := r.take(); ok {
				return event, nil
			}
			continue
		}
		if len(line) > 0 {
			if r.size += len(line); r.size > r.most {
				return Event{}, ErrTooLarge
			}
			r.field(line)
		}
		if err == nil {
			continue
		}
		if event, ok := r.take(); ok && ended(err) {
			return event, nil
		}
		return Event{}, err
	}
}

// ended tells whether err is an end of the stream, by the server's will or by a cut.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// take ends the event. ok is false where it carries no data: a comment, a ping.
func (r *Reader) take() (event Event, ok bool) {
	event, r.event, r.size = r.event, Event{}, 0
	return event, len(event.Data) > 0
}

// field adds one line to the event. It keeps the line's memory where the line is the first one of data.
func (r *Reader) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "": // a comment
		r.size -= len(line)
	case "data":
		if r.event.Data == nil {
			r.event.Data = value
			return
		}
		r.event.Data = append(append(r.event.Data, '\n'), value...)
	case "event":
		r.event.Name = string(value)
	case "id":
		r.event.ID = string(value)
	}
}

// line returns the next line without its end, in memory of its own. With an error it returns what came before that.
func (r *Reader) line() ([]byte, error) {
	var line []byte
	for {
		if err := r.fill(); err != nil {
			return r.withoutMark(line), err
		}
		if r.skipLF {
			r.skipLF = false
			if r.buf[0] == '\n' {
				r.buf = r.buf[1:]
				continue
			}
		}
		end := lineEnd(r.buf)
		if end < 0 {
			end = len(r.buf)
		}
		if len(line)+end > r.most {
			return nil, ErrTooLarge
		}
		line = append(r.grow(line, end), r.buf[:end]...)
		if end == len(r.buf) {
			r.buf = nil
			continue
		}
		r.skipLF = r.buf[end] == '\r'
		r.buf = r.buf[end+1:]
		return r.withoutMark(line), nil
	}
}

// grow makes room for n more bytes by doubling, and never past the bound: a hostile line must not cost more.
func (r *Reader) grow(line []byte, n int) []byte {
	if cap(line)-len(line) >= n {
		return line
	}
	grown := make([]byte, len(line), max(len(line)+n, min(2*len(line), r.most)))
	copy(grown, line)
	return grown
}

// lineEnd is the index of the first CR or LF, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

func (r *Reader) withoutMark(line []byte) []byte {
	if r.began {
		return line
	}
	r.began = true
	return bytes.TrimPrefix(line, byteOrderMark)
}

// fill makes sure that there is a byte to look at.
func (r *Reader) fill() error {
	for len(r.buf) == 0 {
		if r.err != nil {
			return r.err
		}
		n, err := r.src.Read(r.space)
		r.buf, r.err = r.space[:n], err
	}
	return nil
}
