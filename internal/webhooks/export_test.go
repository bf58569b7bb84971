package webhooks

import (
	"time"

	"patchbay/internal/secret"
)

var Schedule = schedule

func Sign(id string, at time.Time, body []byte, key secret.Text) (string, error) {
	return signedMessage{id: id, sentAt: at, body: body}.signWith(key)
}
