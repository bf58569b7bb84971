package blocks

// Size is the size of a block in bytes.
const Size = 64

// Skip returns the length of the leading whole blocks of b without a byte that is x, y, or (signed) less than
// least. It is 0 without AVX2. The caller checks the rest. least ' ' stops at control characters and non-ASCII
// bytes, least -128 at x and y only.
func Skip(b []byte, x, y byte, least int8) int {
	if len(b) < Size {
		return 0
	}
	return skipBlocks(b, x, y, least)
}
