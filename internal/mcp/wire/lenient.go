package wire

// skipBroken moves the scanner behind an array's element that is no JSON, by its brackets and quotes alone. ok is false
// where the element's end cannot be told.
func (s *scanner) skipBroken(from int) (ok bool) {
	depth, quoted := 0, false
	for i := from; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case depth == 0 && (c == ',' || c == ']'):
			s.pos = i
			return true
		case c == '}':
			return false
		}
	}
	return false
}
