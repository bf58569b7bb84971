package webhooks

import (
	"time"

	"patchbay/internal/secret"
)

// Schedule is how long a delivery waits after each failed try.
var Schedule = schedule

// Sign is one signature.
func Sign(id string, at time.Time, body []byte, key secret.Text) (string, error) {
	return message{id: id, at: at, body: body}.sign(key)
}
