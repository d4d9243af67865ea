package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/term"
)

func (p *program) summarySet() *cobra.Command {
	var text, file, read string
	var b64 []string
	c := &cobra.Command{
		Use:   "set PATH (-m TEXT | -F FILE|-)",
		Short: "Store a summary of a file",
		Long: `Stores a summary for the content that its author read. --read names that content by
its id or md5. If the file changed since, ken keeps the summary for the content that
was read, and says "superseded".

Without --read, ken uses what the agent's session last read, if hooks recorded it.
Otherwise ken assumes the current content, and marks the summary as assumed.`,
		Example: `  ken summary set main.go -m 'Starts the program.'
  ken summary set main.go -F notes.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("message") == c.Flags().Changed("file") {
				return usageError(c, errors.New("give the text with -m TEXT or with -F FILE"))
			}
			switch len(args) + len(b64) {
			case 0:
				return missing(c, "PATH")
			case 1:
			default:
				return usageError(c, errors.New("give one path"))
			}
			if c.Flags().Changed("read") && read == "" {
				return usageError(c, errors.New("--read is empty: leave it out if you do not know what was read"))
			}
			if c.Flags().Changed("file") {
				b, err := readInput(p.io.In, file)
				if err != nil {
					return err
				}
				text = string(b)
			}
			return p.withRepository(c.Context(), func(w *ken.Repository) error {
				update := registry.Update{Text: text, Read: read}
				path, err := onePath(w, args, b64)
				if err != nil {
					path, update.Refused = repo.Path(strings.Join(args, "")), err.Error()
				}
				update.Path = path
				written, err := w.Registry.Write(c.Context(), []registry.Update{update})
				if err != nil {
					return err
				}
				return p.printWritten(written[0])
			})
		},
	}
	c.Flags().StringVarP(&text, "message", "m", "", "the summary `TEXT`")
	c.Flags().StringVarP(&file, "file", "F", "", "read the text from `FILE`, - for standard input")
	c.Flags().StringVar(&read, "read", "", "content `ID` or md5 of what the author read")
	pathB64(c, &b64)
	return c
}

// maxInput limits the bytes that are read from a file or pipe. It is far above the size of a batch of summaries.
const maxInput = 64 << 20

func readInput(stdin io.Reader, name string) ([]byte, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, &fault.Error{Kind: fault.Usage, Err: err}
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(b) > maxInput {
		err = fmt.Errorf("read %s: more than %d bytes", name, maxInput)
	}
	return b, err
}

func onePath(w *ken.Repository, args, b64 []string) (repo.Path, error) {
	all, err := paths(w, args, b64)
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// printWritten prints the result of an update. It returns errFailed if the update was rejected.
func (p *program) printWritten(w registry.WriteResult) error {
	err := p.answer(w, func() { p.printWrittenLine(w) })
	if err == nil && w.Result == registry.Rejected {
		return errFailed
	}
	return err
}

// printWrittenLine prints the result of one update.
func (p *program) printWrittenLine(w registry.WriteResult) {
	tone, why := term.Good, w.Reason
	switch w.Result {
	case registry.Rejected:
		tone = term.Bad
	case registry.Superseded:
		tone = term.Warn
	default:
		if w.Assumed {
			why = "assumed to be about the current content; give --read to say what you read"
		}
	}
	p.io.Line(tone, string(w.Result), w.Display(), why)
	if w.Hint != "" {
		p.io.Remarkf("hint: %s", term.Clean(w.Hint))
	}
}
