package agentview

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// maxFractional is the magnitude from which a float64 has no fraction.
const maxFractional = 1 << 52

// parseNumber returns the nearest float64, but never an integer for a text that is none. From 2^52 on it then
// returns 2^52-0.5. The error means that no float64 holds the number.
func parseNumber(text []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil || v != math.Trunc(v) || isIntegral(text):
		return v, err
	case math.Abs(v) >= maxFractional:
		return math.Copysign(maxFractional-0.5, v), nil
	case integerPart(text) != strconv.FormatFloat(math.Abs(v), 'f', 0, 64): // rounded up
		return math.Nextafter(v, 0), nil
	case text[0] == '-':
		return math.Nextafter(v, math.Inf(-1)), nil
	default:
		return math.Nextafter(v, math.Inf(1)), nil
	}
}

// isIntegral reports whether a JSON number is an integer; 3.0 and 0.5e1 are. It reads each character once,
// whatever the exponent.
func isIntegral(number []byte) bool {
	if isWrittenWhole(number) {
		return true
	}
	digits, point := splitDigits(number)
	digits = bytes.TrimRight(digits, "0")
	return len(bytes.TrimLeft(digits, "0")) == 0 || len(digits) <= point
}

// integerPart returns the digits before the point of a non-integer, written without an exponent.
func integerPart(number []byte) string {
	digits, point := splitDigits(number)
	if point <= 0 {
		return "0"
	}
	if whole := strings.TrimLeft(string(digits[:point]), "0"); whole != "" {
		return whole
	}
	return "0"
}

// splitDigits returns the digits of a number and the position of its point among them.
func splitDigits(number []byte) (digits []byte, point int) {
	mantissa, exponent := bytes.TrimPrefix(number, []byte("-")), 0
	if pos := bytes.IndexAny(mantissa, "eE"); pos >= 0 {
		exponent = parseExponent(mantissa[pos+1:])
		mantissa = mantissa[:pos]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	return append(bytes.Clone(whole), fraction...), len(whole) + exponent
}

// parseExponent clamps an exponent to ±2^30, beyond which no text is long enough to matter.
func parseExponent(text []byte) int {
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
