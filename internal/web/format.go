package web

import (
	"fmt"
	"hash/fnv"
	"html/template"
	"path/filepath"
	"strings"

	"ken/internal/board"
	"ken/internal/contract"
	"ken/internal/english"
	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/spec"
	"ken/internal/workflow"
)

// helpers are the functions for templates.
var helpers = template.FuncMap{
	"path": func(s string) repo.Path { return repo.Path(s) },
	"num":  num, "yes": yes, "filters": extraFilters, "status": func(n board.Node) string { return displayStatus(&n) }, "summaries": summariesText, "cut": cutText, "time": shortTime, "session": shortSession,
	"is":        func(p *string, s string) bool { return p != nil && *p == s },
	"foreign":   func(c workflow.Counts) int { return c.AdHoc + c.Ephemeral + c.Unknown },
	"str":       func(s string) string { return s },
	"bytes":     bytesText,
	"shortPath": shortPath,
	"count":     english.Count,
	"hue":       func(s string) int { h := fnv.New32a(); _, _ = h.Write([]byte(s)); return int(h.Sum32() % 12) },
	"glyph":     glyph,
	"opGlyph":   opGlyph,
	"tone":      func(s fresh.State) string { return s.String() },
	"list":      func(v ...any) []any { return v },
	"join":      strings.Join,
	"verdict":   verdictText,
	"sub":       func(a, b int) int { return a - b },
	"bucket":    bucketText,
	"short":     func(s string) string { return s[:min(len(s), 7)] },
}

// glyph returns the sign of a status, so that colour is not the only difference.
func glyph(status string) string {
	switch status {
	case spec.StatusMerged.String():
		return "●"
	case spec.StatusDrift.String():
		return "◐"
	case spec.StatusActive.String():
		return "◆"
	case spec.StatusPending.String():
		return "○"
	case broken:
		return "!"
	default:
		return "?"
	}
}

// opGlyph returns the sign of a proposed change.
func opGlyph(op spec.OpKind) string {
	switch op {
	case spec.OpAdded:
		return "+"
	case spec.OpEdited:
		return "~"
	case spec.OpDeleted:
		return "✕"
	case spec.OpMoved:
		return "→"
	default:
		return "?"
	}
}

// verdictText explains the verdict of a directory.
func verdictText(v fresh.Verdict) string {
	switch v.Reason {
	case fresh.StaleSelf:
		return "stale: its own files changed"
	case fresh.StaleBelow:
		return "stale: subdirectories changed"
	case fresh.Incomplete:
		return "incomplete: some subdirectories had no summary"
	case fresh.Partial:
		return "partial: its author did not finish"
	default:
	}
	if v.State == fresh.None {
		return "no summary"
	}
	return v.String()
}

// bucketText explains a bucket of the contract.
func bucketText(b contract.Bucket) string {
	switch b {
	case contract.AdHoc:
		return "not allowed by the contract"
	case contract.Unknown:
		return "could not be read"
	case contract.Ephemeral:
		return "leftovers that should be gone"
	case contract.PatternAllowed:
		return "allowed by a pattern"
	case contract.Canonical:
		return "allowed by name"
	default:
		return ""
	}
}

// bytesText formats a size.
func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	case n < 1000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1000_000)
	default:
		return fmt.Sprintf("%.1f GB", float64(n)/1000_000_000)
	}
}

// percent returns part of whole in percent.
func percent(part, whole int) string {
	if whole <= 0 {
		return "0"
	}
	return fmt.Sprintf("%.2f", 100*float64(part)/float64(whole))
}

// num returns a number, or -1 if it is unknown.
func num(p *int) int {
	if p == nil {
		return -1
	}
	return *p
}

// yes reports whether a value is known and true.
func yes(p *bool) bool { return p != nil && *p }

// rowRunes is the length of a description in a row.
const rowRunes = 96

// shortPath returns the last two elements of a path.
func shortPath(dir string) string {
	parts := strings.Split(filepath.ToSlash(dir), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// cutText shortens a text to rowRunes, at a word.
func cutText(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) <= rowRunes {
		return string(r)
	}
	cut := string(r[:rowRunes])
	if i := strings.LastIndexByte(cut, ' '); i > rowRunes/2 {
		cut = cut[:i]
	}
	return cut + "…"
}

// sessionRunes is the length of a shortened session name.
const sessionRunes = 12

// shortSession shortens the name of a session.
func shortSession(session string) string {
	if r := []rune(session); len(r) > sessionRunes+4 {
		return string(r[:sessionRunes]) + "…"
	}
	return session
}

// shortTime formats a time stamp as date and minute.
func shortTime(stamp string) string {
	if len(stamp) < len("2006-01-02T15:04") {
		return stamp
	}
	return stamp[:10] + " " + stamp[11:16]
}
