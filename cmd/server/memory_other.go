//go:build !linux

package main

// protectMemory does nothing here.
func protectMemory() {}
