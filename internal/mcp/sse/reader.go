package sse

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"
)

// ErrTooLarge says that an event, or one line, has more bytes than the reader takes.
var ErrTooLarge = errors.New("event too large")

const (
	firstBuffer = 2 << 10 // most streams bring one short event
	mostBuffer  = 32 << 10
	// maxScratch bounds what is kept for the next long line, which is copied out of it. Longer ones are rare, and keep what they
	// were collected in.
	maxScratch = 2 << 20
)

// scratch is where long lines are collected: how long they get shows only at their ends.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

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
	last  int    // how much of it the last read filled
	err   error  // of src, to be told once buf is used up

	began  bool // the first line was read
	skipLF bool // the last line ended in CR, so that an LF now is a part of that end
	event  Event
	size   int // bytes of the event so far

	lastID string
	retry  time.Duration
}

// NewReader reads events from src, each of at most that many bytes.
func NewReader(src io.Reader, most int) *Reader {
	return &Reader{src: src, most: most}
}

// Next returns the next event that has data. At the end of the stream the error is io.EOF, and an event that was not
// ended by a blank line comes before it.
func (r *Reader) Next() (Event, error) {
	for {
		line, own, err := r.line()
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
			r.field(line, own)
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

// Resume tells where to go on after the stream has ended: the id of the last event that has one, also of one without data, and how
// long the server asks to wait before; 0: it does not ask.
func (r *Reader) Resume() (lastID string, wait time.Duration) { return r.lastID, r.retry }

// ended tells whether err is an end of the stream, by the server's will or by a cut.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// take ends the event. ok is false where it carries no data: a comment, a ping.
func (r *Reader) take() (event Event, ok bool) {
	event, r.event, r.size = r.event, Event{}, 0
	if event.ID != "" {
		r.lastID = event.ID
	}
	return event, len(event.Data) > 0
}

// field adds one line to the event. It keeps the line's memory where the line is the first one of data; kept: it may.
func (r *Reader) field(line []byte, kept bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "": // a comment
		r.size -= len(line)
	case "data":
		r.data(value, kept)
	case "event":
		r.event.Name = string(value)
	case "id":
		r.event.ID = string(value)
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

func (r *Reader) data(value []byte, kept bool) {
	switch {
	case r.event.Data != nil:
		r.event.Data = append(append(r.event.Data, '\n'), value...)
	case kept && value != nil:
		r.event.Data = value
	default: // also where the field has no colon: its value is empty, but there
		r.event.Data = append(make([]byte, 0, len(value)), value...)
	}
}

// line returns the next line without its end. With an error it returns what came before that. own tells whether the line has memory
// of its own; else it is a part of the buffer, and good until the next call.
func (r *Reader) line() (line []byte, own bool, err error) {
	if err := r.begin(); err != nil {
		return nil, false, err
	}
	if end := lineEnd(r.buf); end >= 0 {
		line, err = r.cut(nil, end)
		return r.withoutMark(line), false, err
	}
	space := scratch.Get().(*[]byte)
	line, err = r.longLine((*space)[:0])
	if cap(line) > maxScratch {
		return r.withoutMark(line), true, err
	}
	*space = line
	line = bytes.Clone(line)
	scratch.Put(space)
	return r.withoutMark(line), true, err
}

// begin makes sure that there is the first byte of a line.
func (r *Reader) begin() error {
	for {
		if err := r.fill(); err != nil {
			return err
		}
		if !r.skipLF {
			return nil
		}
		r.skipLF = false
		if r.buf[0] == '\n' {
			r.buf = r.buf[1:]
		}
	}
}

// longLine collects a line that goes on behind the buffer.
func (r *Reader) longLine(line []byte) ([]byte, error) {
	for {
		end := lineEnd(r.buf)
		if end >= 0 {
			return r.cut(line, end)
		}
		if len(line)+len(r.buf) > r.most {
			return nil, ErrTooLarge
		}
		line = append(r.grow(line, len(r.buf)), r.buf...)
		r.buf = nil
		if err := r.fill(); err != nil {
			return line, err
		}
	}
}

// cut takes the line's last bytes, and its end, from the buffer. What has no beginning stays a part of that.
func (r *Reader) cut(line []byte, end int) ([]byte, error) {
	if len(line)+end > r.most {
		return nil, ErrTooLarge
	}
	rest := r.buf[:end]
	r.skipLF = r.buf[end] == '\r'
	r.buf = r.buf[end+1:]
	if line == nil {
		return rest, nil
	}
	return append(r.grow(line, end), rest...), nil
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

// fill makes sure that there is a byte to look at. The buffer grows where the stream fills it.
func (r *Reader) fill() error {
	for len(r.buf) == 0 {
		if r.err != nil {
			return r.err
		}
		if r.last == len(r.space) && r.last < mostBuffer {
			r.space = make([]byte, max(firstBuffer, 4*len(r.space)))
		}
		n, err := r.src.Read(r.space)
		r.buf, r.err, r.last = r.space[:n], err, n
	}
	return nil
}
