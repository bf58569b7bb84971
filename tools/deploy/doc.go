// Package deploy holds what stands in deploy/ against those whose words it uses: Helm's own linter and engine, the types of Kubernetes and of the
// Prometheus operator, and Prometheus' parser of rules. It is a module of its own, so that none of them is built into Patchbay or its tests:
//
//	make manifests
//
// What the manifests say of Patchbay itself, as its settings and its metrics, is held by cmd/server, which knows them.
package deploy
