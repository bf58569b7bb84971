package export

import (
	"encoding/json"
	"reflect"
	"time"
)

// timeLayout is RFC 3339 with milliseconds and a fixed width, so that texts sort like times.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// toJSONValue converts a value to nil, a boolean, number, string, list of strings or JSON.
func toJSONValue(value any) any {
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
	if v := reflect.ValueOf(value); v.Kind() == reflect.String { // string types of the product
		return v.String()
	}
	return value
}
