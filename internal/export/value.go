package export

import (
	"encoding/json"
	"reflect"
	"time"
)

// timeLayout is RFC 3339 with milliseconds, always of the same length, so that texts sort as times do.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// plain brings a value to what JSON knows: nil, a boolean, a number, a text, a list of texts, or JSON.
func plain(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case time.Time:
		return v.UTC().Format(timeLayout)
	case *time.Time:
		if v == nil {
			return nil
		}
		return v.UTC().Format(timeLayout)
	case json.RawMessage:
		if len(v) == 0 {
			return nil
		}
		return v
	case []string, bool, int, int32, int64, float64:
		return v
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.String { // the product's own words have types of their own
		return v.String()
	}
	return value
}
