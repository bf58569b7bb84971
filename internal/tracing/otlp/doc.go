// Package otlp sends traces to the operator's OpenTelemetry collector, over HTTP (OTLP). It is set up by the variables that OpenTelemetry
// has for that; without an endpoint there is nothing.
//
// A collector that is down, slow or full loses spans and nothing else: what ends is put into a bounded queue, and what finds no room there
// is counted and forgotten. It is said in the log, once a minute at most.
package otlp
