package sse

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"sync"
	"time"

	"patchbay/internal/mcp/blocks"
)

// ErrTooLarge says that an event, or one line, has more bytes than the reader takes.
var ErrTooLarge = errors.New("event too large")

const (
	firstBuffer = 2 << 10 // most streams bring one short event
	mostBuffer  = 32 << 10
	// maxScratch bounds what is kept for the next long line, which is copied out of it. Longer ones are rare, and keep what they
	// were collected in.
	maxScratch = 2 << 20
	// minLent is what is worth the trouble of being given back, in bytes.
	minLent = 4 << 10
)

// spaces are first buffers that no stream uses.
var spaces = sync.Pool{New: func() any {
	space := make([]byte, firstBuffer)
	return &space
}}

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
	most  int     // bytes of one event
	buf   []byte  // unread bytes
	space []byte  // the array that buf is a part of
	first *[]byte // the first space, to be given back; nil: there was none yet
	last  int     // how much of it the last read filled
	err   error   // of src, to be told once buf is used up

	grows func(n int) error // nil: nobody minds
	lends bool
	lent  *[]byte // the memory of the last long line; nil: it is the caller's

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

// Grows has somebody asked whether an event or a line that gets longer may have n bytes. What is answered is the error of Next.
func (r *Reader) Grows(may func(n int) error) { r.grows = may }

func (r *Reader) mayGrow(n int) error {
	if r.grows == nil {
		return nil
	}
	return r.grows(n)
}

// Lend makes long events stand in memory that is used again: see [Reader.Lent].
func (r *Reader) Lend() { r.lends = true }

// Lent is the memory that the last event stands in, to be given to [Reuse] when nobody looks at the event any more; nil: the event is
// the caller's to keep, and so it is where the memory is never given back.
func (r *Reader) Lent() *[]byte { return r.lent }

// Reuse takes memory back.
func Reuse(space *[]byte) { scratch.Put(space) }

// Close gives back what the stream was read with. Events stay as they are; nothing may be read any more.
func (r *Reader) Close() {
	if r.first != nil {
		spaces.Put(r.first)
	}
	r.first, r.space, r.buf, r.err = nil, nil, nil, io.ErrClosedPipe
}

// Next returns the next event that has data. At the end of the stream the error is io.EOF, and an event that was not
// ended by a blank line comes before it.
func (r *Reader) Next() (Event, error) {
	r.lent = nil
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
			if err := r.mayGrow(r.size); err != nil {
				return Event{}, err
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
		line, err = r.cut(end)
		return r.withoutMark(line), false, err
	}
	space := scratch.Get().(*[]byte)
	line, err = r.longLine((*space)[:0])
	if cap(line) > maxScratch {
		return r.withoutMark(line), true, err
	}
	*space = line
	if r.lends && len(line) >= minLent {
		r.lent = space
		return r.withoutMark(line), true, err
	}
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

// longLine collects a line that goes on behind the buffer. It is read to where it will stand.
func (r *Reader) longLine(line []byte) ([]byte, error) {
	line = append(r.grow(line, len(r.buf)), r.buf...)
	r.buf = nil
	for {
		switch {
		case len(line) > r.most:
			return nil, ErrTooLarge
		case r.err != nil:
			return line, r.err
		}
		if err := r.mayGrow(len(line) + mostBuffer); err != nil {
			return nil, err
		}
		line = r.grow(line, mostBuffer)
		n, err := r.src.Read(line[len(line):cap(line)])
		fresh := line[len(line) : len(line)+n]
		r.err = err
		end := lineEnd(fresh)
		switch {
		case end < 0:
			line = line[:len(line)+n]
		case len(line)+end > r.most:
			return nil, ErrTooLarge
		default:
			r.skipLF = fresh[end] == '\r'
			r.putBack(fresh[end+1:])
			return line[:len(line)+end], nil
		}
	}
}

// putBack makes what was read behind a line the buffer.
func (r *Reader) putBack(rest []byte) {
	if len(rest) > len(r.space) {
		r.space = make([]byte, len(rest))
	}
	r.buf = r.space[:copy(r.space, rest)]
}

// cut takes a line with its end from the buffer.
func (r *Reader) cut(end int) ([]byte, error) {
	if end > r.most {
		return nil, ErrTooLarge
	}
	line := r.buf[:end]
	r.skipLF = r.buf[end] == '\r'
	r.buf = r.buf[end+1:]
	return line, nil
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

// near is how many bytes are looked at for an LF and then for a CR: they are still in the processor's nearest cache.
const near = 4 << 10

// lineEnd is the index of the first CR or LF, or -1.
func lineEnd(b []byte) int {
	for from := blocks.Skip(b, '\n', '\r', math.MinInt8); from < len(b); from += near {
		part := b[from:min(from+near, len(b))]
		lf := bytes.IndexByte(part, '\n')
		if lf >= 0 {
			part = part[:lf]
		}
		if cr := bytes.IndexByte(part, '\r'); cr >= 0 {
			return from + cr
		}
		if lf >= 0 {
			return from + lf
		}
	}
	return -1
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
		switch {
		case r.space == nil:
			r.first, _ = spaces.Get().(*[]byte) // nothing else is in there
			r.space = *r.first
		case r.last == len(r.space) && r.last < mostBuffer:
			r.space = make([]byte, 4*len(r.space))
		}
		n, err := r.src.Read(r.space)
		r.buf, r.err, r.last = r.space[:n], err, n
	}
	return nil
}
