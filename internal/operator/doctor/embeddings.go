package doctor

import (
	"context"
	"errors"
	"net/url"

	"patchbay/internal/config"
	"patchbay/internal/installation"
	"patchbay/internal/safehttp"
)

// checkEmbeddings asks the endpoint for the vector of one word, if one is set. It sends nothing of tools or searches.
func (r *report) checkEmbeddings(ctx context.Context, server config.Server) {
	const what = "embeddings"
	if server.EmbedURL == "" {
		return
	}
	egress, err := installation.NewEgressPolicy(server)
	if err != nil {
		return // checkEgress reports it
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	vectors, err := installation.NewEmbeddings(server, egress).Embed(ctx, []string{"test"})
	host := server.EmbedURL
	if at, bad := url.Parse(host); bad == nil {
		host = at.Host
	}
	_, unreachable := errors.AsType[*url.Error](err)
	blocked, isBlocked := errors.AsType[*safehttp.BlockedError](err)
	switch {
	case err == nil:
		r.reportOK(what, "%s answers with vectors of %d dimensions", host, len(vectors[0]))
	case isBlocked:
		r.reportProblem(what, "%s Allow it with PATCHBAY_EGRESS_ALLOW, or fix PATCHBAY_EMBEDDINGS_URL.", blocked.Why)
	case unreachable:
		r.reportProblem(what, "%s can't be reached (%v). Check PATCHBAY_EMBEDDINGS_URL, and the firewall.", host, err)
	default:
		r.reportProblem(what, "%s doesn't answer with vectors (%v). Check PATCHBAY_EMBEDDINGS_URL, its model and its key.", host, err)
	}
}
