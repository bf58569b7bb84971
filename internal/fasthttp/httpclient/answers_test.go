package httpclient_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
)

// rawResponse is a server's response and its expected outcome.
type rawResponse struct {
	name   string
	bytes  string
	want   string // status, body and kind of error, as in outcome.String
	method string // empty: GET
	open   bool   // the server waits for another request; otherwise it closes the connection
	early  bool   // the server responds before it reads the request
}

// ok is a usual head, up to its last header.
const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

var (
	zippedText = compressed("hello, hello, hello")
	long       = strings.Repeat("x", 40<<10)
)

func compressed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func chunked(text string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(text), text) }

// testResponses are valid and invalid responses of servers.
var testResponses = []rawResponse{
	// Lengths.
	{name: "a length", bytes: ok + "Content-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "a length, then the end", bytes: ok + "Content-Length: 5\r\n\r\nhello", want: `200 "hello"`},
	{name: "a length of zero", bytes: ok + "Content-Length: 0\r\n\r\n", want: `200 ""`, open: true},
	{name: "a long body", bytes: ok + "Content-Length: 40960\r\n\r\n" + long, want: `200 "` + long + `"`, open: true},
	{name: "a body longer than heads may be", bytes: ok + "Content-Length: 163840\r\n\r\n" + strings.Repeat(long, 4), want: `200 "` + strings.Repeat(long, 4) + `"`, open: true},
	{name: "a body that is cut", bytes: ok + "Content-Length: 10\r\n\r\nhello", want: `200 "hello" unexpected EOF`},
	{name: "a length and no body", bytes: ok + "Content-Length: 10\r\n\r\n", want: `200 "" unexpected EOF`},
	{name: "the same length twice", bytes: ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "two lengths", bytes: ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", want: `error`},
	{name: "two lengths in one", bytes: ok + "Content-Length: 5, 5\r\n\r\nhello", want: `error`},
	{name: "a negative length", bytes: ok + "Content-Length: -5\r\n\r\nhello", want: `error`},
	{name: "a signed length", bytes: ok + "Content-Length: +5\r\n\r\nhello", want: `error`},
	{name: "an empty length", bytes: ok + "Content-Length:\r\n\r\nhello", want: `error`},
	{name: "a length in hex", bytes: ok + "Content-Length: 0x5\r\n\r\nhello", want: `error`},
	{name: "a length beyond all numbers", bytes: ok + "Content-Length: 99999999999999999999\r\n\r\nhello", want: `error`},
	{name: "a huge length", bytes: ok + "Content-Length: 9223372036854775807\r\n\r\nhello", want: `200 "hello" unexpected EOF`},

	// Chunks.
	{name: "a chunk", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n" + chunked("hello"), want: `200 "hello"`, open: true},
	{name: "chunks", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", want: `200 "hello"`, open: true},
	{name: "a long chunk", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n" + chunked(long), want: `200 "` + long + `"`, open: true},
	{name: "no chunk", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", want: `200 ""`, open: true},
	{name: "Chunked in capitals", bytes: ok + "Transfer-Encoding: CHUNKED\r\n\r\n" + chunked("hello"), want: `200 "hello"`, open: true},
	{name: "chunk extensions", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0;c\r\n\r\n", want: `200 "hello"`, open: true},
	{name: "chunks with zeroes before their length", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n005\r\nhello\r\n00\r\n\r\n", want: `200 "hello"`, open: true},
	{name: "trailers", bytes: ok + "Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", want: `200 "hello"`, open: true},
	{name: "trailers that nobody announced", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", want: `200 "hello"`, open: true},
	{name: "a trailer that may not be one", bytes: ok + "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked("hello"), want: `error`},
	{name: "trailers that are cut", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum", want: `200 "hello" error`},
	{name: "chunks without their end", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", want: `200 "hello" unexpected EOF`},
	{name: "a chunk that is cut", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n9\r\nhello", want: `200 "hello" unexpected EOF`},
	{name: "a last chunk that is cut", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", want: `200 "hello" error`},
	{name: "a chunk longer than told", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n", want: `200 "hell" error`},
	{name: "a chunk length that is none", bytes: ok + "Transfer-Encoding: chunked\r\n\r\nfive\r\nhello\r\n", want: `200 "" error`},
	{name: "a chunk length that is none, and no end", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nfive\r\n", want: `200 "hello" error`, open: true},
	{name: "a chunk that does not end where it says, and no end", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nhello!", want: `200 "hell" error`, open: true},
	{name: "a chunk length beyond all numbers", bytes: ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello", want: `200 "" error`},
	{name: "chunk lines with bare LF", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n", want: `200 "" error`},
	{name: "an endless chunk line", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n5;" + long + "\r\nhello\r\n0\r\n\r\n", want: `200 "" error`},
	{name: "chunks and a length", bytes: ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked("hello"), want: `200 "hello"`, open: true},
	{name: "chunks and a length that is none", bytes: ok + "Content-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked("hello"), want: `error`},
	{name: "a transfer encoding twice", bytes: ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked("hello"), want: `error`},
	{name: "an unknown transfer encoding", bytes: ok + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked("hello"), want: `error`},

	// Bodies up to the connection's end, and old servers.
	{name: "no length", bytes: ok + "\r\nhello", want: `200 "hello"`},
	{name: "no length and no body", bytes: ok + "\r\n", want: `200 ""`},
	{name: "Connection: close", bytes: ok + "Connection: close\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "Connection: close among others", bytes: ok + "Connection: x, Close\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "HTTP/1.0", bytes: "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "HTTP/1.0, kept", bytes: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "HTTP/1.0 without a length", bytes: "HTTP/1.0 200 OK\r\n\r\nhello", want: `200 "hello"`},
	{name: "HTTP/1.0 with chunks", bytes: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked("hello"), want: `200 "5\r\nhello\r\n0\r\n\r\n"`},

	// Answers without a body.
	{name: "204", bytes: "HTTP/1.1 204 No Content\r\n\r\n", want: `204 ""`, open: true},
	{name: "204 with a length", bytes: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", want: `204 ""`, open: true},
	{name: "204 with chunks", bytes: "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", want: `204 ""`, open: true},
	{name: "304 with a length", bytes: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", want: `304 ""`, open: true},
	{name: "HEAD", bytes: ok + "Content-Length: 5\r\n\r\n", method: http.MethodHead, want: `200 ""`, open: true},
	{name: "HEAD with chunks", bytes: ok + "Transfer-Encoding: chunked\r\n\r\n", method: http.MethodHead, want: `200 ""`, open: true},
	{name: "HEAD without a length", bytes: ok + "\r\n", method: http.MethodHead, want: `200 ""`, open: true},
	{name: "HEAD of something compressed", bytes: ok + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n", method: http.MethodHead, want: `200 ""`, open: true},
	{name: "202 to a POST", bytes: "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", method: http.MethodPost, want: `202 ""`, open: true},

	// Interim answers.
	{name: "100", bytes: "HTTP/1.1 100 Continue\r\n\r\n" + helloResponse, want: `200 "hello"`, open: true},
	{name: "103", bytes: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + helloResponse, want: `200 "hello"`, open: true},
	{name: "a series", bytes: strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 5) + helloResponse, want: `200 "hello"`, open: true},
	{name: "an unknown interim answer", bytes: "HTTP/1.1 199 Odd\r\n\r\n" + helloResponse, want: `200 "hello"`, open: true},
	{name: "100 and the end", bytes: "HTTP/1.1 100 Continue\r\n\r\n", want: `error unexpected EOF`},
	{name: "long interim answers", bytes: strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: "+long+"\r\n\r\n", 2) + helloResponse, want: `error`},
	{name: "101 that nobody asked for", bytes: "HTTP/1.1 101 Switching Protocols\r\n\r\n", want: `101 ""`, open: true},

	// Heads.
	{name: "no status text", bytes: "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "a blank status text", bytes: "HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "an unknown status", bytes: "HTTP/1.1 799 Odd\r\nContent-Length: 5\r\n\r\nhello", want: `799 "hello"`, open: true},
	{name: "a status of four digits", bytes: "HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\nhello", want: `error`},
	{name: "a negative status", bytes: "HTTP/1.1 -20 OK\r\nContent-Length: 5\r\n\r\nhello", want: `error`},
	{name: "a status below all", bytes: "HTTP/1.1 007 OK\r\nContent-Length: 5\r\n\r\nhello", want: `7 "hello"`, open: true},
	{name: "HTTP/2.0", bytes: "HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "another protocol", bytes: "SSH-2.0-OpenSSH_9.6\r\n", want: `error`},
	{name: "bare LF", bytes: "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", want: `200 "hello"`, open: true},
	{name: "a folded header", bytes: ok + "X-Long: one\r\n two\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "a header that starts folded", bytes: "HTTP/1.1 200 OK\r\n X: y\r\nContent-Length: 5\r\n\r\nhello", want: `error`},
	{name: "a header without a colon", bytes: ok + "oops\r\nContent-Length: 5\r\n\r\nhello", want: `error`},
	{name: "a header without a name", bytes: ok + ": oops\r\nContent-Length: 5\r\n\r\nhello", want: `error`},
	{name: "a blank before the colon", bytes: ok + "Content-Length : 5\r\n\r\nhello", want: `200 "hello"`},
	{name: "a CR in a header", bytes: ok + "X-Odd: a\rb\r\nContent-Length: 5\r\n\r\nhello", want: `error`},
	{name: "a NUL in a header", bytes: ok + "X-Odd: a\x00b\r\nContent-Length: 5\r\n\r\nhello", want: `error`},
	{name: "bytes beyond ASCII in a header", bytes: ok + "X-Odd: \xfc\xff\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "a header many times", bytes: ok + strings.Repeat("Set-Cookie: a=b\r\n", 50) + "Content-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "names in small letters", bytes: "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-type: a/b\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "a long header", bytes: ok + "X-Long: " + long + "\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "a header that is too long", bytes: ok + "X-Long: " + long + long + "\r\nContent-Length: 5\r\n\r\nhello", want: `error`},
	{name: "too many headers", bytes: ok + strings.Repeat("X-Many: some words\r\n", 4000) + "Content-Length: 5\r\n\r\nhello", want: `error`},
	{name: "an endless status line", bytes: "HTTP/1.1 200 " + long + long, want: `error`},
	{name: "a head that is cut", bytes: ok + "Content-Le", want: `error`},
	{name: "half a status line", bytes: "HTTP/1.1 20", want: `error`},
	{name: "nothing", bytes: "", want: `error EOF`},
	{name: "an empty line first", bytes: "\r\n" + helloResponse, want: `error`},
	{name: "garbage", bytes: "\x00\x01\x02\xff\r\n\r\n", want: `error`},
	{name: "a TLS alert", bytes: "\x15\x03\x01\x00\x02\x02\x46", want: `error`},
	{name: "a page without a head", bytes: "<html><body>hello</body></html>\n", want: `error`},

	// Order.
	{name: "an answer before the request was read", bytes: helloResponse, early: true, want: `200 "hello"`, open: true},
	{name: "413 before the request was read, and the end", bytes: "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", method: http.MethodPost, early: true, want: `413 "hello"`},

	// Compression.
	{name: "gzip", bytes: ok + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(zippedText), want: `200 "hello, hello, hello"`, open: true},
	{name: "gzip in capitals", bytes: ok + "Content-Encoding: GZIP\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(zippedText), want: `200 "hello, hello, hello"`, open: true},
	{name: "gzip with a length", bytes: fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", ok, len(zippedText), zippedText), want: `200 "hello, hello, hello"`, open: true},
	{name: "gzip up to the end", bytes: ok + "Content-Encoding: gzip\r\n\r\n" + zippedText, want: `200 "hello, hello, hello"`},
	{name: "gzip in two parts", bytes: ok + "Content-Encoding: gzip\r\n\r\n" + zippedText + zippedText, want: `200 "hello, hello, hellohello, hello, hello"`},
	{name: "gzip that is cut", bytes: ok + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(zippedText[:20]), want: `200 "hello, hello, hello" unexpected EOF`},
	{name: "gzip whose connection is cut", bytes: fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", ok, len(zippedText), zippedText[:20]), want: `200 "hello, hello, hello" unexpected EOF`},
	{name: "gzip whose text is broken", bytes: ok + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(zippedText[:10]+"\xff\xff\xff"+zippedText[13:]), want: `200 "" corrupt`},
	{name: "gzip whose sum is wrong", bytes: ok + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(zippedText[:len(zippedText)-8]+"\x00\x00\x00\x00"+zippedText[len(zippedText)-4:]), want: `200 "hello, hello, hello" corrupt`},
	{name: "gzip that is none", bytes: ok + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked("hello, hello"), want: `200 "" corrupt`},
	{name: "gzip of nothing", bytes: ok + "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", want: `200 ""`, open: true},
	{name: "gzip of no chunk", bytes: ok + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", want: `200 ""`, open: true},
	{name: "gzip and more", bytes: ok + "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(zippedText+"more than that"), want: `200 "hello, hello, hello" corrupt`},
	{name: "deflate", bytes: ok + "Content-Encoding: deflate\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "gzip twice", bytes: ok + "Content-Encoding: gzip, gzip\r\nContent-Length: 5\r\n\r\nhello", want: `200 "hello"`, open: true},
	{name: "204, compressed", bytes: "HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n", want: `204 ""`, open: true},
}
