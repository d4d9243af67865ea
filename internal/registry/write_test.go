package registry_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
)

// Each case begins with a.go, once "old" and verified so, now "new".
func TestWriteForReadContent(t *testing.T) {
	for _, c := range []struct {
		name   string
		read   string
		result registry.Result
		kept   repo.Content
		after  fresh.State
	}{
		{"nothing said", "", registry.Stored, contentOf("new"), fresh.Fresh},
		{"the id there now", blob("new").String(), registry.Stored, contentOf("new"), fresh.Fresh},
		{"the md5 there now", digest("new").String(), registry.Stored, contentOf("new"), fresh.Fresh},
		{"the md5 in capitals", strings.ToUpper(digest("new").String()), registry.Stored, contentOf("new"), fresh.Fresh},
		{"the id of before", blob("old").String(), registry.Superseded, contentOf("old"), fresh.Stale},
		{"the md5 of before", digest("old").String(), registry.Superseded, contentOf("old"), fresh.Stale},
		{"an id nobody has seen", blob("later").String(), registry.Superseded, repo.Content{ID: blob("later")}, fresh.Stale},
		{"an md5 nobody has seen", digest("later").String(), registry.Superseded, repo.Content{MD5: digest("later")}, fresh.Stale},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := settled(t, "a.go", "old")
			w.write("a.go", "new")
			got := w.writeSummaries(t, registry.Update{Path: "a.go", Text: "words\n", Read: c.read})[0]
			if got.Result != c.result || got.ID != c.kept.ID || got.MD5 != c.kept.MD5 || got.Assumed != (c.read == "") {
				t.Errorf("Write returned %+v; want %s for the content %+v", got, c.result, c.kept)
			}
			k := w.show(t, "a.go")
			if k.Verdict != c.after || k.Text != "words" || k.Assumed != (c.read == "") || k.Author != "ann" {
				t.Errorf("shown as %+v", k)
			}
			rep := w.status(t, registry.VerifyOptions{All: true})
			if rep.Verdicts[0].Summary != c.after {
				t.Errorf("status says %s", rep.Verdicts[0].Summary)
			}
		})
	}
}

// ken rejects a text for bytes that another path has and this one never had: it would show it for the other path.
func TestWriteForAnotherFilesBytes(t *testing.T) {
	for _, c := range []struct {
		name   string
		read   string
		happen func(*fakeRepo)
		result registry.Result
	}{
		{"the other's id", blob("beta").String(), nil, registry.Rejected},
		{"the other's md5", digest("beta").String(), nil, registry.Rejected},
		{"what the other holds by now", blob("later").String(), func(w *fakeRepo) { w.write("b.go", "later"); w.stage("b.go") }, registry.Rejected},
		{"what nobody holds", blob("later").String(), nil, registry.Superseded},
		{"what was here when it was verified", blob("beta").String(), func(w *fakeRepo) {
			w.write("a.go", "beta")
			w.verify(t, registry.VerifyOptions{})
			w.write("a.go", "new")
		}, registry.Superseded},
		{"what is staged here", blob("beta").String(), func(w *fakeRepo) {
			w.put("a.go", "beta")
			w.write("a.go", "new")
		}, registry.Superseded},
		{"what is committed here", blob("beta").String(), func(w *fakeRepo) {
			w.put("a.go", "beta")
			w.commit()
			w.put("a.go", "new")
		}, registry.Superseded},
		{"what no tracked file holds any more", blob("beta").String(), func(w *fakeRepo) { w.remove("b.go"); w.stage("b.go") }, registry.Superseded},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := settled(t, "a.go", "alpha", "b.go", "beta")
			if c.happen != nil {
				c.happen(w)
			}
			got := w.writeSummaries(t, registry.Update{Path: "a.go", Text: "words", Read: c.read})[0]
			if got.Result != c.result || got.Result == registry.Rejected && !strings.Contains(got.Reason, "b.go") {
				t.Errorf("Write returned %+v; want %s", got, c.result)
			}
		})
	}
}

// The text says so if it was written for another path.
func TestSharedTextNamesItsPath(t *testing.T) {
	w := settled(t, "a.go", "same", "b.go", "same")
	w.writeSummaries(t, registry.Update{Path: "a.go", Text: "words"})
	if k := w.show(t, "a.go"); k.WrittenFor != "" {
		t.Errorf("a.go: %+v", k)
	}
	if k := w.show(t, "b.go"); k.Verdict != fresh.Fresh || k.WrittenFor != "a.go" || k.FirstLine() != "(assumed, written for a.go) words" {
		t.Errorf("b.go: %+v", k)
	}
}

// The text that was written last is shown, regardless of the clocks, as long as they are not more than a day
// ahead.
func TestNewestSummaryWins(t *testing.T) {
	w := settled(t, "a.go", "alpha", "twin.go", "alpha")
	for i, clock := range []int64{time.Now().Unix() + 80_000, 1000, 1000, 0, 500} {
		w.seconds = clock
		text := fmt.Sprint("words ", i)
		w.writeSummaries(t, registry.Update{Path: "twin.go", Text: "first of a batch"}, registry.Update{Path: "a.go", Text: text})
		for _, p := range []repo.Path{"a.go", "twin.go"} {
			if k := w.show(t, p); k.Text != text || k.Verdict != fresh.Fresh {
				t.Errorf("%s after writing %q: %s %q of %v", p, text, k.Verdict, k.Text, k.UpdatedAt)
			}
		}
	}
}

func TestWriteRejects(t *testing.T) {
	w := newFakeRepo(t)
	w.policy.MaxBytes = 10
	for p, bytes := range map[repo.Path]string{
		"a.go": "alpha", "big.go": "eleven byte", "x.sum": "lock", "merge.go": "m", "away.go": "a", "locked.go": "l",
	} {
		w.put(p, bytes)
	}
	w.link("link", "a.go")
	w.stage("link")
	w.commit()
	w.flag("merge.go", repo.Conflicted)
	w.remove("away.go")
	w.touch("locked.go")
	w.disk["locked.go"].readErr = fs.ErrPermission
	w.write("loose.go", "loose")

	for name, u := range map[string]registry.Update{
		"what the face refused":          {Path: "", Text: "x", Refused: "outside the root"},
		"text and keep":                  {Path: "a.go", Text: "x", Keep: true},
		"nothing to keep":                {Path: "a.go", Keep: true},
		"not tracked":                    {Path: "loose.go", Text: "x"},
		"a directory":                    {Path: "dir", Text: "x"},
		"a lockfile":                     {Path: "x.sum", Text: "x"},
		"a link":                         {Path: "link", Text: "x"},
		"too large a file":               {Path: "big.go", Text: "x"},
		"unmerged":                       {Path: "merge.go", Text: "x"},
		"not on disk":                    {Path: "away.go", Text: "x"},
		"unreadable":                     {Path: "locked.go", Text: "x"},
		"no text":                        {Path: "a.go"},
		"a blank text":                   {Path: "a.go", Text: " \n\t"},
		"too long a text":                {Path: "a.go", Text: strings.Repeat("x", registry.MaxText+1)},
		"not UTF-8":                      {Path: "a.go", Text: "lat\xefn"},
		"a control character":            {Path: "a.go", Text: "bell\a"},
		"reversed text":                  {Path: "a.go", Text: "a\u202eb"},
		"invisible tags":                 {Path: "a.go", Text: "a\U000e0041"},
		"a line separator":               {Path: "a.go", Text: "a\u2028b"},
		"a carriage return":              {Path: "a.go", Text: "one\rtwo"},
		"a read that is no id":           {Path: "a.go", Text: "x", Read: "HEAD"},
		"a read of 32 that is no md5":    {Path: "a.go", Text: "x", Read: strings.Repeat("g", 32)},
		"the id of no object":            {Path: "a.go", Text: "x", Read: strings.Repeat("0", 40)},
		"the md5 of nothing":             {Path: "a.go", Text: "x", Read: strings.Repeat("0", 32)},
		"an id of another object format": {Path: "a.go", Text: "x", Read: strings.Repeat("a", 64)},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.store.commits
			got := w.writeSummaries(t, u)[0]
			if got.Result != registry.Rejected || got.Reason == "" || got.Path != string(u.Path) || !got.ID.IsZero() {
				t.Errorf("Write returned %+v; want a rejection with a reason and without an id", got)
			}
			if w.store.commits != before {
				t.Error("something was written")
			}
		})
	}
	if got := w.writeSummaries(t, registry.Update{Path: "a.go", Text: strings.Repeat("x", registry.MaxText)}); got[0].Result != registry.Stored {
		t.Errorf("a text of just the limit: %s", got[0].Reason)
	}
}

func TestWriteLandsAroundRejections(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	var results []registry.Result
	for _, got := range w.writeSummaries(t,
		registry.Update{Path: "a.go", Text: "about a"},
		registry.Update{Path: "nowhere", Text: "about nothing"},
		registry.Update{Path: "b.go", Text: "about b"},
	) {
		results = append(results, got.Result)
	}
	same(t, "results", results, []registry.Result{registry.Stored, registry.Rejected, registry.Stored})
	if verdictOf(t, w, "a.go") != fresh.Fresh || verdictOf(t, w, "b.go") != fresh.Fresh {
		t.Error("a valid update beside a rejected one was not stored")
	}
}

func TestWriteNothing(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	before := w.store.commits
	if got := w.writeSummaries(t); len(got) != 0 || w.store.commits != before {
		t.Errorf("Write without updates returned %v and made %d commits; want none", got, w.store.commits-before)
	}
}

func TestWriteTheSamePathTwice(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	w.writeSummaries(t, registry.Update{Path: "a.go", Text: "first"}, registry.Update{Path: "a.go", Text: "second"})
	if k := w.show(t, "a.go"); k.Text != "second" || k.Verdict != fresh.Fresh {
		t.Errorf("show returned %s %q; want the second text, fresh", k.Verdict, k.Text)
	}
}

// A text whose author knew only an md5 is shown when a file with that md5 appears.
func TestMD5FindsItsBytes(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	w.writeSummaries(t, registry.Update{Path: "a.go", Text: "about later", Read: digest("later").String()})
	w.write("a.go", "later")
	same(t, "verdicts", verdicts(w.verify(t, registry.VerifyOptions{})), []string{"mismatch fresh a.go restored"})
	if k := w.show(t, "a.go"); k.Verdict != fresh.Fresh || k.MD5 != digest("later") || !k.ID.IsZero() || k.CurrentID != blob("later") {
		t.Errorf("show returned %+v; want a fresh summary with the md5 of the new content", k)
	}
}

// A text for existing content counts, at any path.
func TestIdenticalBytesShareAText(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "alpha")
	w.describe(t, "a.go")
	if k := w.show(t, "b.go"); k.Verdict != fresh.Fresh || k.Text != "about a.go" {
		t.Errorf("show returned %s %q for b.go; want the fresh summary of a.go", k.Verdict, k.Text)
	}
	same(t, "counts", w.status(t, registry.VerifyOptions{}).Counts, registry.Counts{Files: 2, Match: 2, Fresh: 2})
}

func TestSupersededTextDoesNotOustAFreshOne(t *testing.T) {
	w := settled(t, "a.go", "old")
	w.write("a.go", "new")
	w.describe(t, "a.go")
	w.writeSummaries(t, registry.Update{Path: "a.go", Text: "about old", Read: blob("old").String()})
	if k := w.show(t, "a.go"); k.Verdict != fresh.Fresh || k.Text != "about a.go" {
		t.Errorf("show returned %s %q; want the fresh summary of the new content", k.Verdict, k.Text)
	}
	w.write("a.go", "old")
	if k := w.show(t, "a.go"); k.Verdict != fresh.Fresh || k.Text != "about old" {
		t.Errorf("back at the old content: %s %q", k.Verdict, k.Text)
	}
}

func TestAuthorFitsOnOneLine(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	r := registry.New(w, w, w.store, registry.Options{Author: func() string { return " ann\n\xff\x1b " }})
	if _, err := r.Write(w.ctx, []registry.Update{{Path: "a.go", Text: "x"}}); err != nil {
		t.Fatal(err)
	}
	if k := w.show(t, "a.go"); k.Author != "ann ?" {
		t.Errorf("the author is %q; want \"ann ?\"", k.Author)
	}
}

func TestConfirm(t *testing.T) {
	w := settled(t, "a.go", "alpha", "b.go", "beta")
	w.describe(t, "a.go")
	w.write("a.go", "other")
	got, err := w.registry().Confirm(w.ctx, []repo.Path{"a.go", "b.go"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Result != registry.Stored || got[0].ID != blob("other") || got[1].Result != registry.Rejected {
		t.Errorf("Confirm returned %+v; want a.go stored and b.go rejected", got)
	}
	k := w.show(t, "a.go")
	if k.Verdict != fresh.Fresh || k.Text != "about a.go" || k.ConfirmedBy != "ann" || k.ID != blob("other") {
		t.Errorf("show returned %+v; want the text confirmed by ann for the new content", k)
	}
	w.write("a.go", "third")
	if got, err = w.registry().Confirm(w.ctx, []repo.Path{"a.go"}, blob("other").String()); err != nil || got[0].Result != registry.Rejected {
		t.Errorf("a confirmation of older content is %+v, %v; want it rejected", got, err)
	}
	if verdictOf(t, w, "a.go") != fresh.Stale {
		t.Error("a confirmation of other bytes made the text fresh")
	}
	if _, err = w.registry().Confirm(w.ctx, []repo.Path{"a.go", "b.go"}, blob("third").String()); fault.KindOf(err) != fault.Usage {
		t.Errorf("one id for two paths: %v", err)
	}
}

// An author names the bytes that it read, regardless of how git stores them.
func TestWriteByBytesThatGitConverts(t *testing.T) {
	crlf, lf := "one\r\n", "one\n"
	for name, c := range map[string]struct{ before, now, read string }{
		"the id of the bytes":             {crlf, crlf, blob(crlf).String()},
		"the id of what git stores":       {crlf, crlf, blob(lf).String()},
		"the md5 of the bytes":            {crlf, crlf, digest(crlf).String()},
		"the md5 after a flip":            {crlf, lf, digest(lf).String()},
		"the md5 after a flip to and fro": {lf, crlf, digest(crlf).String()},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFakeRepo(t)
			w.autocrlf = true
			w.put("a.txt", c.before)
			w.commit()
			w.verify(t, registry.VerifyOptions{})
			w.put("a.txt", c.now)
			got := w.writeSummaries(t, registry.Update{Path: "a.txt", Text: "x", Read: c.read})[0]
			if got.Result != registry.Stored || got.ID != blob(lf) || got.MD5 != digest(c.now) {
				t.Errorf("Write returned %+v; want it stored with the id %s and the md5 %s", got, blob(lf), digest(c.now))
			}
		})
	}
}

// Confirming a text for the content that its author read changes nothing.
func TestConfirmLeavesAnExactTextExact(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	w.writeSummaries(t, registry.Update{Path: "a.go", Text: "about a", Read: blob("alpha").String()})
	if done := w.writeSummaries(t, registry.Update{Path: "a.go", Keep: true})[0]; done.Result != registry.Stored || done.Assumed {
		t.Errorf("the confirmation is %s, assumed %v; want stored and exact", done.Result, done.Assumed)
	}
	if k := w.show(t, "a.go"); k.Assumed || k.ConfirmedBy == "" {
		t.Errorf("shown as assumed %v, confirmed by %q; want exact and confirmed", k.Assumed, k.ConfirmedBy)
	}
	// For other content, it remains assumed.
	w.put("a.go", "other")
	w.writeSummaries(t, registry.Update{Path: "a.go", Keep: true})
	w.writeSummaries(t, registry.Update{Path: "a.go", Keep: true})
	if k := w.show(t, "a.go"); !k.Assumed || k.Verdict != fresh.Fresh {
		t.Errorf("shown as %s, assumed %v; want fresh and assumed", k.Verdict, k.Assumed)
	}
}
