package mention

import (
	"path"
	"strings"

	"ken/internal/shell"
)

// commandNames returns the names in a code span that is clearly a shell command.
func commandNames(t string) []nameInText {
	text := strings.ReplaceAll(t, "\n", " ")
	if strings.HasPrefix(text, "$ ") {
		text = "  " + text[2:]
	}
	r := shellReader{doubt: true}
	r.read(shell.Read(text))
	return r.found
}

// shellNames returns the names in a code block of shell commands. If sure is false, it reads only lines that begin
// with a well-known command.
func shellNames(text string, sure bool) []nameInText {
	commands := prompted(text)
	isSession := commands != text
	r := shellReader{doubt: !sure && !isSession}
	r.read(shell.Read(commands))
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

// A shellReader finds names in commands and tracks their working directory.
type shellReader struct {
	doubt bool // some lines may not be commands

	place
	head   int  // where the command begins
	cloned bool // the command before the last one was git clone
	found  []nameInText
}

// A place is the working directory of a shell.
type place struct {
	in   string
	lost bool // the directory is unknown
}

// read reads commands. A change of directory in a subshell ends with it.
func (r *shellReader) read(list []shell.Command) {
	for _, c := range list {
		if c.Subshell == nil {
			r.command(c.Words)
			continue
		}
		outside := r.place
		r.read(c.Subshell)
		r.place = outside
	}
}

// variable adds the environment variable that a word sets.
func (r *shellReader) variable(w shell.Word) {
	name, _, ok := strings.Cut(w.Value, "=")
	if ok && strings.ToUpper(name) == name && IsSpelledLikeCode(name) {
		end := w.Start + len(name)
		r.found = append(r.found, nameInText{kind: Symbol, name: name, casual: true, start: w.Start, end: end, text: Span{w.Start, end}})
	}
}

// command reads a command and its words.
func (r *shellReader) command(line []shell.Word) {
	for len(line) > 0 && (assignment(line[0].Value) || prefixes.has(line[0].Value)) {
		r.variable(line[0])
		line = line[1:]
	}
	if len(line) == 0 {
		return
	}
	cloned := r.cloned
	r.cloned = false
	head, args := line[0], line[1:]
	r.head = head.Start
	name := path.Base(head.Value)
	local := strings.Contains(head.Value, "/")
	if r.doubt && !local && !heads.has(head.Value) {
		return
	}
	if local {
		r.path(head, !r.doubt || strings.HasPrefix(head.Value, "./"))
		if r.doubt && !strings.HasPrefix(head.Value, "./") && !isExtension(path.Ext(head.Value)) {
			return
		}
		r.paths(args, false)
		return
	}
	switch name {
	case "cd", "pushd":
		r.changeDir(args, cloned)
	case "git":
		r.cloned = len(args) > 0 && args[0].Value == "clone"
	case "mkdir":
		r.cloned = true // a cd into the clone leads out of this repository
	case "make", "gmake":
		r.make(args)
	case "just", "task", "rake", "mage":
		r.targets(name, args)
	case "npm", "pnpm", "yarn", "bun", "composer":
		r.script(name, args)
	case "go":
		if len(args) > 0 && goVerbs.has(args[0].Value) {
			r.paths(args[1:], true)
		}
	case "pip", "pip3":
		for i := 1; i < len(args); i++ {
			if requirementFlags.has(args[i-1].Value) {
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

func (r *shellReader) changeDir(args []shell.Word, cloned bool) {
	if len(args) != 1 {
		r.lost = true
		return
	}
	w := args[0]
	dir := strings.TrimSuffix(w.Value, "/")
	switch {
	case cloned:
		r.place = place{}
	case dir == "-" || strings.ContainsAny(dir, "$~<>{}*`") || strings.HasPrefix(dir, "/") || dir == "" || strings.Contains(dir, "..."):
		r.lost = true
	default:
		if strings.Contains(w.Value, "/") && !strings.Contains(dir, "..") {
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
func (r *shellReader) path(w shell.Word, expected bool) {
	if r.lost || strings.HasPrefix(w.Value, "-") || strings.Contains(w.Value, "=") {
		return
	}
	asWritten := len(w.Value) == w.End-w.Start
	if !asWritten || len(w.Value) > maxName {
		return
	}
	n, ok := pathOf(w.Value)
	if !ok || n.glob && !strings.Contains(n.name, "/") || strings.HasPrefix(n.name, "/") {
		return
	}
	explicit := strings.HasPrefix(w.Value, "./") || strings.HasPrefix(w.Value, "../")
	if !explicit && !expected && (!strings.Contains(n.name, "/") || !isExtension(path.Ext(n.name))) {
		return
	}
	n.in = r.in
	if n.end > n.start {
		n = n.shift(w.Start)
	}
	n.text = Span{w.Start, w.End}
	r.found = append(r.found, n)
}

func (r *shellReader) paths(args []shell.Word, expected bool) {
	skip := false
	for _, w := range args {
		if !skip && !strings.HasPrefix(w.Value, "-") {
			r.path(w, expected)
		}
		skip = outputs.has(w.Value)
	}
}

// addCommand adds the command that a tool runs.
func (r *shellReader) addCommand(tool string, w shell.Word, in string) {
	if r.lost || !target(w.Value) {
		return
	}
	if in == "" {
		in = r.in
	} else if r.in != "" {
		in = path.Join(r.in, in)
	}
	n := nameInText{kind: Command, name: w.Value, tool: tool, in: in, start: w.Start, end: w.End, text: Span{r.head, w.End}}
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

func (r *shellReader) make(args []shell.Word) {
	in := ""
	var asked []shell.Word
	for i := 0; i < len(args); i++ {
		switch v := args[i].Value; {
		case v == "-C" && i+1 < len(args):
			i++
			in = strings.TrimSuffix(args[i].Value, "/")
			r.path(args[i], true)
		case v == "-f" && i+1 < len(args):
			i++
			r.path(args[i], true)
			return // of another makefile
		case v == "-j" && i+1 < len(args) && strings.Trim(args[i+1].Value, "0123456789") == "":
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
		if words.has(w.Value) || english.has(w.Value) {
			return // prose: make sure
		}
		r.addCommand("make", w, in)
	}
}

// targets adds the commands of a tool whose arguments are targets.
func (r *shellReader) targets(tool string, args []shell.Word) {
	for _, w := range args {
		if strings.HasPrefix(w.Value, "-") {
			return // the next word may be the argument of this option
		}
		if strings.Contains(w.Value, "=") {
			continue
		}
		if english.has(w.Value) || words.has(w.Value) {
			return
		}
		if i := strings.IndexByte(w.Value, '['); i > 0 && tool == "rake" {
			w.Value, w.End = w.Value[:i], w.Start+i
		}
		r.addCommand(tool, w, "")
		return
	}
}

// script adds the script that a package manager runs.
func (r *shellReader) script(tool string, args []shell.Word) {
	in, run := "", false
	for i := 0; i < len(args); i++ {
		v := args[i].Value
		switch {
		case (v == "--prefix" || v == "--cwd" || v == "--dir" || tool == "pnpm" && v == "-C") && i+1 < len(args):
			i++
			in = strings.TrimSuffix(args[i].Value, "/")
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
func workspaceOf(args []shell.Word) bool {
	for _, w := range args {
		switch v := w.Value; {
		case v == "--":
			return false
		case v == "-w" || v == "-F" || strings.HasPrefix(v, "--workspace") || strings.HasPrefix(v, "--filter") || strings.HasPrefix(v, "--prefix"):
			return true
		}
	}
	return false
}

var (
	prefixes = lexicon{text: `sudo time exec env command nohup xargs npx bunx watch poetry uv pipenv bundle run`}
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
