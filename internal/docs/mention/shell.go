package mention

import (
	"path"
	"strings"
)

// commandNames returns the names in a code span that is clearly a shell command.
func commandNames(t string) []nameInText {
	r := shellReader{text: strings.ReplaceAll(t, "\n", " "), doubt: true}
	r.text = strings.Replace(r.text, "$ ", "  ", min(1, strings.Count(r.text[:min(2, len(r.text))], "$ ")))
	r.read()
	return r.found
}

// shellNames returns the names in a code block of shell commands. If sure is false, it reads only lines that begin
// with a well-known command.
func shellNames(text string, sure bool) []nameInText {
	r := shellReader{text: prompted(text), doubt: !sure}
	if r.text != text {
		r.doubt = false
	}
	r.read()
	return r.found
}

// prompted blanks the prompts of a session and the output between them. All positions stay the same.
func prompted(text string) string {
	session, first := false, true
	for line := range strings.Lines(text) {
		// Other lines may begin with >, but rarely the first one.
		if n := prompt(line); n > 0 && (first || strings.TrimSpace(line[:n]) != ">") {
			session = true
			break
		}
		first = first && strings.TrimSpace(line) == ""
	}
	if !session {
		return text
	}
	var out strings.Builder
	goes := false // the previous line continues here
	for line := range strings.Lines(text) {
		n := prompt(line)
		keep := n > 0 || goes
		if !keep {
			n = len(strings.TrimRight(line, "\r\n"))
		}
		out.WriteString(strings.Repeat(" ", n))
		out.WriteString(line[n:])
		goes = keep && strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`)
	}
	return out.String()
}

// prompt returns the length of the prompt at the start of a line.
func prompt(line string) int {
	n := len(line) - len(strings.TrimLeft(line, " \t"))
	for _, p := range []string{"$ ", "% ", "> ", "❯ ", "➜ "} {
		if strings.HasPrefix(line[n:], p) {
			return n + len(p)
		}
	}
	return 0
}

// A word is a word of a command, without quotes.
type word struct {
	value      string
	start, end int
	output     bool // the command writes to it
}

// A shellReader parses commands and tracks their working directory.
type shellReader struct {
	text  string
	doubt bool // some lines may not be commands

	place
	head   int     // where the command begins
	outer  []place // of the enclosing shells
	cloned bool    // the command before the last one was git clone
	found  []nameInText
}

// A place is the working directory of a shell.
type place struct {
	in   string
	lost bool // the directory is unknown
}

func (r *shellReader) read() {
	var line []word
	var here []string // the terminators of here documents that begin on the next line
	done := func() {
		if len(line) > 0 {
			r.command(line)
		}
		line = line[:0]
	}
	output, skip := false, false
	for i := 0; i < len(r.text); {
		switch b := r.text[i]; {
		case b == '\n':
			done()
			i++
			for _, end := range here {
				i = skipHere(r.text, i, end)
			}
			here, output, skip = nil, false, false
		case b == ' ' || b == '\t' || b == '\r':
			i++
		case b == '\\' && i+1 < len(r.text) && (r.text[i+1] == '\n' || r.text[i+1] == '\r'):
			i += 2
			if i < len(r.text) && r.text[i-1] == '\r' && r.text[i] == '\n' {
				i++
			}
		case b == '#':
			n := strings.IndexByte(r.text[i:], '\n')
			if n < 0 {
				n = len(r.text) - i
			}
			i += n
		case b == '(' || b == ')':
			done()
			if b == '(' && len(r.outer) < 32 {
				r.outer = append(r.outer, r.place)
			} else if b == ')' && len(r.outer) > 0 {
				r.place = r.outer[len(r.outer)-1]
				r.outer = r.outer[:len(r.outer)-1]
			}
			i++
		case b == ';' || b == '|' || b == '&':
			if b == '&' && i+1 < len(r.text) && r.text[i+1] == '>' {
				i++
				continue
			}
			done()
			i++
		case b == '>':
			output = true
			i++
		case b == '<' && !isPlaceholder(r.text[i:]):
			switch {
			case strings.HasPrefix(r.text[i:], "<<<"):
				skip = true
				i += 3
			case strings.HasPrefix(r.text[i:], "<<"):
				i += 2
				if i < len(r.text) && r.text[i] == '-' {
					i++
				}
				w, next := readWord(r.text, i)
				if next == i {
					break
				}
				i = next
				if len(here) < 4 && w.value != "" {
					here = append(here, w.value)
				}
			default:
				i++
			}
		default:
			w, next := readWord(r.text, i)
			if next == i { // not a word
				i++
				continue
			}
			i = next
			if digits := strings.Trim(w.value, "0123456789") == ""; digits && i < len(r.text) && (r.text[i] == '>' || r.text[i] == '<') {
				continue // 2>
			}
			w.output = output
			if !skip {
				line = append(line, w)
			}
			output, skip = false, false
		}
	}
	done()
}

// isPlaceholder reports whether a text begins with a placeholder like <name>.
func isPlaceholder(t string) bool {
	n := strings.IndexAny(t[:min(len(t), 80)], "> \t\n")
	return n > 1 && t[n] == '>'
}

// readWord reads the word at a position.
func readWord(t string, i int) (word, int) {
	w := word{start: i}
	var value strings.Builder
	quoted := false
	begin := i
	for i < len(t) {
		switch b := t[i]; {
		case b == '\'' || b == '"':
			end := i + 1
			for end < len(t) && t[end] != b && t[end] != '\n' {
				if b == '"' && t[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(t) || t[end] != b { // an apostrophe
				value.WriteByte(b)
				i++
				continue
			}
			value.WriteString(t[i+1 : end])
			quoted = true
			if i == begin {
				w.start = i + 1
			}
			w.end = end
			i = end + 1
			continue
		case b == '\\' && i+1 < len(t) && t[i+1] != '\n' && t[i+1] != '\r':
			value.WriteString(t[i : i+2])
			i += 2
			continue
		case b == '$' && i+1 < len(t) && t[i+1] == '(':
			depth, end := 0, i+1
			for end < len(t) && t[end] != '\n' {
				if t[end] == '(' {
					depth++
				} else if t[end] == ')' {
					if depth--; depth == 0 {
						end++
						break
					}
				}
				end++
			}
			value.WriteString(t[i:end])
			i = end
			continue
		case b == '<' && isPlaceholder(t[i:]):
			n := strings.IndexByte(t[i:], '>') + 1
			value.WriteString(t[i : i+n])
			i += n
			continue
		case strings.IndexByte(" \t\r\n;|&()<>\\", b) >= 0:
		default:
			value.WriteByte(b)
			i++
			continue
		}
		break
	}
	w.value = value.String()
	if !quoted {
		w.end = i
	}
	return w, i
}

// skipHere returns the end of the here document at a position.
func skipHere(t string, i int, end string) int {
	for i < len(t) {
		n := strings.IndexByte(t[i:], '\n')
		line, next := t[i:], len(t)
		if n >= 0 {
			line, next = t[i:i+n], i+n+1
		}
		i = next
		if strings.Trim(line, " \t\r") == end {
			return i
		}
	}
	return len(t) // not closed; the rest may be data
}

// command reads a command and its words.
func (r *shellReader) command(line []word) {
	for len(line) > 0 && (assignment(line[0].value) || prefixes.has(line[0].value)) {
		line = line[1:]
	}
	if len(line) == 0 {
		return
	}
	cloned := r.cloned
	r.cloned = false
	head, args := line[0], line[1:]
	r.head = head.start
	name := path.Base(head.value)
	local := strings.Contains(head.value, "/")
	if r.doubt && !local && !heads.has(head.value) {
		return
	}
	if local {
		r.path(head, !r.doubt || strings.HasPrefix(head.value, "./"))
		if r.doubt && !strings.HasPrefix(head.value, "./") && !isExtension(path.Ext(head.value)) {
			return
		}
		r.paths(args, false)
		return
	}
	switch name {
	case "cd", "pushd":
		r.changeDir(args, cloned)
	case "git":
		r.cloned = len(args) > 0 && args[0].value == "clone"
	case "mkdir":
		r.cloned = true // a cd into the clone leads out of this repository
	case "make", "gmake":
		r.make(args)
	case "just", "task", "rake", "mage":
		r.targets(name, args)
	case "npm", "pnpm", "yarn", "bun", "composer":
		r.script(name, args)
	case "go":
		if len(args) > 0 && goVerbs.has(args[0].value) {
			r.paths(args[1:], true)
		}
	case "pip", "pip3":
		for i := 1; i < len(args); i++ {
			if requirementFlags.has(args[i-1].value) {
				r.path(args[i], true)
			}
		}
	case "cp", "mv", "ln", "install", "rsync", "scp":
		if len(args) > 1 {
			r.paths(args[:len(args)-1], true)
		}
	default:
		if !silent.has(name) {
			r.paths(args, pathful.has(name))
		}
	}
}

// maxDir limits the length of a directory path after several cd commands.
const maxDir = 1024

// assignment reports whether a word sets a variable for a command.
func assignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && identifier(name)
}

func (r *shellReader) changeDir(args []word, cloned bool) {
	if len(args) != 1 {
		r.lost = true
		return
	}
	w := args[0]
	dir := strings.TrimSuffix(w.value, "/")
	switch {
	case cloned:
		r.place = place{}
	case dir == "-" || strings.ContainsAny(dir, "$~<>{}*`") || strings.HasPrefix(dir, "/") || dir == "" || strings.Contains(dir, "..."):
		r.lost = true
	default:
		if strings.Contains(w.value, "/") && !strings.Contains(dir, "..") {
			r.path(w, true)
			if len(r.found) > 0 {
				r.found[len(r.found)-1].dir = true
			}
		}
		if r.in = path.Join(r.in, dir); r.in == "." {
			r.in = ""
		} else if strings.HasPrefix(r.in, "..") || len(r.in) > maxDir {
			r.lost = true
		}
	}
}

// path adds a word that may be a path. If expected is set, the path needs no extension.
func (r *shellReader) path(w word, expected bool) {
	if r.lost || w.output || strings.HasPrefix(w.value, "-") || len(w.value) > maxName || strings.Contains(w.value, "=") {
		return
	}
	n, ok := pathOf(w.value)
	if !ok || n.glob && !strings.Contains(n.name, "/") || strings.HasPrefix(n.name, "/") {
		return
	}
	explicit := strings.HasPrefix(w.value, "./") || strings.HasPrefix(w.value, "../")
	if !explicit && !expected && (!strings.Contains(n.name, "/") || !isExtension(path.Ext(n.name))) {
		return
	}
	n.in = r.in
	if n.end > n.start {
		n = n.shift(w.start)
	}
	n.text = Span{w.start, w.end}
	r.found = append(r.found, n)
}

func (r *shellReader) paths(args []word, expected bool) {
	skip := false
	for _, w := range args {
		if !skip && !strings.HasPrefix(w.value, "-") {
			r.path(w, expected)
		}
		skip = outputs.has(w.value)
	}
}

// addCommand adds the command that a tool runs.
func (r *shellReader) addCommand(tool string, w word, in string) {
	if r.lost || w.output || !target(w.value) {
		return
	}
	if in == "" {
		in = r.in
	} else if r.in != "" {
		in = path.Join(r.in, in)
	}
	n := nameInText{kind: Command, name: w.value, tool: tool, in: in, start: w.start, end: w.end, text: Span{r.head, w.end}}
	r.found = append(r.found, n)
}

// target reports whether a word can be a command of a tool.
func target(s string) bool {
	if s == "" || len(s) > 80 || !isLetter(s[0]) || placeholder(s) || strings.ToUpper(s) == s {
		return false
	}
	for i := range len(s) {
		if b := s[i]; !isLetter(b) && !isDigit(b) && strings.IndexByte("_-.:/@", b) < 0 {
			return false
		}
	}
	return !strings.Contains(s, "..") && !strings.HasSuffix(s, ":") && !strings.HasSuffix(s, ".")
}

func (r *shellReader) make(args []word) {
	in := ""
	var asked []word
	for i := 0; i < len(args); i++ {
		switch v := args[i].value; {
		case v == "-C" && i+1 < len(args):
			i++
			in = strings.TrimSuffix(args[i].value, "/")
			r.path(args[i], true)
		case v == "-f" && i+1 < len(args):
			i++
			r.path(args[i], true)
			return // of another makefile
		case v == "-j" && i+1 < len(args) && strings.Trim(args[i+1].value, "0123456789") == "":
			i++
		case strings.HasPrefix(v, "-") || strings.Contains(v, "="):
		default:
			asked = append(asked, args[i])
		}
	}
	if strings.ContainsAny(in, "$<>{}*~") || strings.HasPrefix(in, "/") {
		return
	}
	for _, w := range asked {
		if words.has(w.value) || english.has(w.value) {
			return // prose: make sure
		}
		r.addCommand("make", w, in)
	}
}

// targets adds the commands of a tool whose arguments are targets.
func (r *shellReader) targets(tool string, args []word) {
	for _, w := range args {
		if strings.HasPrefix(w.value, "-") {
			return // the next word may be the argument of this option
		}
		if strings.Contains(w.value, "=") {
			continue
		}
		if english.has(w.value) || words.has(w.value) {
			return
		}
		if i := strings.IndexByte(w.value, '['); i > 0 && tool == "rake" {
			w.value, w.end = w.value[:i], w.start+i
		}
		r.addCommand(tool, w, "")
		return
	}
}

// script adds the script that a package manager runs.
func (r *shellReader) script(tool string, args []word) {
	in, run := "", false
	for i := 0; i < len(args); i++ {
		v := args[i].value
		switch {
		case (v == "--prefix" || v == "--cwd" || v == "--dir" || tool == "pnpm" && v == "-C") && i+1 < len(args):
			i++
			in = strings.TrimSuffix(args[i].value, "/")
			if strings.ContainsAny(in, "$<>{}*~") || strings.HasPrefix(in, "/") {
				return
			}
		case v == "-w" && tool == "pnpm" || v == "-r" || v == "--recursive" || v == "-s" || v == "--silent" || v == "--if-present" || v == "--workspaces" || v == "-ws":
			if v == "-r" || v == "--recursive" || v == "--workspaces" || v == "-ws" {
				return // of an unknown package
			}
		case strings.HasPrefix(v, "-"):
			return // of an unknown package, or the next word is the argument of an option
		case v == "run" || v == "run-script":
			run = true
		case v == "workspace" && tool == "yarn":
			return
		case run || lifecycle.has(v) && tool != "composer":
			if workspaceOf(args[i+1:]) {
				return
			}
			if tool == "bun" && (isExtension(path.Ext(v)) || v == "test" && !run) {
				r.path(args[i], true)
				return
			}
			r.addCommand(tool, args[i], in)
			return
		case tool == "npm" || managing.has(v) || isExtension(path.Ext(v)):
			return
		default:
			if !english.has(v) && !words.has(v) && !workspaceOf(args[i+1:]) && !strings.Contains(v, "@") && !strings.Contains(v, "/") {
				r.addCommand(tool, args[i], in)
			}
			return
		}
	}
}

// workspaceOf reports whether options select another package.
func workspaceOf(args []word) bool {
	for _, w := range args {
		switch v := w.value; {
		case v == "--":
			return false
		case v == "-w" || v == "-F" || strings.HasPrefix(v, "--workspace") || strings.HasPrefix(v, "--filter") || strings.HasPrefix(v, "--prefix"):
			return true
		}
	}
	return false
}

var (
	prefixes = lexicon{text: `sudo time exec env command nohup xargs npx bunx then do else ! && time watch poetry uv pipenv bundle run`}
	// heads are commands that identify a line as a shell command.
	heads = lexicon{text: `make gmake just task rake mage npm pnpm yarn bun composer go cargo python python3 node deno ruby php perl bash
		sh zsh source cat ls cd cp mv rm less head tail tree vim vi nano code tsx ts-node pytest jest vitest mocha eslint
		prettier tsc ruff mypy black bin/rails rails phpunit gofmt golangci-lint shellcheck terraform ansible-playbook
		docker kubectl bazel gradle mvn cmake ctest chmod mkdir git pip pip3`}
	// pathful are commands whose arguments are usually paths.
	pathful = lexicon{text: `python python3 node deno ruby php perl bash sh zsh source . cat ls rm less head tail tree vim vi nano code
		tsx ts-node pytest jest vitest mocha eslint prettier tsc ruff mypy black gofmt shellcheck chmod diff wc bat rustc
		gcc clang javac java open nvim emacs pylint flake8 phpunit`}
	// silent are commands whose arguments are not files of the repository.
	silent = lexicon{text: `echo printf export alias touch curl wget docker podman brew apt apt-get yum dnf pacman apk gem
		helm ssh kill which command type set unset read exit return gh hub heroku aws gcloud az nvm asdf mise rustup
		conda choco scoop winget snap port open-url tee mktemp dd mount umount chown systemctl service journalctl psql
		mysql redis-cli ping dig nc telnet man sed awk grep rg fd find jq yq tr cut sort uniq test [ [[ if while for
		case function true false cargo`}
	// requirementFlags are the options of pip that take a file.
	requirementFlags = lexicon{text: `-r --requirement -c --constraint`}
	goVerbs          = lexicon{text: `run test build vet install generate list doc fmt tool`}
	outputs          = lexicon{text: `-o --output --out -O --outfile --outdir --out-dir --output-dir --dest --target -m --message -t --tag -p --name`}
	lifecycle        = lexicon{text: `test start stop restart t`}
	// managing are subcommands of package managers that are not scripts.
	managing = lexicon{text: `add install i ci remove rm uninstall update upgrade up link unlink init create publish pack login logout whoami
		config cache list ls info view why outdated audit dlx exec x store import set plugin plugins workspaces version
		versions npm rebuild prune dedupe fund doctor help bin root prefix self-update require dump-autoload global
		create-project show search self selfupdate node policies patch fetch deploy env setup approve-builds pm repl c
		about archive browse bump check-platform-reqs clear-cache clearcache depends diagnose fund licenses prohibits
		reinstall status suggests validate build-binary catalog m pull`}
	english = lexicon{text: `sure it the a an this that your our their use them you any some of to certain changes no one with more
		and then is are will can if as at from sense`}
)
