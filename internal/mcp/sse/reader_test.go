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

func readAll(r io.Reader, most int) ([]sse.Event, error) {
	var events []sse.Event
	reader := sse.NewReader(r, most)
	for {
		event, err := reader.Next()
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
}

func message(data ...string) []sse.Event {
	var events []sse.Event
	for _, d := range data {
		events = append(events, sse.Event{Data: []byte(d)})
	}
	return events
}

func TestReaderTakesEveryWayToWriteAStream(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		stream string
		want   []sse.Event
	}{
		"line feeds":                      {"data: a\n\ndata: b\n\n", message("a", "b")},
		"carriage returns":                {"data: a\r\rdata: b\r\r", message("a", "b")},
		"both":                            {"data: a\r\n\r\ndata: b\r\n\r\n", message("a", "b")},
		"mixed ends":                      {"data: a\r\n\ndata: b\n\r", message("a", "b")},
		"byte order mark":                 {"\xef\xbb\xbfdata: a\n\n", message("a")},
		"comments":                        {": hello\n\n:\n\ndata: a\n:in the middle\ndata: b\n\n", message("a\nb")},
		"several data lines":              {"data: a\ndata:  b\ndata:c\n\n", message("a\n b\nc")},
		"no final blank line":             {"data: a\n", message("a")},
		"no final line end":               {"data: a", message("a")},
		"name and id":                     {"event: x\nid: 7\ndata: a\n\n", []sse.Event{{Name: "x", ID: "7", Data: []byte("a")}}},
		"the name ends with its event":    {"event: x\ndata: a\n\ndata: b\n\n", []sse.Event{{Name: "x", Data: []byte("a")}, {Data: []byte("b")}}},
		"events without data":             {"event: ping\n\nid: 1\n\ndata:\n\ndata: a\n\n", message("a")},
		"unknown fields":                  {"retry: 10\nfoo: bar\nfoo\ndata: a\n\n", message("a")},
		"a data line that begins empty":   {"data:\ndata: a\n\n", message("\na")},
		"nothing":                         {"", nil},
		"only line ends":                  {"\n\r\n\r\r\n", nil},
		"a mark later on is just a field": {"data: a\n\n\xef\xbb\xbfdata: b\n\n", message("a")},
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

func TestReaderRefusesWhatIsTooLarge(t *testing.T) {
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

func TestReaderDoesNotCountComments(t *testing.T) {
	t.Parallel()
	got, err := readAll(strings.NewReader(strings.Repeat(": keep-alive\n", 1000)+"data: a\n\n"), 64)
	if !errors.Is(err, io.EOF) {
		t.Errorf("error = %v, want EOF", err)
	}
	if diff := cmp.Diff(message("a"), got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestReaderTellsTheStreamsError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	got, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: half"), iotest.ErrReader(broken)), 64)
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want the stream's", err)
	}
	if diff := cmp.Diff(message("a"), got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// An event is there as soon as its blank line is: a server that holds the stream open must not delay it.
func TestReaderDoesNotWaitForTheByteAfterAnEvent(t *testing.T) {
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

func FuzzReader(f *testing.F) {
	f.Add("data: a\n\n", 64)
	f.Add("\xef\xbb\xbfevent: x\rdata: a\r\rdata", 8)
	f.Fuzz(func(t *testing.T, stream string, most int) {
		if most < 0 || most > 1<<16 {
			return // no reader is made with it
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

func TestLongEventsKeepTheirBytes(t *testing.T) {
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
