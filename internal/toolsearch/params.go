package toolsearch

import "strings"

// Bounds of ReadParams.
const (
	maxSchema     = 256 << 10 // bytes of a schema that is read
	maxParams     = 64
	maxParamDepth = 6 // of schemas in schemas
	maxEnumValues = 16
	maxParamText  = 256 // bytes of a description
)

// ReadParams returns the properties of an input schema in their order, and those of nested objects after them.
// The values of an enum stand at the end of the description. Malformed schemas give what is readable before the
// mistake, and schemas above 256 KiB give nothing. It does not follow references.
func ReadParams(inputSchema []byte) []Param {
	if len(inputSchema) > maxSchema {
		return nil
	}
	r := paramReader{}
	r.readSchema(inputSchema, 0)
	return r.params
}

type paramReader struct {
	params []Param
}

// readSchema appends the properties of a schema and of its parts. It returns the text of the schema itself.
func (r *paramReader) readSchema(raw []byte, depth int) string {
	var description, enum string
	if depth > maxParamDepth {
		return ""
	}
	scanMembers(raw, func(key string, value []byte) bool {
		switch key {
		case "properties":
			r.readProperties(value, depth)
		case "items":
			if part := r.readSchema(value, depth+1); enum == "" {
				enum = part // what the elements are
			}
		case "allOf", "anyOf", "oneOf":
			scanElements(value, func(part []byte) bool {
				r.readSchema(part, depth+1)
				return len(r.params) < maxParams
			})
		case "description":
			description = cutText(decodeString(value), maxParamText)
		case "enum":
			enum = enumWords(value)
		}
		return true
	})
	return strings.TrimSpace(description + "\n" + enum)
}

func (r *paramReader) readProperties(raw []byte, depth int) {
	first := len(r.params)
	var schemas [][]byte
	scanMembers(raw, func(name string, value []byte) bool {
		if len(r.params) == maxParams {
			return false
		}
		r.params = append(r.params, Param{Name: cutText(name, maxNameText)})
		schemas = append(schemas, value)
		return true
	})
	for i, schema := range schemas {
		r.params[first+i].Description = r.readSchema(schema, depth+1)
	}
}

// enumWords returns the strings of an enum, with spaces between.
func enumWords(raw []byte) string {
	var words []string
	scanElements(raw, func(value []byte) bool {
		if s := decodeString(value); s != "" {
			words = append(words, cutText(s, maxWord))
		}
		return len(words) < maxEnumValues
	})
	return strings.Join(words, " ")
}

// cutText returns at most limit bytes of s. A rune that is cut is no letter to splitWords.
func cutText(s string, limit int) string {
	return s[:min(len(s), limit)]
}
