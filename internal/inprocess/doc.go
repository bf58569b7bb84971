// Package inprocess keeps the response of an HTTP handler that is called without a connection.
package inprocess
