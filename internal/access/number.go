package access

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// exact is up to where each float has neighbours that are no integers.
const exact = 1 << 52

// judged is the number that a JSON text is judged as: the nearest one that there is, but no integer where the text is none, however near
// it comes to one. Above 2^52, where there are integers only, it is the last number below that is none. The error: no float holds it.
func judged(text []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil || v != math.Trunc(v) || integral(text):
		return v, err
	case math.Abs(v) >= exact:
		return math.Copysign(exact-0.5, v), nil
	case before(text) != strconv.FormatFloat(math.Abs(v), 'f', 0, 64): // it was rounded up
		return math.Nextafter(v, 0), nil
	case text[0] == '-':
		return math.Nextafter(v, math.Inf(-1)), nil
	default:
		return math.Nextafter(v, math.Inf(1)), nil
	}
}

// integral tells whether a JSON number is an integer: 3.0 and 0.5e1 are. What it costs is a look at each character, however many digits
// an exponent stands for.
func integral(number []byte) bool {
	if whole(number) {
		return true
	}
	digits, point := spread(number)
	digits = bytes.TrimRight(digits, "0")
	return len(bytes.TrimLeft(digits, "0")) == 0 || len(digits) <= point
}

// before is what stands before the point of a number that is no integer once it is written without an exponent.
func before(number []byte) string {
	digits, point := spread(number)
	if point <= 0 {
		return "0"
	}
	if whole := strings.TrimLeft(string(digits[:point]), "0"); whole != "" {
		return whole
	}
	return "0"
}

// spread are the digits of a number, and behind how many of them its point stands; an exponent that is beyond all floats stands for one that is.
func spread(number []byte) (digits []byte, point int) {
	mantissa, exponent := bytes.TrimPrefix(number, []byte("-")), 0
	if at := bytes.IndexAny(mantissa, "eE"); at >= 0 {
		exponent = power(mantissa[at+1:])
		mantissa = mantissa[:at]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	return append(bytes.Clone(whole), fraction...), len(whole) + exponent
}

// power reads an exponent. No text is long enough for what is beyond its bounds to matter.
func power(text []byte) int {
	const beyond = 1 << 30
	n, err := strconv.Atoi(string(text))
	switch {
	case err == nil:
		return max(-beyond, min(n, beyond))
	case text[0] == '-':
		return -beyond
	default:
		return beyond
	}
}
