package framing

import "strings"

// bodyLengths are the length fields of one head.
type bodyLengths struct {
	hasTransferEncoding bool
	hasContentLength    bool
}

// scanState is what the scanner expects next.
type scanState uint8

const (
	inHead scanState = iota
	inBody
	inChunkSize
	inChunk
	afterChunk // its CRLF
	inTrailer
	lost // the scanner cannot follow the connection any more
)

// unknownLength is a Content-Length that the scanner cannot use.
const unknownLength = -1

// maxLine bounds the kept part of a line, in bytes: enough for a length field.
const maxLine = 64

// maxHeads bounds the heads without a request. net/http reads at most 4 KiB ahead, which is fewer.
const maxHeads = 512

// maxLengthDigits bounds a length in digits, so that it fits in an int64, also in hexadecimal.
const maxLengthDigits = 15

// scanner follows the requests of one connection.
type scanner struct {
	state         scanState
	inProgress    bool  // after the request line of a head
	remaining     int64 // bytes of the body or chunk still to come
	contentLength int64 // of the head, or unknownLength
	head          bodyLengths
	line          []byte // the beginning of a line, at most maxLine bytes
	heads         []bodyLengths
}

// scan scans b, the next bytes of the connection. It appends the lengths of each completed head to heads.
func (s *scanner) scan(b []byte) {
	for len(b) > 0 && s.state != lost {
		if s.state == inBody || s.state == inChunk {
			n := min(s.remaining, int64(len(b)))
			b = b[n:]
			if s.remaining -= n; s.remaining == 0 {
				s.endBody()
			}
			continue
		}
		c := b[0]
		b = b[1:]
		if c != '\n' {
			if len(s.line) < maxLine {
				s.line = append(s.line, c)
			}
			continue
		}
		s.endLine()
		s.line = s.line[:0]
	}
}

// endBody is called after the last byte of a body or chunk.
func (s *scanner) endBody() {
	if s.state == inChunk {
		s.state = afterChunk
		return
	}
	s.state = inHead
}

// endLine is called at each line feed outside of bodies. In heads the carriage return is optional, as for
// net/http. In chunked framing it is required.
func (s *scanner) endLine() {
	text, crlf := strings.CutSuffix(string(s.line), "\r")
	switch {
	case s.state == inHead:
		s.scanHeadLine(text)
	case !crlf:
		s.state = lost
	case s.state == inChunkSize:
		s.scanChunkSize(text)
	case s.state == afterChunk && text == "":
		s.state = inChunkSize
	case s.state == inTrailer && text == "":
		s.state = inHead
	case s.state != inTrailer:
		s.state = lost
	}
}

// scanHeadLine scans a line of a head.
func (s *scanner) scanHeadLine(text string) {
	switch {
	case !s.inProgress && text == "": // line ends between requests
	case !s.inProgress:
		s.inProgress, s.head, s.contentLength = true, bodyLengths{}, 0
	case text == "":
		s.endHead()
	default:
		s.scanField(text)
	}
}

// scanField scans a field line.
func (s *scanner) scanField(text string) {
	name, value, _ := strings.Cut(text, ":")
	switch name = strings.TrimSpace(name); {
	case strings.EqualFold(name, "Transfer-Encoding"):
		s.head.hasTransferEncoding = true
	case strings.EqualFold(name, "Content-Length"):
		size, ok := parseLength(strings.TrimSpace(value), 10)
		if !ok || len(s.line) == maxLine || s.head.hasContentLength && size != s.contentLength { // a line of maxLine bytes may be cut within the number
			size = unknownLength
		}
		s.head.hasContentLength, s.contentLength = true, size
	}
}

// endHead is called at the empty line after a head.
func (s *scanner) endHead() {
	s.inProgress = false
	if len(s.heads) == maxHeads {
		s.state = lost
		return
	}
	s.heads = append(s.heads, s.head)
	switch {
	case s.head.hasTransferEncoding:
		s.state = inChunkSize
	case s.contentLength == unknownLength:
		s.state = lost
	case s.contentLength > 0:
		s.state, s.remaining = inBody, s.contentLength
	}
}

// scanChunkSize scans the line before a chunk. Extensions are not supported.
func (s *scanner) scanChunkSize(text string) {
	size, ok := parseLength(text, 16)
	switch {
	case !ok:
		s.state = lost
	case size == 0:
		s.state = inTrailer
	default:
		s.state, s.remaining = inChunk, size
	}
}

// parseLength parses at most maxLengthDigits digits.
func parseLength(text string, base int64) (n int64, ok bool) {
	if text == "" || len(text) > maxLengthDigits {
		return 0, false
	}
	for i := range len(text) {
		digit := int64(strings.IndexByte("0123456789abcdefABCDEF", text[i]))
		if digit >= 16 {
			digit -= 6 // an upper-case digit
		}
		if digit < 0 || digit >= base {
			return 0, false
		}
		n = n*base + digit
	}
	return n, true
}
