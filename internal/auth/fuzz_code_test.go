package auth

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"patchbay/internal/secret"
)

// FuzzCode checks that typed text is accepted if its digits are the code of the current, previous or next time
// step (RFC 6238), with any separators.
func FuzzCode(f *testing.F) {
	raw := []byte("12345678901234567890")
	key := secret.Text(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw))
	at := time.Unix(1_700_000_000, 0)
	s := &Service{now: func() time.Time { return at }}
	valid := map[string]int64{}
	for step := at.Unix()/codePeriod - 2; step <= at.Unix()/codePeriod+2; step++ {
		code := shownAt(raw, step)
		if step >= at.Unix()/codePeriod-1 && step <= at.Unix()/codePeriod+1 {
			valid[code] = step
		}
		f.Add(code)
		f.Add(code[:3] + " " + code[3:])
		f.Add(" " + code[:2] + "-" + code[2:] + "\u00a0")
		f.Add(code + "0")
		f.Add(code[1:])
	}
	f.Add("")
	f.Add("\x00\xff")
	f.Add("ABCD-EFGH-JKLM-NPQR")
	f.Fuzz(func(t *testing.T, typed string) {
		step, ok := s.findStep(key, typed)
		var plain strings.Builder
		for _, r := range strings.TrimSpace(typed) {
			if r != ' ' && r != '-' && r != '\u00a0' {
				plain.WriteRune(r)
			}
		}
		if want, is := valid[strings.TrimSpace(plain.String())]; ok != is || step != want {
			t.Errorf("%q is the code of the step %d, %v: it is %q of %v", typed, step, ok, plain.String(), valid)
		}
	})
}

// shownAt is what an app shows (RFC 4226 §5.3).
func shownAt(key []byte, step int64) string {
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(step)))
	sum := mac.Sum(nil)
	from := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[from:from+4])&0x7fffffff%1_000_000)
}
