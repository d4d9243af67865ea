package project

import (
	"strings"

	"ken/internal/shell"
)

// A shellCommand is one simple command of a script.
type shellCommand struct {
	words []string
	// plain is set if the command has no expansions, redirections or pipes.
	plain bool
}

// splitShell returns the simple commands of a script.
func splitShell(script string) []shellCommand {
	return appendCommands(nil, shell.Read(script))
}

// appendCommands appends the commands of a script, with those of its subshells, which are not plain.
func appendCommands(list []shellCommand, commands []shell.Command) []shellCommand {
	for _, c := range commands {
		if c.Subshell != nil {
			first := len(list)
			list = appendCommands(list, c.Subshell)
			for i := range list[first:] {
				list[first+i].plain = false
			}
			continue
		}
		var words []string
		for _, w := range c.Words {
			words = append(words, w.Value)
		}
		list = append(list, shellCommand{words, c.Plain})
	}
	return list
}

// assignments returns how many of the first words set environment variables.
func assignments(words []string) int {
	for i, word := range words {
		name, _, ok := strings.Cut(word, "=")
		if !ok || !isVariable(name) {
			return i
		}
	}
	return len(words)
}

// toolOf returns the words of a command from the tool on that does the work, without its launchers: variables,
// sudo, npx, uv run, python -m and the like.
func toolOf(words []string) []string {
	for {
		words = words[assignments(words):]
		if len(words) == 0 {
			return nil
		}
		second := ""
		if len(words) > 1 {
			second = words[1]
		}
		switch words[0] {
		case "sudo", "time", "env", "exec", "command", "npx", "bunx", "pnpx", "xvfb-run", "cross-env", "nice", "c8", "nyc", "dotenv":
			words = afterFlags(words[1:])
		case "python", "python3", "py":
			if second != "-m" {
				return words
			}
			words = words[2:]
		case "uv", "poetry", "pdm", "hatch", "pipenv", "rye", "pixi":
			if second != "run" {
				return words
			}
			words = afterFlags(words[2:])
		case "bundle", "npm", "pnpm", "yarn":
			if second != "exec" && second != "dlx" {
				return words
			}
			words = afterFlags(words[2:])
		default:
			return words
		}
	}
}

// afterFlags skips the flags at the start of words, with the values of those that are known to have one.
func afterFlags(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		flag := words[0]
		words = words[1:]
		switch flag {
		case "--group", "--extra", "--python", "-p", "--with", "--package", "-w", "--workspace", "--filter", "--env-file", "-e":
			if len(words) > 0 {
				words = words[1:]
			}
		case "--":
			return words
		}
	}
	return words
}
