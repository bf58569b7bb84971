package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	addr := flag.String("http", "127.0.0.1:0", "the address to listen at")
	flag.Parse()
	server := &http.Server{Addr: *addr, Handler: newServer(), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}
