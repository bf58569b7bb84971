// Package catalog serves the pages of servers to choose from: those of the catalog and those of MCP registries.
package catalog
