package registry_test

import (
	"testing"

	"pgregory.net/rapid"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store/memory"
)

// Each case has a receipt for a.go, described and committed as "alpha".
func TestCheckReceipt(t *testing.T) {
	for _, c := range []struct {
		name           string
		happen         func(rapid.TB, *fakeRepo, *fresh.Receipt)
		here, atCommit fresh.State
		reasons        []string
	}{
		{"nothing happened", func(rapid.TB, *fakeRepo, *fresh.Receipt) {}, fresh.Fresh, fresh.Fresh, []string{}},
		{"edited since", func(_ rapid.TB, w *fakeRepo, _ *fresh.Receipt) {
			w.write("a.go", "other")
		}, fresh.Stale, fresh.Fresh, []string{"content_changed"}},
		{"committed since", func(_ rapid.TB, w *fakeRepo, _ *fresh.Receipt) {
			w.put("a.go", "other")
			w.commit()
		}, fresh.Stale, fresh.Fresh, []string{"content_changed"}},
		{"described anew since", func(t rapid.TB, w *fakeRepo, _ *fresh.Receipt) {
			w.describe(t, "a.go")
		}, fresh.Fresh, fresh.Fresh, []string{}},
		{"removed since", func(_ rapid.TB, w *fakeRepo, _ *fresh.Receipt) {
			w.remove("a.go")
			w.stage("a.go")
		}, fresh.Gone, fresh.Fresh, []string{"not_tracked"}},
		{"deleted since", func(_ rapid.TB, w *fakeRepo, _ *fresh.Receipt) {
			w.remove("a.go")
		}, fresh.Gone, fresh.Fresh, []string{"deleted"}},
		{"excluded since", func(_ rapid.TB, w *fakeRepo, _ *fresh.Receipt) {
			w.policy.Exclude = []string{"a.go"}
			w.touch("a.go")
		}, fresh.Excluded, fresh.Fresh, []string{"policy"}},
		{"another clone, without the text", func(_ rapid.TB, w *fakeRepo, _ *fresh.Receipt) {
			w.store.Store = memory.New()
		}, fresh.Fresh, fresh.Fresh, []string{"record_not_here"}},
		{"another clone, without the text, edited since", func(_ rapid.TB, w *fakeRepo, _ *fresh.Receipt) {
			w.store.Store = memory.New()
			w.write("a.go", "other")
		}, fresh.Stale, fresh.Fresh, []string{"record_not_here", "content_changed"}},
		{"another clone, without the text and the commit, edited since", func(_ rapid.TB, w *fakeRepo, r *fresh.Receipt) {
			w.store.Store = memory.New()
			r.Commit = blob("elsewhere")
			w.write("a.go", "other")
		}, fresh.Stale, fresh.Unknown, []string{"record_not_here", "content_changed"}},
		{"another clone, without the text and the file", func(_ rapid.TB, w *fakeRepo, r *fresh.Receipt) {
			w.store.Store = memory.New()
			r.Commit = blob("elsewhere")
			w.remove("a.go")
			w.stage("a.go")
		}, fresh.Unknown, fresh.Unknown, []string{"record_not_here"}},
		{"another clone, without the commit", func(_ rapid.TB, w *fakeRepo, r *fresh.Receipt) {
			r.Commit = blob("elsewhere")
		}, fresh.Fresh, fresh.Unknown, []string{"commit_not_here"}},
		{"no commit yet", func(_ rapid.TB, _ *fakeRepo, r *fresh.Receipt) {
			r.Commit = repo.ID{}
		}, fresh.Fresh, fresh.Unknown, []string{"no_commit_yet"}},
		{"a commit with other content", func(_ rapid.TB, w *fakeRepo, r *fresh.Receipt) {
			w.put("a.go", "other")
			w.commit()
			r.Commit = w.head
		}, fresh.Stale, fresh.Stale, []string{"content_changed", "other_content_in_commit"}},
		{"a commit without the file", func(_ rapid.TB, w *fakeRepo, r *fresh.Receipt) {
			w.remove("a.go")
			w.stage("a.go")
			w.commit()
			r.Commit = w.head
		}, fresh.Gone, fresh.Gone, []string{"not_tracked", "not_in_commit"}},
		{"a basis of somebody's own", func(_ rapid.TB, _ *fakeRepo, r *fresh.Receipt) {
			r.Basis = fresh.Basis{Content: contentOf("forged")}.Digest()
		}, fresh.Unknown, fresh.Unknown, []string{"basis_is_not_the_records"}},
		{"a verdict of somebody's own", func(_ rapid.TB, w *fakeRepo, r *fresh.Receipt) {
			w.write("a.go", "other")
			r.Verdict = fresh.Fresh
		}, fresh.Stale, fresh.Fresh, []string{"content_changed"}},
		{"another subject", func(_ rapid.TB, _ *fakeRepo, r *fresh.Receipt) {
			r.Subject = "b.go"
		}, fresh.Stale, fresh.Stale, []string{"content_changed", "other_content_in_commit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := settled(t, "a.go", "alpha", "b.go", "beta")
			w.describe(t, "a.go")
			receipt, err := fresh.ParseReceipt(w.show(t, "a.go").Receipt)
			if err != nil {
				t.Fatal(err)
			}
			c.happen(t, w, &receipt)
			got, err := w.registry().CheckReceipt(w.ctx, receipt.String())
			if err != nil {
				t.Fatal(err)
			}
			if got.Here != c.here || got.Verdict != c.here || got.AtCommit != c.atCommit || got.Subject != string(receipt.Subject) {
				t.Errorf("CheckReceipt returned %+v; want %s here, %s at the commit", got, c.here, c.atCommit)
			}
			same(t, "reasons", got.Reasons, c.reasons)
		})
	}
}

// Content that is in no commit cannot be compared with one.
func TestReceiptsThatNoCommitCanProve(t *testing.T) {
	raw := filtered(t)
	byMD5 := settled(t, "notes.f", "early")
	byMD5.writeSummaries(t, registry.Update{Path: "notes.f", Text: "x", Read: digest("later").String()})
	byMD5.put("notes.f", "later")
	byMD5.commit()
	for name, w := range map[string]*fakeRepo{"bytes under a filter": raw, "bytes by their md5": byMD5} {
		got, err := w.registry().CheckReceipt(w.ctx, w.show(t, "notes.f").Receipt)
		if err != nil {
			t.Fatal(err)
		}
		if got.Here != fresh.Fresh || got.AtCommit != fresh.Unknown {
			t.Errorf("%s: here %s, then %s", name, got.Here, got.AtCommit)
		}
	}
}

func TestNoReceipt(t *testing.T) {
	w := settled(t, "a.go", "alpha")
	for _, s := range []string{"", "ken1:", "ken2:e30", "ken1:e30", "ken1:!!"} {
		if _, err := w.registry().CheckReceipt(w.ctx, s); fault.KindOf(err) != fault.Usage {
			t.Errorf("CheckReceipt(%q) returned the error %v; want a usage error", s, err)
		}
	}
}
