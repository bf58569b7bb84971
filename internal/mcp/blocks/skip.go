package blocks

// Size is how many bytes a block has.
const Size = 64

// Skip is how many whole blocks b begins with in which no byte is x, y, or as a signed number less than least, in bytes; 0 also where
// the processor has no instructions for it. The caller looks at what is left. With ' ' as least it stops before control characters and
// all that is not ASCII, with -128 before x and y alone.
func Skip(b []byte, x, y byte, least int8) int {
	if len(b) < Size {
		return 0
	}
	return skipBlocks(b, x, y, least)
}
