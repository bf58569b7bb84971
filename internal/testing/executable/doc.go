// Package executable writes programs that tests start.
package executable
