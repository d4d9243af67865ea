package e2e

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"ken/internal/testrepo"
)

// Clones that push and pull in any order end with the same records, and git status stays empty.
func TestShareUnion(t *testing.T) {
	t.Parallel()
	const many, each = 12, 40
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	origin := testrepo.New(t)
	origin.Write("README", "x\n")
	origin.Commit("first")
	remote := origin.Clone("--bare")
	all := make([]*testrepo.Repo, many)
	for i := range all {
		all[i] = remote.Clone("--shared")
	}
	left := make([]int, many)  // records that each clone still has to add
	open := make([]int, many)  // clones with records left to add
	kept := make([]bool, many) // clones with unpushed records
	for i := range left {
		left[i], open[i] = each, i
	}
	for len(open) > 0 {
		k := rnd.IntN(len(open))
		i := open[k]
		for n := min(left[i], 1+each/2+rnd.IntN(each)); n > 0; n-- {
			all[i].Write(fmt.Sprintf("c%d/d%d/a.go", i, left[i]), fmt.Sprintf("package d\n\nfunc F%dOf%d() {}\n", left[i], i))
			left[i]--
		}
		all[i].Commit("more")
		mustKen(t, all[i], "survey", "run")
		if kept[i] = rnd.IntN(4) == 0; kept[i] {
			mustKen(t, all[i], "share", "pull")
		} else {
			mustKen(t, all[i], "share", "push")
		}
		if left[i] == 0 {
			open = append(open[:k], open[k+1:]...)
		}
	}
	for _, i := range rnd.Perm(many) {
		if kept[i] {
			mustKen(t, all[i], "share", "push")
		}
	}
	var want, tip string
	for _, i := range rnd.Perm(many) {
		mustKen(t, all[i], "share", "pull")
		if got := all[i].Git("status", "--porcelain"); got != "" {
			t.Errorf("git status of clone %d: %s", i, got)
		}
		// A directory that gets more files is summarized again, and only the latest summary is shared.
		out, err := exec.CommandContext(t.Context(), "sqlite3", all[i].Path(".git/ken/ken.db"), "select hex(id) from directory_record where cast(path as text) glob 'c*/d*' order by id").Output()
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want, tip = string(out), all[i].Git("rev-parse", "refs/ken/remotes/origin/merged")
		}
		if string(out) != want || all[i].Git("rev-parse", "refs/ken/remotes/origin/merged") != tip {
			t.Errorf("clone %d has other records", i)
		}
	}
	if n := strings.Count(want, "\n"); n != many*each {
		t.Errorf("%d records, want %d", n, many*each)
	}
}
