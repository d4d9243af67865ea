package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/term"
)

// A wrong command line is answered in ken's own words, with the nearest right one.
func TestWrongArguments(t *testing.T) {
	for _, tt := range []struct {
		line string
		says string
		hint string
	}{
		{"nonsense", `unknown command: ken nonsense`, "see the commands with: ken --help"},
		{"stauts", `unknown command: ken stauts`, "did you mean ken status?"},
		{"diff main.go", `unknown command: ken diff`, "did you mean ken summary diff?"},
		{"confirm", `unknown command: ken confirm`, "did you mean ken summary confirm?"},
		{"close", `unknown command: ken close`, "did you mean ken summary close?"},
		{"init --hooks", `unknown command: ken init`, "did you mean ken install git?"},
		{"help stauts", `unknown command: ken stauts`, "did you mean ken status?"},
		{"help spec lss", `unknown command: ken spec lss`, "did you mean ken spec ls?"},
		{"spec lss", `unknown command: ken spec lss`, "did you mean ken spec ls?"},
		{"share pul", `unknown command: ken share pul`, "did you mean ken share pull?"},
		{"summary", `ken summary needs a command: set, show, ls, diff, confirm or close`, "ken summary --help"},

		{"verify --chekc", `unknown flag: --chekc`, "did you mean ken verify --check?"},
		{"verify --jsno", `unknown flag: --jsno`, "did you mean ken verify --json?"},
		{"verify --nonsense", `unknown flag: --nonsense`, "see the flags with: ken verify --help"},
		{"verify -x", `unknown flag: -x`, "see the flags with: ken verify --help"},
		{"verify ---x", `not a flag: ---x`, "see the flags with: ken verify --help"},

		{"brief --budget", `--budget needs a value: TOKENS`, "ken brief --help"},
		{"brief --budget many", `--budget many: want a whole number`, "ken brief --help"},
		{"brief --budget 99999999999999999999", `--budget 99999999999999999999: that number is too large`, "ken brief --help"},
		{"brief --budget 7", `--budget 7: want at least 50 tokens`, "ken brief --help"},
		{"serve --port 70000", `--port 70000: want a whole number from 0 to 65535`, "ken serve --help"},
		{"state get --wait soon", `--wait soon: want a duration such as 10s, 5m or 1h`, "ken state get --help"},
		{"survey run --max-cost much", `--max-cost much: want a number`, "ken survey run --help"},
		{"status --check=maybe", `--check=maybe: want true or false`, "ken status --help"},
		{"summary ls --state bogus", `--state bogus: want fresh, stale, gone, none, excluded or unknown`, "ken summary ls --help"},
		{"summary ls --state frsh", `--state frsh: want fresh, stale, gone, none, excluded or unknown`, "did you mean --state fresh?"},

		{"spec show", `missing argument: ID`, "ken spec show ID"},
		{"spec show a b", `too many arguments: b`, "ken spec show ID"},
		{"brief a b", `too many arguments: b`, "ken brief [PATH]"},
		{"version a", `too many arguments: a`, "ken version"},
		{"spec owner", `missing argument: PATH`, "ken spec owner PATH…"},
		{"summary confirm", `missing argument: PATH`, "ken summary confirm PATH…"},
		{"summary set -m x", `missing argument: PATH`, "ken summary set PATH (-m TEXT | -F FILE|-)"},
		{"summary set a", `give the text with -m TEXT or with -F FILE`, "ken summary set --help"},
		{"summary show", `give either paths or --id CONTENT_ID`, "ken summary show --help"},
		{"summary show --id zz", `--id zz: want 40 or 64 hexadecimal digits, or 32 of an md5`, "ken summary show --help"},
		{"serve --addr a --port 1", `use either --addr or --port`, "ken serve --help"},
	} {
		var out, said bytes.Buffer
		err := Run(t.Context(), Deps{}, &term.IO{Out: &out, Err: &said}, strings.Fields(tt.line))
		want := "ken: " + tt.says + "\nhint: " + tt.hint + "\n"
		if fault.KindOf(err) != fault.Usage || said.String() != want || out.Len() > 0 {
			t.Errorf("ken %s: kind %v, stdout %q, stderr:\n%swant:\n%s", tt.line, fault.KindOf(err), out.String(), said.String(), want)
		}
	}
}

// No message of a library about arguments reaches the user.
func TestNoLibraryWords(t *testing.T) {
	for _, c := range all(Tree("")) {
		if !c.Runnable() || c.Name() == "help" {
			continue
		}
		path := strings.Fields(c.CommandPath())[1:]
		for _, args := range [][]string{{}, {"a", "b", "c", "d"}, {"--nonsense"}} {
			var err error
			if len(args) == 1 {
				if err = c.ParseFlags(args); err != nil {
					err = c.FlagErrorFunc()(c, err)
				}
			} else if c.Args != nil {
				err = c.Args(c, args)
			}
			if err == nil {
				continue
			}
			for _, foreign := range []string{"arg(s)", "strconv", "invalid argument", "unknown shorthand", "for \"ken", "bad flag"} {
				if strings.Contains(err.Error(), foreign) {
					t.Errorf("ken %s %v: %v", strings.Join(path, " "), args, err)
				}
			}
		}
	}
}

// all returns a command and the ones below it.
func all(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		list = append(list, all(sub)...)
	}
	return list
}
