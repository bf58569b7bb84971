package framing

import "strings"

// lengths are the fields of one head that say how long its body is.
type lengths struct {
	encoded  bool // Transfer-Encoding
	measured bool // Content-Length
}

// state is what a scanner expects next.
type state uint8

const (
	inHead state = iota
	inBody
	inChunkSize
	inChunk
	behindChunk // its CR LF
	inTrailer
	lost // the scanner cannot follow any more
)

// unreadable is the size of a head whose Content-Length the scanner does not follow.
const unreadable = -1

// maxLine is how much of a line is kept, in bytes: enough for the name of a length's field and its value.
const maxLine = 64

// maxHeads bounds the heads that wait for their requests. net/http reads at most 4 KiB ahead, in which there are fewer.
const maxHeads = 512

// maxLengthDigits bounds a length in digits, so that it fits an int64 also in hexadecimal.
const maxLengthDigits = 15

// scanner follows the requests of one connection.
type scanner struct {
	state state
	begun bool  // the head's first line has come
	left  int64 // bytes of the body, or of the chunk, that are still to come
	size  int64 // the Content-Length of the head, or unreadable
	head  lengths
	line  []byte // the beginning of a line, at most maxLine bytes
	heads []lengths
}

// scan reads b, the next bytes of the connection. It appends the lengths of each head that ends in b to heads.
func (s *scanner) scan(b []byte) {
	for len(b) > 0 && s.state != lost {
		if s.state == inBody || s.state == inChunk {
			n := min(s.left, int64(len(b)))
			b = b[n:]
			if s.left -= n; s.left == 0 {
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

// endBody is called behind the last byte of a body, or of a chunk.
func (s *scanner) endBody() {
	if s.state == inChunk {
		s.state = behindChunk
		return
	}
	s.state = inHead
}

// endLine is called at each line feed outside of bodies. Heads may end their lines without a carriage return, as net/http has it; all that is
// chunked may not.
func (s *scanner) endLine() {
	text, crlf := strings.CutSuffix(string(s.line), "\r")
	switch {
	case s.state == inHead:
		s.headLine(text)
	case !crlf:
		s.state = lost
	case s.state == inChunkSize:
		s.chunkSize(text)
	case s.state == behindChunk && text == "":
		s.state = inChunkSize
	case s.state == inTrailer && text == "":
		s.state = inHead
	case s.state != inTrailer:
		s.state = lost
	}
}

// headLine takes a line of a head.
func (s *scanner) headLine(text string) {
	switch {
	case !s.begun && text == "": // line ends between requests
	case !s.begun:
		s.begun, s.head, s.size = true, lengths{}, 0
	case text == "":
		s.endHead()
	default:
		s.field(text)
	}
}

// field takes a line of a head but its first.
func (s *scanner) field(text string) {
	name, value, _ := strings.Cut(text, ":")
	switch name = strings.TrimSpace(name); {
	case strings.EqualFold(name, "Transfer-Encoding"):
		s.head.encoded = true
	case strings.EqualFold(name, "Content-Length"):
		size, ok := number(strings.TrimSpace(value), 10)
		if !ok || len(s.line) == maxLine || s.head.measured && size != s.size { // a line of maxLine bytes may be cut in the number
			size = unreadable
		}
		s.head.measured, s.size = true, size
	}
}

// endHead is called at the empty line behind a head.
func (s *scanner) endHead() {
	s.begun = false
	if len(s.heads) == maxHeads {
		s.state = lost
		return
	}
	s.heads = append(s.heads, s.head)
	switch {
	case s.head.encoded:
		s.state = inChunkSize
	case s.size == unreadable:
		s.state = lost
	case s.size > 0:
		s.state, s.left = inBody, s.size
	}
}

// chunkSize takes the line before a chunk. Extensions are not followed.
func (s *scanner) chunkSize(text string) {
	size, ok := number(text, 16)
	switch {
	case !ok:
		s.state = lost
	case size == 0:
		s.state = inTrailer
	default:
		s.state, s.left = inChunk, size
	}
}

// number reads digits of a base, at most maxLengthDigits of them.
func number(text string, base int64) (n int64, ok bool) {
	if text == "" || len(text) > maxLengthDigits {
		return 0, false
	}
	for i := range len(text) {
		digit := int64(strings.IndexByte("0123456789abcdefABCDEF", text[i]))
		if digit >= 16 {
			digit -= 6 // a capital letter
		}
		if digit < 0 || digit >= base {
			return 0, false
		}
		n = n*base + digit
	}
	return n, true
}
