package agentview_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/fault"
)

// integers returns two equal schemas: one that the plan checks, and one with a keyword for the library.
func integers(more string) []string {
	properties := `"type":"object","properties":{"n":{"type":"integer"` + more + `}}`
	return []string{`{` + properties + `}`, `{"minProperties":1,` + properties + `}`}
}

func TestValidate_IntegerPrecision(t *testing.T) {
	t.Parallel()
	for number, whole := range map[string]bool{
		"3": true, "-3": true, "3.0": true, "3.000000000000000000000000000": true, "0.5e1": true, "1.50e1": true, "30e-1": true, "-0.0": true, "0e-5": true,
		"9007199254740993": true, "9007199254740993.0": true, "1e300": true, "1.5E+2": true, "0.00e999999999999999999999": true,
		"3.0000000000000000000000001": false, "-3.0000000000000000000000001": false, "2.9999999999999999999999999": false,
		"1e-400": false, "-1e-1000000000": false, "1e-99999999999999999999999": false, "9007199254740993.5": false, "15e-1": false, "0.1": false,
		"30000000000000000000000001e-25": false, "3" + strings.Repeat("0", 30) + "1e-31": false,
	} {
		for _, schema := range append(integers(""), integers(`,"minimum":-1e308`)...) {
			err := tool(t, schema).Validate(t.Context(), json.RawMessage(`{"n":`+number+`}`))
			if (err == nil) != whole {
				t.Errorf("%s of %s: %v", number, schema, err)
			}
			if err != nil && err.Error() != `The argument "n" must be an integer.` {
				t.Errorf("%s: %v", number, err)
			}
		}
	}
}

func TestParseNumber_NearIntegerIsNoInteger(t *testing.T) {
	t.Parallel()
	for more, list := range map[string][]string{
		`"exclusiveMaximum":3`: {"2.9999999999999999999999999"},
		`"exclusiveMinimum":3`: {"3.0000000000000000000000001"},
		`"maximum":-3`:         {"-3.0000000000000000000000001"},
	} {
		for _, number := range list {
			for _, odd := range []string{"", `"minProperties":1,`} {
				schema := `{` + odd + `"type":"object","properties":{"n":{"type":"number",` + more + `}}}`
				if err := tool(t, schema).Validate(t.Context(), json.RawMessage(`{"n":`+number+`}`)); err != nil {
					t.Errorf("%s with %s: %v", number, more, err)
				}
			}
		}
	}
}

// An exponent must never be expanded: it could be a gigabyte of digits.
func TestParseNumber_HugeExponentIsCheap(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"1e400", "1e1000000000", "-7.5e99999999999999999999", "1e-1000000000", "0.1e1000000001"} {
		for _, schema := range append(integers(""), integers(`,"maximum":5`)...) {
			judged := tool(t, schema)
			arguments := json.RawMessage(`{"n":` + number + `}`)
			if err := judged.Validate(t.Context(), arguments); !fault.Is(err, fault.Invalid) {
				t.Errorf("%s of %s: %v", number, schema, err)
			}
		}
	}
}
