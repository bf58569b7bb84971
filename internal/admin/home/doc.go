// Package home serves the home page, the notices and the search.
package home
