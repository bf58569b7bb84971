package toolsync_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"patchbay/internal/mcp/mcptest"
)

// One file in testdata/sloppy describes one server that deviates from MCP, as a txtar archive. The first lines say what the
// server does, and which servers do it. Then come sections:
//
//	connector                 settings, one per line: "timeout 10s", "retries 0", "bearer TOKEN", "url http://mcp.test/mcp",
//	                          "transport streamable_http", "also HOST" (another origin that may be called)
//	initialize, tools/list,   the response to that method; "tools/list 2" is the second response, "*" the response to all
//	GET and so on             other methods. A method without a section gets a valid response with one tool, "good".
//	connect                   bytes sent on a new connection, before any request
//	want                      the expected report
//
// A response that begins with HTTP/ has a status line, headers, a blank line and a body. Any other is a JSON body with
// "200 OK". Content-Length or chunks are added where the headers have neither. These stand between {{ and }}:
//
//   - bytes: id (of the request), n (number of requests of this method), version (requested), bom, cr, lf, crlf, nul,
//     "hex c3bc", "repeat 100 {"name":"t%d"},", "tools 20" (real ones). gzip compresses what follows. eof ends the section;
//     its last line end belongs to the response only in event streams.
//   - actions: well (respond correctly), flush, "wait 3s", "on METHOD" (wait for such a request; its id counts from then on),
//     "drip 1s text" (forever), "flood text" (200 MiB), hang (until the client leaves), cut (the connection), reset. raw comes
//     first: no HTTP around the bytes.
//
// want has either "tools:" with an "aside: NAME REASON" per rejected entry, or "fails:" (code, phase, status) and "says:" (the
// sentence). Before that it may have "sent:", "took:", "header NAME:", "raw NAME:" (the bytes of a tool), "server:", "meta:"
// (versions), "instructions:" (length) and "retry after:". Handshake means server/discover or initialize.
//
// A text with "secret" must not appear in an error. Each case is bounded in time, sends its credential to its own server only,
// and leaves no connection open. Cases with flood are bounded in memory.

type sloppyCase struct {
	name      string
	comment   string
	url       string
	transport string
	timeout   time.Duration
	retries   int
	bearer    string
	also      []string               // other allowed origins
	replies   map[string]sloppyReply // by "method", "method N" (the Nth of them only) or "*" (all others)
	want      string
}

const (
	methodDiscover = "server/discover"
	sloppyURL      = "http://mcp.test/mcp"
)

func readSloppyCase(file string) (sloppyCase, error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return sloppyCase{}, err
	}
	c := sloppyCase{
		name:      strings.TrimSuffix(filepath.Base(file), ".txtar"),
		comment:   string(archive.Comment),
		url:       sloppyURL,
		transport: "streamable_http",
		timeout:   10 * time.Second,
		replies:   map[string]sloppyReply{},
	}
	for _, f := range archive.Files {
		switch f.Name {
		case "want":
			c.want = string(f.Data)
		case "connector":
			err = c.settings(string(f.Data))
		default:
			c.replies[f.Name], err = readSloppyReply(string(f.Data))
		}
		if err != nil {
			return c, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if c.comment == "" || c.want == "" {
		return c, fmt.Errorf("a case has a comment and a section want")
	}
	return c, nil
}

// settings reads the section "connector".
func (c *sloppyCase) settings(text string) (err error) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "url":
			c.url = value
		case "transport":
			c.transport = value
		case "timeout":
			c.timeout, err = time.ParseDuration(value)
		case "retries":
			c.retries, err = strconv.Atoi(value)
		case "bearer":
			c.bearer = value
		case "also":
			c.also = append(c.also, value)
		default:
			err = fmt.Errorf("no setting %q", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isHuge reports whether the case is about memory: it floods.
func (c sloppyCase) isHuge() bool {
	for _, r := range c.replies {
		for _, p := range append(r.head, r.body...) {
			if p.word == "flood" {
				return true
			}
		}
	}
	return false
}

// scripts reports whether the case has a reply for a method.
func (c sloppyCase) scripts(method string) bool {
	for key := range c.replies {
		if name, _, _ := strings.Cut(key, " "); name == method || name == "*" {
			return true
		}
	}
	return false
}

// reply is the reply to the nth request of a method; ok is false if the server behaves well.
func (c sloppyCase) reply(method string, n int) (r sloppyReply, ok bool) {
	for _, key := range []string{fmt.Sprintf("%s %d", method, n), method, "*"} {
		if r, ok = c.replies[key]; ok {
			return r, !r.isWellFormed()
		}
	}
	return r, false
}

// sloppyReply is an HTTP response of text and words in {{ }}, which stand for bytes or actions.
type sloppyReply struct {
	head []piece // status line and headers; nil: "200 OK" and JSON
	body []piece
}

// isWellFormed reports whether the reply is that of a well-behaved server.
func (r sloppyReply) isWellFormed() bool {
	return len(r.head) == 0 && len(r.body) > 0 && r.body[0].word == "well"
}

// hasNoHeader reports whether the reply has no HTTP header: the server breaks off, or speaks another protocol.
func (r sloppyReply) hasNoHeader() bool {
	if len(r.head) > 0 || len(r.body) == 0 {
		return false
	}
	switch r.body[0].word {
	case "raw", "cut", "reset", "hang", "wait":
		return true
	}
	return false
}

// piece is a text, or a word and its argument.
type piece struct{ text, word, arg string }

// readSloppyReply parses a section. The last newline belongs to the archive, except in event streams.
func readSloppyReply(text string) (r sloppyReply, err error) {
	text, _, _ = strings.Cut(text, "{{eof}}")
	head, body, found := strings.Cut(text, "\n\n")
	switch isHTTP := strings.HasPrefix(text, "HTTP/"); {
	case !isHTTP:
		head, body = "", strings.TrimSuffix(text, "\n")
	case !found:
		head, body = strings.TrimSuffix(text, "\n"), ""
	case !strings.Contains(head, "event-stream"):
		body = strings.TrimSuffix(body, "\n")
	}
	if r.head, err = pieces(head); err != nil {
		return r, err
	}
	r.body, err = pieces(body)
	return r, err
}

func pieces(text string) (all []piece, err error) {
	for text != "" {
		before, rest, found := strings.Cut(text, "{{")
		if before != "" {
			all = append(all, piece{text: before})
		}
		if !found {
			break
		}
		inside, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, fmt.Errorf("{{ without }}: %.40q", rest)
		}
		word, arg, _ := strings.Cut(inside, " ")
		if !words[word] {
			return nil, fmt.Errorf("no word %q", word)
		}
		all = append(all, piece{word: word, arg: arg})
		text = after
	}
	return all, nil
}

// words lists the words of replies.
var words = map[string]bool{
	// bytes
	"bom": true, "cr": true, "lf": true, "crlf": true, "nul": true, "hex": true, "repeat": true, "tools": true,
	"id": true, "n": true, "version": true, "gzip": true,
	// actions
	"well": true, "raw": true, "flush": true, "on": true, "wait": true, "drip": true, "flood": true, "hang": true, "cut": true, "reset": true,
}

// isTimed reports whether a body has actions.
func isTimed(body []piece) bool {
	for _, p := range body {
		switch p.word {
		case "flush", "on", "wait", "drip", "flood", "hang", "cut", "reset":
			return true
		}
	}
	return false
}

// bytes expands a piece in reply to a call.
func (p piece) bytes(c sloppyCall) []byte {
	switch p.word {
	case "":
		return []byte(p.text)
	case "bom":
		return []byte("\xef\xbb\xbf")
	case "cr":
		return []byte("\r")
	case "lf":
		return []byte("\n")
	case "crlf":
		return []byte("\r\n")
	case "nul":
		return []byte{0}
	case "hex":
		b, _ := hex.DecodeString(p.arg)
		return b
	case "id":
		return c.id
	case "n":
		return []byte(strconv.Itoa(c.n))
	case "version":
		return []byte(c.version)
	case "tools":
		n, _ := strconv.Atoi(p.arg)
		return []byte(strings.Join(mcptest.Tools(n), ","))
	case "repeat":
		return repeat(p.arg)
	}
	return nil
}

// unescaped replaces escaped newlines in a word's argument.
var unescaped = strings.NewReplacer(`\n`, "\n", `\r`, "\r")

// repeat expands "N text": the text N times, with %d for the index.
func repeat(arg string) []byte {
	times, text, _ := strings.Cut(arg, " ")
	n, _ := strconv.Atoi(times)
	text = unescaped.Replace(text)
	if !strings.Contains(text, "%d") {
		return bytes.Repeat([]byte(text), n)
	}
	var b bytes.Buffer
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
	}
	return b.Bytes()
}

// expandBody expands a body without actions.
func expandBody(body []piece, c sloppyCall) []byte {
	var b bytes.Buffer
	for i, p := range body {
		if p.word == "gzip" {
			z := gzip.NewWriter(&b)
			_, _ = z.Write(expandBody(body[i+1:], c))
			_ = z.Close()
			break
		}
		b.Write(p.bytes(c))
	}
	return b.Bytes()
}
