package webhooks

import (
	"fmt"
	"net/http"
)

// explainStatus explains a status other than 2xx.
func explainStatus(status int) string {
	switch {
	case status == http.StatusGone:
		return "It answered 410 Gone: no more deliveries."
	case status >= 300 && status < 400:
		return fmt.Sprintf("It answered %d, a redirect that Patchbay doesn't follow. Enter the URL it redirects to.", status)
	case http.StatusText(status) != "":
		return fmt.Sprintf("It answered %d %s.", status, http.StatusText(status))
	default:
		return fmt.Sprintf("It answered %d.", status)
	}
}
