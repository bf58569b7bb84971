package installation

import (
	"patchbay/internal/config"
	"patchbay/internal/embeddings"
	"patchbay/internal/safehttp"
)

// NewEmbeddings returns the client of the operator's endpoint for embeddings; nil: none.
func NewEmbeddings(server config.Server, egress *safehttp.Policy) *embeddings.Client {
	return embeddings.New(embeddings.Options{
		HTTP: safehttp.Bounded(egress.Client(), embeddings.MaxBytes, embeddings.Timeout),
		URL:  server.EmbedURL, Model: server.EmbedModel, Key: server.EmbedKey,
	})
}
