package h1

import "bytes"

// Ready tells whether the next Read returns at once, with bytes or with the body's end. Where that takes more than a look it says no.
// The goroutine that reads may ask.
func (b *body) Ready() bool {
	switch {
	case b.done != nil:
		return true
	case b.over.Load():
		return false
	case b.chunked:
		return b.conn.hasChunk() || b.conn.hasMore() && (!b.conn.fill() || b.conn.hasChunk())
	}
	return b.conn.in.Buffered() > 0 || b.conn.hasMore()
}

// Ready tells whether all that was compressed has come: of less, nobody knows how much it makes.
func (z *zipped) Ready() bool { return z.failed != nil || z.done != nil }

// fill buffers what came; false: the connection has ended, or the buffer is full.
func (c *conn) fill() bool {
	_, err := c.in.Peek(c.in.Buffered() + 1)
	return err == nil
}

// hasChunk tells whether the start of a chunk is buffered with some of its data, or the last one with all that follows it. Before it
// stands the end of another chunk, or nothing.
func (c *conn) hasChunk() bool {
	came, _ := c.in.Peek(c.in.Buffered())
	line, rest, whole := bytes.Cut(bytes.TrimPrefix(came, crlf), crlf)
	if !whole || !isLast(line) {
		return whole && len(rest) > 0
	}
	return bytes.HasPrefix(rest, crlf) || bytes.Contains(rest, endOfFields)
}

var (
	crlf        = []byte("\r\n")
	endOfFields = []byte("\r\n\r\n")
)

// isLast tells whether a chunk's first line says that it is the last one: its length is zero.
func isLast(line []byte) bool {
	length, _, _ := bytes.Cut(line, []byte(";"))
	return len(length) > 0 && len(bytes.Trim(length, "0 \t")) == 0
}
