package git

import (
	"os"
	"testing"

	"ken/internal/repo"
)

// clone returns a box whose branch has an upstream in b.
func (b *box) clone(args ...string) *box {
	b.t.Helper()
	b.git(append([]string{"clone", "-q", "--no-local"}, append(args, b.dir, "../clone")...)...)
	return b.sub(b.path("../clone"))
}

func (b *box) upstream() repo.Upstream {
	b.t.Helper()
	r := b.open()
	s, err := r.Snapshot(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	up, err := r.Upstream(b.t.Context(), s, repo.Upstream{}, repo.ID{})
	if err != nil {
		b.t.Fatal(err)
	}
	return up
}

func TestUpstream(t *testing.T) {
	origin := newBox(t)
	first := origin.commit("a", "1")
	b := origin.clone()
	const ref = "refs/remotes/origin/main"
	if got := b.upstream(); got != (repo.Upstream{Ref: ref, Commit: first, Known: true}) {
		t.Errorf("at the same commit, Upstream returned %+v; want it known at %s", got, first)
	}
	origin.commit("a", "2")
	third := origin.commit("a", "3")
	b.git("fetch", "-q")
	want := repo.Upstream{Ref: ref, Commit: third, Known: true, Behind: 2}
	if got := b.upstream(); got != want {
		t.Errorf("behind by 2 commits, Upstream returned %+v; want %+v", got, want)
	}
	head := b.commit("mine", "1")
	want.Ahead = 1
	if got := b.upstream(); got != want {
		t.Errorf("with a new commit, Upstream returned %+v; want %+v", got, want)
	}

	r, s := b.open(), b.snapshot()
	known := repo.Upstream{Ref: ref, Commit: third, Known: true, Ahead: 7, Behind: 8}
	path := os.Getenv("PATH")
	withoutGit(t)
	if got, err := r.Upstream(ctx(t), s, known, head); got != known || err != nil {
		t.Errorf("for the same commits, Upstream returned %+v, %v; want the known answer", got, err)
	}
	if got, err := r.Upstream(ctx(t), s, known, first); err == nil {
		t.Errorf("known of another HEAD: %+v", got)
	}
	t.Setenv("PATH", path)

	b.git("pack-refs", "--all", "--prune")
	if got := b.upstream(); got != want {
		t.Errorf("with packed refs, Upstream returned %+v; want %+v", got, want)
	}
	b.git("checkout", "-q", "-b", "local", "--track", "main")
	if got := b.upstream(); got != (repo.Upstream{Ref: "refs/heads/main", Commit: head, Known: true}) {
		t.Errorf("a local branch: %+v", got)
	}
	b.git("config", "branch.local.remote", b.path("../work"))
	if got := b.upstream(); got != (repo.Upstream{}) {
		t.Errorf("a remote without a name: %+v", got)
	}
	b.git("checkout", "-q", "-b", "none", "--no-track")
	if got := b.upstream(); got != (repo.Upstream{}) {
		t.Errorf("on a branch without an upstream, Upstream returned %+v; want nothing", got)
	}
	b.git("checkout", "-q", "main")
	b.git("update-ref", "-d", ref)
	if got := b.upstream(); got != (repo.Upstream{Ref: ref}) {
		t.Errorf("with a deleted remote ref, Upstream returned %+v; want only the name of the ref", got)
	}
	b.git("checkout", "-q", "--detach")
	if got := b.upstream(); got != (repo.Upstream{}) {
		t.Errorf("with a detached HEAD, Upstream returned %+v; want nothing", got)
	}
	b.git("checkout", "-q", "--orphan", "unborn")
	if got := b.upstream(); got != (repo.Upstream{}) {
		t.Errorf("on an unborn branch, Upstream returned %+v; want nothing", got)
	}
}

func TestUpstreamOfAShallowClone(t *testing.T) {
	origin := newBox(t)
	origin.commit("a", "1")
	second := origin.commit("a", "2")
	b := origin.clone("--depth=1")
	if got := b.upstream(); !got.Known || got.Commit != second {
		t.Errorf("in a shallow clone, Upstream returned %+v; want it known at %s", got, second)
	}
	origin.commit("a", "3")
	b.git("fetch", "-q", "--depth=1")
	if got := b.upstream(); got.Known {
		t.Errorf("moved on: %+v", got)
	}
}

func TestMapRef(t *testing.T) {
	for _, c := range []struct {
		specs     []string
		ref, want string
	}{
		{[]string{"+refs/heads/*:refs/remotes/o/*"}, "refs/heads/a/b", "refs/remotes/o/a/b"},
		{[]string{"refs/heads/main:refs/remotes/o/m"}, "refs/heads/main", "refs/remotes/o/m"},
		{[]string{"refs/heads/main:refs/remotes/o/m"}, "refs/heads/mainx", ""},
		{[]string{"refs/heads/x-*-y:refs/o/*"}, "refs/heads/x-1-y", "refs/o/1"},
		{[]string{"refs/heads/x-*-y:refs/o/*"}, "refs/heads/x-y", ""},
		{[]string{"+refs/heads/*:refs/remotes/o/*", "^refs/heads/tmp*"}, "refs/heads/tmp1", ""},
		{[]string{"refs/heads/main"}, "refs/heads/main", ""},
		{nil, "refs/heads/main", ""},
	} {
		if got := mapRef(c.specs, c.ref); got != c.want {
			t.Errorf("%q of %s: %q, want %q", c.specs, c.ref, got, c.want)
		}
	}
}
