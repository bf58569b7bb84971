package sse_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp/sse"
)

func readAll(r io.Reader, maxEvent int) ([]sse.Event, error) {
	var events []sse.Event
	reader := sse.NewReader(r, maxEvent)
	for {
		event, err := reader.Next()
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
}

func newMessages(data ...string) []sse.Event {
	var events []sse.Event
	for _, d := range data {
		events = append(events, sse.Event{Data: []byte(d)})
	}
	return events
}

func TestReader_StreamFormats(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		stream string
		want   []sse.Event
	}{
		"line feeds":                      {"data: a\n\ndata: b\n\n", newMessages("a", "b")},
		"carriage returns":                {"data: a\r\rdata: b\r\r", newMessages("a", "b")},
		"both":                            {"data: a\r\n\r\ndata: b\r\n\r\n", newMessages("a", "b")},
		"mixed ends":                      {"data: a\r\n\ndata: b\n\r", newMessages("a", "b")},
		"byte order mark":                 {"\xef\xbb\xbfdata: a\n\n", newMessages("a")},
		"comments":                        {": hello\n\n:\n\ndata: a\n:in the middle\ndata: b\n\n", newMessages("a\nb")},
		"several data lines":              {"data: a\ndata:  b\ndata:c\n\n", newMessages("a\n b\nc")},
		"no final blank line":             {"data: a\n", newMessages("a")},
		"no final line end":               {"data: a", newMessages("a")},
		"name and id":                     {"event: x\nid: 7\ndata: a\n\n", []sse.Event{{Name: "x", ID: "7", Data: []byte("a")}}},
		"the name ends with its event":    {"event: x\ndata: a\n\ndata: b\n\n", []sse.Event{{Name: "x", Data: []byte("a")}, {Data: []byte("b")}}},
		"events without data":             {"event: ping\n\nid: 1\n\ndata:\n\ndata: a\n\n", newMessages("a")},
		"unknown fields":                  {"retry: 10\nfoo: bar\nfoo\ndata: a\n\n", newMessages("a")},
		"a data line that begins empty":   {"data:\ndata: a\n\n", newMessages("\na")},
		"nothing":                         {"", nil},
		"only line ends":                  {"\n\r\n\r\r\n", nil},
		"a mark later on is just a field": {"data: a\n\n\xef\xbb\xbfdata: b\n\n", newMessages("a")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for how, r := range map[string]io.Reader{
				"whole":        strings.NewReader(c.stream),
				"byte by byte": iotest.OneByteReader(strings.NewReader(c.stream)),
				"with EOF":     iotest.DataErrReader(strings.NewReader(c.stream)),
			} {
				got, err := readAll(r, 100)
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: error = %v, want EOF", how, err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
			}
		})
	}
}

func TestReader_RefusesTooLargeEvents(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]string{
		"one line":         "data: " + strings.Repeat("x", 100) + "\n\n",
		"a line no end":    "data: " + strings.Repeat("x", 100),
		"many lines":       strings.Repeat("data: xxxx\n", 20) + "\n",
		"a comment":        ":" + strings.Repeat("x", 200) + "\n",
		"names, many":      strings.Repeat("event: xxxx\n", 20) + "\n",
		"the second event": "data: a\n\ndata: " + strings.Repeat("x", 100) + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := readAll(strings.NewReader(stream), 64); !errors.Is(err, sse.ErrTooLarge) {
				t.Errorf("error = %v, want ErrTooLarge", err)
			}
		})
	}
}

func TestReader_DoesNotCountComments(t *testing.T) {
	t.Parallel()
	got, err := readAll(strings.NewReader(strings.Repeat(": keep-alive\n", 1000)+"data: a\n\n"), 64)
	if !errors.Is(err, io.EOF) {
		t.Errorf("error = %v, want EOF", err)
	}
	if diff := cmp.Diff(newMessages("a"), got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestReader_ReturnsStreamError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	got, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: half"), iotest.ErrReader(broken)), 64)
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want the stream's", err)
	}
	if diff := cmp.Diff(newMessages("a"), got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// An event is returned as soon as its blank line arrives, although the stream stays open.
func TestReader_DoesNotReadPastAnEvent(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n"} {
		pr, pw := io.Pipe()
		go func() { _, _ = io.WriteString(pw, "data: a"+end) }()
		event, err := sse.NewReader(pr, 64).Next()
		if err != nil || string(event.Data) != "a" {
			t.Errorf("after %q: event %q, error %v", end, event.Data, err)
		}
		_ = pr.Close()
	}
}

// FuzzReader checks that a stream reads the same in one go and byte by byte, with bounded events.
func FuzzReader(f *testing.F) {
	f.Add("data: a\n\n", 64)
	f.Add("\xef\xbb\xbfevent: x\rdata: a\r\rdata", 8)
	f.Fuzz(func(t *testing.T, stream string, most int) {
		if most < 0 || most > 1<<16 {
			return // not a valid limit
		}
		whole, wholeErr := readAll(strings.NewReader(stream), most)
		bytewise, bytewiseErr := readAll(iotest.OneByteReader(strings.NewReader(stream)), most)
		if diff := cmp.Diff(whole, bytewise); diff != "" || wholeErr.Error() != bytewiseErr.Error() {
			t.Errorf("read in one go and byte by byte differ: %v, %v\n%s", wholeErr, bytewiseErr, diff)
		}
		for _, event := range whole {
			if len(event.Data) > most {
				t.Errorf("an event of %d bytes, more than %d", len(event.Data), most)
			}
		}
	})
}

func TestReader_LongEventsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	first, second := strings.Repeat("a", 100_000), strings.Repeat("b", 100_000)
	r := sse.NewReader(strings.NewReader("data: "+first+"\n\ndata: "+second+"\n\n"), 1<<20)
	one, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.Next()
	if err != nil || string(one.Data) != first || string(two.Data) != second {
		t.Errorf("the events changed each other, error %v", err)
	}
}
