package spec

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ken/internal/repo"
	"ken/internal/spec/derive"
	"ken/internal/spec/parse"
	"ken/internal/workspace"
)

// nodesAt returns the nodes of a commit, sorted by path, without their bodies. It takes the nodes whose file is the same
// in the work tree from cached, and reads the others from git.
func (r *Reader) nodesAt(ctx context.Context, commit repo.ID, cached *cachedNodes) ([]*parse.Node, error) {
	set, err := r.specsAt(ctx, commit)
	if err != nil || len(set) == 0 {
		return nil, err
	}
	have, err := r.nodesIn(ctx, set, cached)
	if err != nil {
		return nil, fmt.Errorf("read the specs of %s: %w", commit.Short(), err)
	}
	return parse.Assemble(slices.Collect(maps.Values(have))), nil
}

// nodesIn returns the nodes of spec files by path, without ids and parents. It reads from git only the files that are not
// among cached, the nodes of the work tree.
func (r *Reader) nodesIn(ctx context.Context, set FileIDs, cached *cachedNodes) (map[repo.Path]*parse.Node, error) {
	have := make(map[repo.Path]*parse.Node, len(set))
	for i := range cached.Nodes {
		k := &cached.Nodes[i]
		if k.CodeUnknown == "" && set[k.Path] == k.Blob && !k.Blob.IsZero() {
			n := k.node()
			n.ID, n.Parent = "", ""
			have[n.Path] = n
		}
	}
	var ids []repo.ID
	var asked []repo.Path
	for p, id := range set {
		if have[p] == nil {
			ids, asked = append(ids, id), append(asked, p)
		}
	}
	if len(ids) == 0 {
		return have, nil
	}
	files, err := loadSpecs(ctx, r.ws.Git, asked, ids)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		have[f.Path] = parse.ReadNode(f)
	}
	return have, nil
}

// readHistory returns the history that can be reached from heads.
func (r *Reader) readHistory(ctx context.Context, heads []repo.ID) (derive.History, error) {
	h, err := r.ws.Git.History(ctx, heads)
	r.notify(readHistory)
	if err != nil {
		return nil, err
	}
	r.ws.Remark(h.Remarks()...)
	return h, nil
}

// specsAt returns the spec files of a commit, without symbolic links.
func (r *Reader) specsAt(ctx context.Context, commit repo.ID) (FileIDs, error) {
	r.notify(readCommit)
	return cachedAnswer(ctx, r.ws, "specs-at", commit.String(), func() (map[repo.Path]repo.ID, bool, error) {
		set, err := r.ws.Git.FilesNamed(ctx, commit, parse.Root, parse.FileName)
		return set, true, err
	})
}

// mergeKeeps reports for some paths whether merging a branch into main would leave them unchanged. It leaves out
// paths for which git cannot tell. The answer is cached, because git takes long to make a merge.
func (r *Reader) mergeKeeps(ctx context.Context, main, branch repo.ID, paths []repo.Path) (map[repo.Path]bool, error) {
	question := fmt.Sprintf("%s %s %q", main, branch, paths)
	return cachedAnswer(ctx, r.ws, "merge-keeps", question, func() (map[repo.Path]bool, bool, error) {
		keeps, err := r.ws.Git.Contents().MergeKeeps(ctx, main, branch, paths)
		return keeps, len(keeps) == len(paths), err
	})
}

// cachedAnswer returns an answer that depends on commits alone. ask also says whether the
// answer is complete; only a complete answer is cached.
func cachedAnswer[V any](ctx context.Context, ws *workspace.Workspace, kind, question string, ask func() (map[repo.Path]V, bool, error)) (map[repo.Path]V, error) {
	view, err := ws.Git.HistoryView(ctx)
	if err != nil {
		return nil, err
	}
	key := ws.Cache.Key(kind)
	fmt.Fprintf(key, "%q %q", view, question)
	type row struct {
		Path  []byte
		Value V
	}
	var rows []row
	if cached, ok := ws.Cache.Load(key); ok && json.Unmarshal(cached, &rows) == nil {
		answer := make(map[repo.Path]V, len(rows))
		for _, r := range rows {
			answer[repo.Path(r.Path)] = r.Value
		}
		return answer, nil
	}
	answer, complete, err := ask()
	if err != nil || !complete {
		return answer, err
	}
	rows = make([]row, 0, len(answer))
	for _, p := range slices.Sorted(maps.Keys(answer)) {
		rows = append(rows, row{[]byte(p), answer[p]})
	}
	if text, err := json.Marshal(rows); err == nil {
		ws.Cache.Save(key, text)
	}
	return answer, nil
}
