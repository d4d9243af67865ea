package cli

import (
	"github.com/spf13/cobra"

	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/term"
)

func (p *program) surveyPrompt() *cobra.Command {
	return &cobra.Command{
		Use:     "prompt DIR",
		Short:   "Print the prompt that a model gets for a directory",
		Example: `  ken survey prompt internal/parse`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				dir, err := optionalPath(w, args)
				if err != nil {
					return err
				}
				text, err := w.Survey(nil).Prompt(c.Context(), dir)
				if err != nil {
					return err
				}
				return p.answer(map[string]string{"path": repo.DirLabel(dir).String(), "prompt": text}, func() { p.io.Printf("%s", term.CleanText(text)) })
			})
		},
	}
}
