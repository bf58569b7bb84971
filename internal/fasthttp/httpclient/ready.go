package httpclient

import "bytes"

// Ready reports whether the next Read returns at once, with bytes or with the body's end. In doubt it returns
// false. Only the goroutine that reads may call it.
func (b *responseBody) Ready() bool {
	switch {
	case b.err != nil:
		return true
	case b.released.Load():
		return false
	case b.chunked:
		return b.conn.hasChunk() || b.conn.hasMore() && (!b.conn.fillBuffer() || b.conn.hasChunk())
	}
	return b.conn.in.Buffered() > 0 || b.conn.hasMore()
}

// Ready reports whether all compressed data has arrived. A part may decompress to nothing.
func (z *gzipBody) Ready() bool { return z.decodeErr != nil || z.err != nil }

// fillBuffer reads what has arrived into the buffer. It returns false if the connection has ended or the buffer
// is full.
func (c *conn) fillBuffer() bool {
	_, err := c.in.Peek(c.in.Buffered() + 1)
	return err == nil
}

// hasChunk reports whether the start of a chunk is buffered with some of its data, or the last chunk with its
// trailers. The CRLF of the previous chunk may come first.
func (c *conn) hasChunk() bool {
	buffered, _ := c.in.Peek(c.in.Buffered())
	line, rest, whole := bytes.Cut(bytes.TrimPrefix(buffered, crlf), crlf)
	if !whole || !isLastChunk(line) {
		return whole && len(rest) > 0
	}
	return bytes.HasPrefix(rest, crlf) || bytes.Contains(rest, endOfFields)
}

var (
	crlf        = []byte("\r\n")
	endOfFields = []byte("\r\n\r\n")
)

// isLastChunk reports whether line starts the last chunk, of length zero.
func isLastChunk(line []byte) bool {
	length, _, _ := bytes.Cut(line, []byte(";"))
	return len(length) > 0 && len(bytes.Trim(length, "0 \t")) == 0
}
