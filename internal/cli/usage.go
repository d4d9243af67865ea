package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ken/internal/english"
	"ken/internal/fault"
	"ken/internal/suggest"
)

// usageError returns an error about wrong arguments, with the help of the command as hint.
func usageError(c *cobra.Command, err error) error {
	return &fault.Error{Kind: fault.Usage, Hint: c.CommandPath() + " --help", Err: err}
}

// answerUsage replaces cobra's errors about arguments and flags by ken's, for c and the commands below it.
func answerUsage(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil {
				return nil
			}
			return argumentError(c, args)
		}
	}
	c.SetFlagErrorFunc(flagError)
	for _, sub := range c.Commands() {
		answerUsage(sub)
	}
}

// argumentError returns the error for a missing argument, too many arguments or an unknown command.
func argumentError(c *cobra.Command, args []string) error {
	if isGroup(c) && len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	names := argumentNames(c.Use)
	shape := strings.TrimSuffix(c.CommandPath(), c.Name()) + c.Use
	if len(args) < len(names) && !strings.HasPrefix(names[len(args)], "[") {
		return missing(c, strings.TrimSuffix(names[len(args)], "…"))
	}
	extra := args[min(len(names), len(args)):]
	return &fault.Error{Kind: fault.Usage, Hint: shape, Err: fmt.Errorf("too many arguments: %s", strings.Join(extra, " "))}
}

// isGroup reports whether c is followed by one of its commands, rather than by an argument.
func isGroup(c *cobra.Command) bool {
	return c.HasSubCommands() && len(argumentNames(c.Use)) == 0
}

// argumentNames returns the arguments that a usage line names before its first flag.
func argumentNames(use string) []string {
	var names []string
	for _, word := range strings.Fields(use)[1:] {
		if strings.ContainsAny(word, "-(") {
			break
		}
		names = append(names, word)
	}
	return names
}

// missing returns the error for a missing argument.
func missing(c *cobra.Command, name string) error {
	err := fmt.Errorf("missing argument: %s", name)
	return &fault.Error{Kind: fault.Usage, Hint: strings.TrimSuffix(c.CommandPath(), c.Name()) + c.Use, Err: err}
}

// unknownCommand returns the error for a word that is no command below c. The hint names the nearest command: by its
// name, or by a word in its SuggestFor.
func unknownCommand(c *cobra.Command, word string) error {
	hint := "see the commands with: " + c.CommandPath() + " --help"
	best := math.MaxInt
	var near []string
	compare := func(name string, meant *cobra.Command) {
		letters, slip := suggest.TypoDistance(name, word)
		if !slip && len(word) > 1 && (strings.HasPrefix(name, word) || strings.HasPrefix(word, name)) {
			slip = true
			letters = max(len(name), len(word)) - min(len(name), len(word))
		}
		if !slip || letters > best {
			return
		}
		if letters < best {
			near = nil
			best = letters
		}
		near = append(near, meant.CommandPath())
	}
	for _, sub := range c.Commands() {
		compare(sub.Name(), sub)
		for _, below := range sub.Commands() {
			for _, name := range below.SuggestFor {
				compare(name, below)
			}
		}
	}
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("unknown command: %s %s", c.CommandPath(), word)}
}

// needsSub returns the error for a group of commands without a command.
func needsSub(c *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return usageError(c, fmt.Errorf("%s needs a command: %s", c.CommandPath(), english.Or(names)))
}

// badValue returns the error for a value that a flag does not allow. The hint names the nearest value.
func badValue(c *cobra.Command, flag, value string, legal []string) error {
	hint := c.CommandPath() + " --help"
	if word, ok := suggest.Word(value, legal); ok {
		hint = "did you mean --" + flag + " " + word + "?"
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("--%s %s: want %s", flag, value, english.Or(legal))}
}

// flagError returns the error for a flag that cannot be parsed.
func flagError(c *cobra.Command, err error) error {
	if word := c.Flags().Arg(0); word != "" && isGroup(c) {
		return unknownCommand(c, word) // the flag is one of a command that does not exist
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(c, unknown)
	}
	if bad, ok := errors.AsType[*pflag.InvalidSyntaxError](err); ok {
		return &fault.Error{Kind: fault.Usage, Hint: "see the flags with: " + c.CommandPath() + " --help", Err: fmt.Errorf("not a flag: %s", bad.GetSpecifiedFlag())}
	}
	if empty, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		name, _ := pflag.UnquoteUsage(empty.GetFlag())
		return usageError(c, fmt.Errorf("--%s needs a value: %s", empty.GetFlag().Name, name))
	}
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := bad.GetFlag()
		joint := " "
		if flag.NoOptDefVal != "" {
			joint = "="
		}
		return usageError(c, fmt.Errorf("--%s%s%s: %s", flag.Name, joint, bad.GetValue(), wantedValue(flag, bad)))
	}
	return usageError(c, err)
}

func unknownFlag(c *cobra.Command, unknown *pflag.NotExistError) error {
	name := unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		name = "-" + name
	} else {
		name = "--" + name
	}
	hint := "see the flags with: " + c.CommandPath() + " --help"
	best := math.MaxInt
	c.Flags().VisitAll(func(f *pflag.Flag) {
		letters, near := suggest.TypoDistance(f.Name, unknown.GetSpecifiedName())
		if near && letters < best && !f.Hidden {
			best = letters
			hint = "did you mean " + c.CommandPath() + " --" + f.Name + "?"
		}
	})
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("unknown flag: %s", name)}
}

// wantedValue describes the values of a flag.
func wantedValue(flag *pflag.Flag, bad *pflag.InvalidValueError) string {
	switch kind := flag.Value.Type(); kind {
	case "bool":
		return "want true or false"
	case "duration":
		return "want a duration such as 10s, 5m or 1h"
	case "uint16":
		return fmt.Sprintf("want a whole number from 0 to %d", math.MaxUint16)
	case "int", "int64", "uint", "uint64", "float64":
		if errors.Is(bad, strconv.ErrRange) {
			return "that number is too large"
		}
		if kind == "float64" {
			return "want a number"
		}
		return "want a whole number"
	default:
		return errors.Unwrap(bad).Error()
	}
}
