package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// leastSqueezed is how large an answer is before it is worth compressing.
const leastSqueezed = 1400

// squeezed keeps compressed answers by their tags: many pages ask for the same ones.
type squeezed struct {
	mu sync.Mutex
	at map[string][]byte
}

// maxSqueezed is how many are kept.
const maxSqueezed = 32

// of returns a body compressed, and keeps it if it has a tag, which is that of its
// content.
func (s *squeezed) of(tag string, body []byte) ([]byte, error) {
	s.mu.Lock()
	kept, ok := s.at[tag]
	s.mu.Unlock()
	if ok && tag != "" {
		return kept, nil
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	if tag != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.at) >= maxSqueezed || s.at == nil {
			s.at = make(map[string][]byte)
		}
		s.at[tag] = b.Bytes()
	}
	return b.Bytes(), nil
}

// squeeze compresses answers for those who take them so, but for streams. Each piece has
// so long to be read.
func (s *squeezed) squeeze(piece time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" || r.URL.Path == "/mcp" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Add("Vary", "Accept-Encoding")
		if !takesGzip(r.Header.Get("Accept-Encoding")) {
			next.ServeHTTP(w, r)
			return
		}
		q := &squeezer{ResponseWriter: w, kept: s, piece: piece, status: http.StatusOK}
		next.ServeHTTP(q, r)
		q.end()
	})
}

// takesGzip reads what a client takes: gzip is named, and not with a weight of 0.
func takesGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, weight, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) != "gzip" {
			continue
		}
		_, q, ok := strings.Cut(weight, "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		return !ok || err == nil && v > 0
	}
	return false
}

// A squeezer holds an answer back until it is whole. Those that it is given are made
// whole before they are sent.
type squeezer struct {
	http.ResponseWriter
	kept   *squeezed
	piece  time.Duration
	status int
	body   []byte
}

func (q *squeezer) WriteHeader(status int) { q.status = status }

func (q *squeezer) Write(b []byte) (int, error) {
	q.body = append(q.body, b...)
	return len(b), nil
}

// Unwrap lets deadlines through.
func (q *squeezer) Unwrap() http.ResponseWriter { return q.ResponseWriter }

// end sends the answer.
func (q *squeezer) end() {
	h := q.Header()
	tag := h.Get("ETag")
	if len(q.body) >= leastSqueezed && h.Get("Content-Encoding") == "" {
		keep := ""
		if q.status == http.StatusOK {
			keep = tag
		}
		if small, err := q.kept.of(keep, q.body); err == nil {
			q.body = small
			h.Set("Content-Encoding", "gzip")
			h.Del("Content-Length")
			if tag != "" { // the same content in other bytes
				h.Set("ETag", "W/"+tag)
			}
		}
	}
	q.ResponseWriter.WriteHeader(q.status)
	send(q.ResponseWriter, q.body, q.piece)
}
