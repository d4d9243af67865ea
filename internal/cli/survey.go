package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
)

// survey returns ken survey.
func (p *program) survey() *cobra.Command {
	c := &cobra.Command{
		Use:   "survey",
		Short: "Describe directories, leaves first, and check which summaries are stale",
		Long: `Keeps a summary of every directory that contains tracked files. A summary is
written from the directory's own files and from the summaries of its
subdirectories. That basis is stored with it, so ken can compute whether the
summary is still fresh.`,
		Args: cobra.NoArgs,
		RunE: needsSub,
	}
	c.AddCommand(p.surveyPlan(), p.surveyRun(), p.surveyShow(), p.surveyPrompt(), p.surveyNext(), p.surveySubmit(), p.surveyRelease(), p.surveyReport())
	return c
}

// surveyFlags select the provider, its model and the order of work.
type surveyFlags struct {
	provider, model string
	ranks           []string
}

func (f *surveyFlags) bind(c *cobra.Command) {
	c.Flags().StringVar(&f.provider, "provider", "", "`NAME` of the provider: outline, anthropic, openai or command (default: from the configuration, else outline)")
	c.Flags().StringVar(&f.model, "model", "", "`NAME` of the provider's model")
	c.Flags().StringArrayVar(&f.ranks, "rank", nil, "`DIR=RANK`: priority, normal, shallow or skip (repeatable)")
}

// again returns a command line with the same flags and arguments, for pasting.
func (f *surveyFlags) again(command string, args ...string) string {
	words := []string{command}
	if f.provider != "" {
		words = append(words, "--provider", fault.Quote(f.provider))
	}
	if f.model != "" {
		words = append(words, "--model", fault.Quote(f.model))
	}
	for _, r := range f.ranks {
		words = append(words, "--rank", fault.Quote(r))
	}
	for _, a := range args {
		words = append(words, fault.Quote(a))
	}
	return strings.Join(words, " ")
}

// setup returns the survey that the flags ask for, and the writer that find returns for
// the provider and the model.
func (f *surveyFlags) setup(c *cobra.Command, w *ken.Repository, find func(provider, model string) (describe.Writer, error)) (*survey.Survey, describe.Writer, error) {
	ranks := make(map[repo.Path]survey.Rank)
	for _, text := range f.ranks {
		i := strings.LastIndexByte(text, '=')
		if i < 0 {
			return nil, nil, usageError(c, fmt.Errorf("--rank %s: expected DIR=RANK", text))
		}
		dir, err := w.Path(text[:i])
		if err != nil {
			return nil, nil, err
		}
		var rank survey.Rank
		if err := rank.UnmarshalText([]byte(text[i+1:])); err != nil {
			return nil, nil, usageError(c, fmt.Errorf("--rank %s: %w", text, err))
		}
		ranks[dir] = rank
	}
	writer, err := find(f.provider, f.model)
	if err != nil {
		return nil, nil, err
	}
	s := w.Survey(ranks)
	if err := s.CheckDirectories(c.Context(), slices.Sorted(maps.Keys(ranks))); err != nil {
		return nil, nil, err
	}
	return s, writer, nil
}

// optionalPath resolves the argument that names a directory. Without one it is the root.
func optionalPath(w interface {
	Path(arg string) (repo.Path, error)
}, args []string,
) (repo.Path, error) {
	if len(args) == 0 {
		return "", nil
	}
	return w.Path(args[0])
}
