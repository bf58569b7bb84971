package shell

import (
	"testing"
)

func TestEventsAreFramedLineByLine(t *testing.T) {
	t.Parallel()
	if have := string(EncodeEvent([]byte("<a>\r\n<b>"))); have != "data: <a>\ndata: <b>\n\n" {
		t.Errorf("%q", have)
	}
}
