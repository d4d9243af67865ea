package surveyrun

import (
	"context"
	"fmt"
	"time"

	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/model"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey"
	"ken/internal/survey/describe"
)

// A DirLease is the lease of a directory, with the budget of its calls.
type DirLease interface {
	Budget
	// Claim keeps other workers from summarising the same input for another directory of
	// the repository during the lease. It returns [ErrSameInput] if a worker
	// already does so. After a claim, the caller checks again whether a summary exists.
	Claim(ctx context.Context, basis fresh.Digest) error
}

// DescribeResult is the result of summarising a directory.
type DescribeResult struct {
	Record *store.DirRecord // the new summary; nil without a model call
	Files  []fresh.Record   // summaries of its files

	// The verdict, and the id of the current summary.
	Verdict fresh.Verdict
	Reasons []string
	Current fresh.Digest

	// Basis identifies the input; it is set for a failure too.
	Basis fresh.Digest

	// The calls and their cost are set for a failure too.
	Calls int
	Last  Amount // of the last call, which is not recorded yet
}

// A Describer summarises directories of a commit with the model of a run.
type Describer struct {
	Survey *survey.Survey // of the commit
	Model  model.Model
	Plain  bool // see [describe.ModelWriter]
	// Records returns the summaries with some ids, as far as the team's database has them.
	Records func(ctx context.Context, ids []fresh.Digest) (map[fresh.Digest]*store.DirRecord, error)
	Now     func() time.Time
}

// Describe summarises a directory, given its task and the tasks of its children. It reserves every model call with the
// lease. A directory that has a current summary needs no call.
func (d *Describer) Describe(ctx context.Context, run Run, of survey.DirTask, below []survey.DirTask, lease DirLease) (out DescribeResult, err error) {
	metered := NewMeteredModel(d.Model, lease)
	writer := &describe.ModelWriter{Model: metered, Plain: d.Plain}
	inputs, err := d.inputs(ctx, append([]survey.DirTask{of}, below...))
	if err != nil {
		return out, err
	}
	assigned, err := d.Survey.Assign(ctx, writer, inputs[0], inputs[1:])
	if err == nil && assigned.Item != nil {
		// Another worker may have finished the same input before the claim.
		if err = lease.Claim(ctx, assigned.Item.Basis.Digest()); err == nil {
			assigned, err = d.Survey.Assign(ctx, writer, inputs[0], inputs[1:])
		}
	}
	if err != nil {
		return out, err
	}
	if assigned.Item != nil {
		out.Basis = assigned.Item.Basis.Digest()
		draft, err := writer.Write(ctx, assigned.Item)
		out.Calls, out.Last = metered.Calls(), metered.LastCost()
		if err != nil {
			return out, err
		}
		if out.Record, err = assigned.Record(draft); err != nil {
			return out, err
		}
		out.Files = d.fileRecords(assigned.Item, draft, writer)
	}
	out.Verdict, out.Reasons, out.Current = assigned.Result()
	return out, nil
}

// inputs adds the current summaries to tasks.
func (d *Describer) inputs(ctx context.Context, tasks []survey.DirTask) ([]survey.TaskInput, error) {
	var ids []fresh.Digest
	for _, t := range tasks {
		if !t.Record.IsZero() {
			ids = append(ids, t.Record)
		}
	}
	records, err := d.Records(ctx, ids)
	if err != nil {
		return nil, err
	}
	inputs := make([]survey.TaskInput, len(tasks))
	for i, t := range tasks {
		inputs[i] = survey.TaskInput{DirTask: t, Summary: records[t.Record]}
		if !t.Record.IsZero() && inputs[i].Summary == nil {
			return nil, fmt.Errorf("the summary of %s is no longer in the database", repo.DirLabel(t.Path))
		}
	}
	return inputs, nil
}

// fileRecords returns the summaries of a directory's files, for the contents that the model read.
func (d *Describer) fileRecords(it *describe.Item, draft describe.Draft, w describe.Writer) []fresh.Record {
	var list []fresh.Record
	now := d.Now().UTC().Truncate(time.Microsecond)
	for _, f := range it.Files {
		text := draft.Files[f.Path]
		if f.ID.IsZero() || fresh.CheckText(text, registry.MaxText, repo.IsMisleading) != nil {
			continue
		}
		list = append(list, fresh.Record{
			Text: text, Author: w.Author(), Recipe: w.Recipe(), Path: f.Path, At: now,
			Basis: fresh.Basis{Content: repo.Content{ID: f.ID}},
		})
	}
	return list
}

// CheckRecipe returns an error if this version of ken would describe directories by another recipe than the run.
func (r *Run) CheckRecipe(m model.Model) error {
	own := (&describe.ModelWriter{Model: m}).Recipe()
	if own == r.Recipe {
		return nil
	}
	return &fault.Error{
		Kind: fault.Usage, Hint: "use the same version of ken everywhere",
		Err: fmt.Errorf("the run has the recipe %q, and this version of ken has %q", r.Recipe, own),
	}
}

// CheckPrice returns an error if the ceiling of a run has a cost and the price of the model is unknown: then it cannot be
// enforced.
func (c Ceiling) CheckPrice(m model.Model) error {
	if c.Cost == nil || m.Price().Known() {
		return nil
	}
	return &fault.Error{
		Kind: fault.Usage, Hint: "set the price in survey.prices of .ken/config.yaml, or use --max-tokens",
		Err: fmt.Errorf("no price known for %s: --max-cost cannot be enforced", m.Name()),
	}
}

// CheckPrice does the same for the server's ceiling of the day.
func (d Day) CheckPrice(m model.Model) error {
	if d.Ceiling.Cost == nil || m.Price().Known() {
		return nil
	}
	return &fault.Error{
		Kind: fault.Usage, Hint: "set the price in survey.prices of .ken/config.yaml, or see the limit of the server: ken worker ceiling",
		Err: fmt.Errorf("no price known for %s: the limit of %s per day cannot be enforced", m.Name(), *d.Ceiling.Cost),
	}
}
