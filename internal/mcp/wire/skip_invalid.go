package wire

// skipInvalid skips an array element that is invalid JSON, by its brackets and quotes alone. ok is false if its
// end is unclear.
func (s *scanner) skipInvalid(from int) (ok bool) {
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
