package cli

import (
	"ken/internal/workflow"

	"github.com/spf13/cobra"
)

func (p *program) stateGet(f *stateFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "get [KEY]",
		Short: "Print the workflow document, or one of its values",
		Example: `  ken state get
  ken state get phase`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return p.inState(c, f, func(s *workflow.Manager) error {
				if len(args) == 0 {
					d, err := s.Get(c.Context())
					if err != nil {
						return err
					}
					return p.printDocument(d)
				}
				v, err := s.GetKey(c.Context(), args[0])
				if err != nil {
					return err
				}
				if text, ok := v.(string); ok && !p.io.JSON {
					p.io.Printf("%s\n", text)
					return nil
				}
				return p.io.Encode(v)
			})
		},
	}
}
