package project

import "strings"

// A shellCommand is one simple command of a script.
type shellCommand struct {
	words []string
	// plain is set if the command has no expansions, redirections or pipes.
	plain bool
}

// splitShell splits a script into its simple commands. It handles quotes and operators, but no expansions.
func splitShell(script string) []shellCommand {
	var list []shellCommand
	var words []string
	var word strings.Builder
	plain, open := true, false
	endWord := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	end := func(next bool) {
		endWord()
		if len(words) > 0 {
			list = append(list, shellCommand{words, plain})
		}
		words = nil
		plain = next
	}
	for i := 0; i < len(script); i++ {
		c := script[i]
		switch {
		case c == '\\' && i+1 < len(script):
			i++
			if script[i] == '\n' {
				endWord()
				continue
			}
			word.WriteByte(script[i])
			open = true
		case c == '\'' || c == '"':
			open = true
			for i++; i < len(script) && script[i] != c; i++ {
				if c == '"' && script[i] == '\\' && i+1 < len(script) {
					i++
				} else if c == '"' && (script[i] == '$' || script[i] == '`') {
					plain = false
				}
				word.WriteByte(script[i])
			}
		case c == '#' && !open:
			for i+1 < len(script) && script[i+1] != '\n' {
				i++
			}
		case c == ' ' || c == '\t':
			endWord()
		case c == '\n' || c == ';':
			end(true)
		case c == '&' && i+1 < len(script) && script[i+1] == '&':
			i++
			end(true)
		case c == '|' && i+1 < len(script) && script[i+1] == '|':
			i++
			end(true)
		case c == '|' || c == '&':
			plain = false
			end(false)
		case c == '<' || c == '>' || c == '(' || c == ')' || c == '`' || c == '$':
			plain = false
			open = true
			word.WriteByte(c)
		default:
			word.WriteByte(c)
			open = true
		}
	}
	end(true)
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
