package wire

import "encoding/json"

// Request is a call that wants a reply. params must marshal; it is one of ours.
func Request(id int, method string, params any) []byte {
	return encode(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      int    `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", id, method, params})
}

// Notification is a message that wants none.
func Notification(method string, params any) []byte {
	return encode(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
}

func encode(message any) []byte {
	b, err := json.Marshal(message)
	if err != nil {
		panic(err) // params that do not marshal: a mistake in this program, on every run
	}
	return b
}
