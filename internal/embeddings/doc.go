// Package embeddings turns texts into vectors by an OpenAI-compatible endpoint of the operator, and compares them.
package embeddings
