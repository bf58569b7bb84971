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

// ErrTooLarge says that an event or a line exceeds the limit.
var ErrTooLarge = errors.New("event too large")

const (
	initialBufferSize = 2 << 10 // most streams carry one short event
	maxBufferSize     = 32 << 10
	// maxPooledLine bounds a buffer that returns to the pool; longer lines are rare and keep theirs.
	maxPooledLine = 2 << 20
	// minLentBytes is the minimum length of a lent event.
	minLentBytes = 4 << 10
)

// bufferPool holds unused initial buffers.
var bufferPool = sync.Pool{New: func() any {
	space := make([]byte, initialBufferSize)
	return &space
}}

// linePool holds buffers for long lines, as their length is known only at the end.
var linePool = sync.Pool{New: func() any { return new([]byte) }}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Event is one event with data.
type Event struct {
	Name string // empty: "message"
	ID   string // empty: none in this event
	Data []byte // data lines joined by LF; the caller may keep it
}

// Reader reads events from a stream.
type Reader struct {
	src      io.Reader
	maxEvent int     // bytes of one event
	buf      []byte  // unread bytes
	array    []byte  // backing array of buf
	pooled   *[]byte // the initial buffer, from bufferPool; nil: none yet
	lastRead int     // bytes of the last read
	err      error   // of src, returned when buf is empty

	onGrow   func(n int) error // nil: growth is unlimited
	lendable bool
	lent     *[]byte // buffer of the last long line; nil: the caller may keep it

	hasBegun bool // the first line was read
	skipLF   bool // the last line ended in CR, so a following LF belongs to it
	event    Event
	size     int // bytes of the event so far

	lastID string
	retry  time.Duration
}

// NewReader reads events from src, each of at most maxEvent bytes.
func NewReader(src io.Reader, maxEvent int) *Reader {
	return &Reader{src: src, maxEvent: maxEvent}
}

// OnGrow sets a function that allows an event or a line to grow to n bytes. Next returns its error.
func (r *Reader) OnGrow(may func(n int) error) { r.onGrow = may }

func (r *Reader) checkGrowth(n int) error {
	if r.onGrow == nil {
		return nil
	}
	return r.onGrow(n)
}

// Lend allows long events to use pooled memory: see [Reader.Lent].
func (r *Reader) Lend() { r.lendable = true }

// Lent returns the memory of the last event, for [Reuse] after its last use; nil: the caller may keep the
// event. Without Reuse it is garbage collected.
func (r *Reader) Lent() *[]byte { return r.lent }

// Reuse returns memory to the pool.
func Reuse(space *[]byte) { linePool.Put(space) }

// Close returns the reader's buffers. Events stay valid; Next must not be called any more.
func (r *Reader) Close() {
	if r.pooled != nil {
		bufferPool.Put(r.pooled)
	}
	r.pooled, r.array, r.buf, r.err = nil, nil, nil, io.ErrClosedPipe
}

// Next returns the next event with data. At the end it returns an event without its blank line first, then
// io.EOF.
func (r *Reader) Next() (Event, error) {
	r.lent = nil
	for {
		line, own, err := r.readLine()
		if len(line) == 0 && err == nil {
			if event, ok := r.finishEvent(); ok {
				return event, nil
			}
			continue
		}
		if len(line) > 0 {
			if r.size += len(line); r.size > r.maxEvent {
				return Event{}, ErrTooLarge
			}
			if err := r.checkGrowth(r.size); err != nil {
				return Event{}, err
			}
			r.addField(line, own)
		}
		if err == nil {
			continue
		}
		if event, ok := r.finishEvent(); ok && isEndOfStream(err) {
			return event, nil
		}
		return Event{}, err
	}
}

// Resume returns the id of the last event that had one, with or without data, and the server's retry delay; 0:
// none.
func (r *Reader) Resume() (lastID string, wait time.Duration) { return r.lastID, r.retry }

// isEndOfStream reports whether err is a regular or an early end of the stream.
func isEndOfStream(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// finishEvent ends the event. ok is false if it has no data: a comment, a ping.
func (r *Reader) finishEvent() (event Event, ok bool) {
	event, r.event, r.size = r.event, Event{}, 0
	if event.ID != "" {
		r.lastID = event.ID
	}
	return event, len(event.Data) > 0
}

// addField adds one line to the event. kept: the first data line may keep its memory.
func (r *Reader) addField(line []byte, kept bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "": // a comment
		r.size -= len(line)
	case "data":
		r.appendData(value, kept)
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

func (r *Reader) appendData(value []byte, kept bool) {
	switch {
	case r.event.Data != nil:
		r.event.Data = append(append(r.event.Data, '\n'), value...)
	case kept && value != nil:
		r.event.Data = value
	default: // also for a field without a colon, which has an empty value
		r.event.Data = append(make([]byte, 0, len(value)), value...)
	}
}

// readLine returns the next line without its end. With an error it returns the bytes before it. own: the line
// has its own memory; otherwise it is valid until the next call.
func (r *Reader) readLine() (readLine []byte, own bool, err error) {
	if err := r.fillLineStart(); err != nil {
		return nil, false, err
	}
	if end := findLineEnd(r.buf); end >= 0 {
		readLine, err = r.cutLine(end)
		return r.trimByteOrderMark(readLine), false, err
	}
	space := linePool.Get().(*[]byte)
	readLine, err = r.readLongLine((*space)[:0])
	if cap(readLine) > maxPooledLine {
		return r.trimByteOrderMark(readLine), true, err
	}
	*space = readLine
	if r.lendable && len(readLine) >= minLentBytes {
		r.lent = space
		return r.trimByteOrderMark(readLine), true, err
	}
	readLine = bytes.Clone(readLine)
	linePool.Put(space)
	return r.trimByteOrderMark(readLine), true, err
}

// fillLineStart ensures that the first byte of a line is buffered.
func (r *Reader) fillLineStart() error {
	for {
		if err := r.fillBuffer(); err != nil {
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

// readLongLine reads a line that exceeds the buffer, directly into its own memory.
func (r *Reader) readLongLine(line []byte) ([]byte, error) {
	line = append(r.growLine(line, len(r.buf)), r.buf...)
	r.buf = nil
	for {
		switch {
		case len(line) > r.maxEvent:
			return nil, ErrTooLarge
		case r.err != nil:
			return line, r.err
		}
		if err := r.checkGrowth(len(line) + maxBufferSize); err != nil {
			return nil, err
		}
		line = r.growLine(line, maxBufferSize)
		n, err := r.src.Read(line[len(line):cap(line)])
		fresh := line[len(line) : len(line)+n]
		r.err = err
		end := findLineEnd(fresh)
		switch {
		case end < 0:
			line = line[:len(line)+n]
		case len(line)+end > r.maxEvent:
			return nil, ErrTooLarge
		default:
			r.skipLF = fresh[end] == '\r'
			r.keepRest(fresh[end+1:])
			return line[:len(line)+end], nil
		}
	}
}

// keepRest buffers the bytes that were read behind a line.
func (r *Reader) keepRest(rest []byte) {
	if len(rest) > len(r.array) {
		r.array = make([]byte, len(rest))
	}
	r.buf = r.array[:copy(r.array, rest)]
}

// cutLine removes a line with its end from the buffer.
func (r *Reader) cutLine(end int) ([]byte, error) {
	if end > r.maxEvent {
		return nil, ErrTooLarge
	}
	line := r.buf[:end]
	r.skipLF = r.buf[end] == '\r'
	r.buf = r.buf[end+1:]
	return line, nil
}

// growLine makes room for n more bytes by doubling, but not above the limit.
func (r *Reader) growLine(line []byte, n int) []byte {
	if cap(line)-len(line) >= n {
		return line
	}
	grown := make([]byte, len(line), max(len(line)+n, min(2*len(line), r.maxEvent)))
	copy(grown, line)
	return grown
}

// scanChunk is the number of bytes scanned for LF and then for CR, while they are in the L1 cache.
const scanChunk = 4 << 10

// findLineEnd returns the index of the first CR or LF; -1: none.
func findLineEnd(b []byte) int {
	for from := blocks.Skip(b, '\n', '\r', math.MinInt8); from < len(b); from += scanChunk {
		part := b[from:min(from+scanChunk, len(b))]
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

func (r *Reader) trimByteOrderMark(line []byte) []byte {
	if r.hasBegun {
		return line
	}
	r.hasBegun = true
	return bytes.TrimPrefix(line, byteOrderMark)
}

// fillBuffer ensures that a byte is buffered. The buffer grows while reads fill it.
func (r *Reader) fillBuffer() error {
	for len(r.buf) == 0 {
		if r.err != nil {
			return r.err
		}
		switch {
		case r.array == nil:
			r.pooled, _ = bufferPool.Get().(*[]byte) // the pool holds no other type
			r.array = *r.pooled
		case r.lastRead == len(r.array) && r.lastRead < maxBufferSize:
			r.array = make([]byte, 4*len(r.array))
		}
		n, err := r.src.Read(r.array)
		r.buf, r.err, r.lastRead = r.array[:n], err, n
	}
	return nil
}
