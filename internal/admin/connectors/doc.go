// Package connectors serves the pages of connectors: list, overview, form, connection test, import, syncs.
package connectors
