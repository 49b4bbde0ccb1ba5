// Command shop is a shop on net/http: a purchase that is paid out once, and Apple's
// notifications. It reads config.json and keys.json of the current folder, and keeps shop.db
// there.
//
//	go run . setup             makes the tables, once
//	go run . 127.0.0.1:8080    serves
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"time"
)

func (s *shop) routes() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("/v1/purchases", func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			JWS string `json:"jws"`
		}
		if read(w, r, &sent, &sent.JWS) {
			write(w, s.purchase(r.Context(), r.Header.Get("Authorization"), sent.JWS))
		}
	})
	routes.HandleFunc("/v1/notifications", func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			SignedPayload string `json:"signedPayload"`
		}
		if read(w, r, &sent, &sent.SignedPayload) {
			write(w, s.notify(r.Context(), sent.SignedPayload))
		}
	})
	return routes
}

// read reads the JSON of a POST, at most 512 KiB, whose member needed is not empty; false: it
// has answered.
func read(w http.ResponseWriter, r *http.Request, into any, needed *string) bool {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return false
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 512<<10)).Decode(into)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
	case err != nil || *needed == "":
		http.Error(w, "bad request", http.StatusBadRequest)
	default:
		return true
	}
	return false
}

func write(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	if after := a.retryAfter(); after != "" {
		w.Header().Set("Retry-After", after)
	}
	w.WriteHeader(a.status)
	if err := json.NewEncoder(w).Encode(a.body); err != nil {
		log.Print(err)
	}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: shop setup | ADDRESS")
	}
	ctx := context.Background()
	opened, err := open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if os.Args[1] == "setup" {
		err = opened.setup(ctx)
	} else {
		server := http.Server{Addr: os.Args[1], Handler: opened.routes(),
			ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
		err = server.ListenAndServe()
	}
	if err != nil {
		log.Fatal(err)
	}
}
