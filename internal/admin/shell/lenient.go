package shell

import (
	"encoding/json"
)

// Lenient is a value that stays zero if the document holds another type.
type Lenient[T any] struct{ Value T }

// UnmarshalJSON never fails: one malformed field must not hide the others.
func (l *Lenient[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.Value = v
	}
	return nil
}
