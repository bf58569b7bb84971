package main

import (
	"flag"
	"log"
	"net/http"
	"time"
)

func main() {
	addr := flag.String("http", "127.0.0.1:0", "the address to listen at")
	flag.Parse()
	server := &http.Server{Addr: *addr, Handler: newServer(), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}
