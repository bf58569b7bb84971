// Package paniclog shows tests which panics were recovered, logged and counted.
//
//	panics := paniclog.Start()          // the log of package safe from now on
//	panics.Want(t, safe.Call, "TestX")  // one panic of a function of TestX was logged, with its stack
package paniclog
