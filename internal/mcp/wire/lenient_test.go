package wire_test

import (
	"testing"

	"patchbay/internal/mcp/wire"
)

func TestFind_ToleratesOtherLanguages(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an id that is a float":          `{"id":7.0,"result":2}`,
		"an id with an exponent":         `{"id":7e0,"result":2}`,
		"a text of a float":              `{"id":"7.0","result":2}`,
		"a method that is null":          `{"id":7,"method":null,"params":null,"result":2,"error":null}`,
		"an error that is false":         `{"id":7,"error":false,"result":2}`,
		"an error that is empty":         `{"id":7,"error":{ },"result":2}`,
		"an error that is an empty list": `{"id":7,"result":2,"error":[]}`,
		"an error that is zero":          `{"id":7,"result":2,"error":0}`,
		"an error that is an empty text": `{"id":7,"result":2,"error":""}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, err := wire.Find([]byte(text), 7)
			if err != nil || string(reply.Result) != "2" {
				t.Errorf("reply %+v, error %v", reply, err)
			}
		})
	}
}

func TestFind_EmptyErrorWithoutResult(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"id":7,"error":{}}`, `{"id":7,"error":false}`, `{"id":7,"error":"","result":null}`, `{"id":7,"error":"boom","result":2}`,
	} {
		if reply, err := wire.Find([]byte(text), 7); err != nil || reply.Error == nil {
			t.Errorf("%s: reply %+v, error %v", text, reply, err)
		}
	}
}

func TestFind_IgnoresOtherIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"7.5", "70", "-7", "7e1", "true", "[7]", `"seven"`, "7e400"} {
		if reply, err := wire.Find([]byte(`{"id":`+id+`,"result":2}`), 7); err == nil {
			t.Errorf("%s: reply %+v", id, reply)
		}
	}
}

func TestFindPage_LoneSurrogateInName(t *testing.T) {
	t.Parallel()
	const defect = "The name isn't valid Unicode."
	for name, want := range map[string]string{
		`a\ud83d`:            defect,
		`\ud83db`:            defect,
		`\ude00\ud83d`:       defect,
		`\ud83d\ud83d\ude00`: defect,
		`\ud83d\n`:           defect,
		`\ud83d\ude00`:       "",
		`\\ud83d`:            "",
		`\ufffd\u00e9`:       "",
	} {
		reply, err := findPage([]byte(`{"id":1,"result":{"tools":[{"name":"`+name+`"}]}}`), 1)
		if err != nil || reply.Page.Entries[0].Defect != want {
			t.Errorf("%s: %+v, error %v", name, reply, err)
		}
	}
}
