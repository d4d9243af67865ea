#!/usr/bin/env bash
# answers.sh KEN OUT [REPO…]: saves what the commands of a ken print, as text and JSON, cold and warm, so that
# two kens can be compared with `diff -r OUT1 OUT2`. It asks three kinds of repositories:
#
#   REPO…     clones without summaries and specs, as most people have
#   own       ken's own clone at $OWN, with its specs
#   prepared  a repository with summaries, described directories, worktrees, drift, acks, a state directory of
#             devt and a shared ref; the ken under test makes it
#
# A command that a ken does not have leaves its error in the file. Everything happens in copies.
set -u
ken=$(readlink -f "$1")
out=$2
shift 2
mkdir -p "$out"
out=$(readlink -f "$out")
project=$(readlink -f "$(dirname "$0")/..")
OWN=${OWN:-67ef77c6}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home GIT_CONFIG_GLOBAL=/dev/null TZ=UTC LC_ALL=C KEN_AUTHOR=a
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_AUTHOR_DATE='2024-01-02T03:04:05Z' GIT_COMMITTER_DATE='2024-01-02T03:04:05Z'
mkdir -p "$HOME"

# Times, durations, random ids, sizes of caches and paths of this run are not answers.
plain() {
	sed -E -e "s#$work#WORK#g" \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.-]+(Z|[+-][0-9:]+)?/TIME/g' \
		-e 's/wf_[0-9a-f]{8,}/WORKFLOW/g' \
		-e 's/"(lease|token)": *"[^"]*"/"\1": "LEASE"/g' -e 's/\blease [0-9a-f]{8,}/lease LEASE/g' \
		-e 's/"(record|tip|theirs)": *"[0-9a-f]+"/"\1": "RECORD"/g' -e 's/ken1:[A-Za-z0-9_=-]+/RECEIPT/g' \
		-e 's/[0-9]+(\.[0-9]+)?(ms|s|µs)\b/DURATION/g' \
		-e 's/(just now|[0-9]+ (seconds?|minutes?|hours?|days?) ago)/AGO/g' \
		-e 's/"(took|at|now|written_at)": *"[^"]*"/"\1": "TIME"/g'
}

ask() { # NAME ARGS…
	local name=$1
	shift
	(
		cd "$tree" && timeout 300 "$ken" "$@" 2>&1
		echo "exit $?"
	) | plain >"$dir/$name"
}

both() { # NAME ARGS…: as text and as JSON
	local name=$1
	shift
	ask "$name.text" "$@"
	ask "$name.json" "$@" --json
}

hook() { # NAME EVENT JSON
	printf '%s' "$3" | ask "hook-$1" hook "$2"
}

# mcp NAME saves the answers to the calls on standard input: a tool and its arguments a line.
mcp() {
	local id=1 tool arguments
	{
		printf '%s%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",' \
			'"capabilities":{},"clientInfo":{"name":"answers","version":"1"}}}'
		printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/initialized"}'
		while read -r tool arguments; do
			printf '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' \
				"$id" "$tool" "$arguments"
			id=$((id + 1))
			sleep 0.3 # so that answers come in the order of the calls
		done
		sleep 2
	} | ask "mcp-$1" mcp
}

reading_commands() {
	both status status
	both verify verify --all
	both brief brief
	both docs docs
	both docs-all docs --all
	both survey-plan survey plan
	both survey-show survey show
	both spec-ls spec ls
	both spec-lint spec lint
	both summary-ls summary ls
	both share-status share status
	both doctor doctor
	both review review HEAD~5..HEAD
	local n=0 path words
	while IFS= read -r path; do
		n=$((n + 1))
		both "brief-$n" brief "$path"
		both "uses-$n" uses "$path" --all
	done < <(git -C "$tree" ls-files | awk 'NR%97==1' | head -n 12)
	n=0
	while IFS= read -r words; do
		n=$((n + 1))
		ask "find-$n.text" find -- "$words"
		ask "find-$n.json" find --json -- "$words"
	done < <(git -C "$tree" log --no-merges -n 40 --format=%s | awk 'NR%4==1')
}

own_clone() {
	git clone -q --shared "$project" "$tree"
	git -C "$tree" remote remove origin # it has other commits each time
	git -C "$tree" checkout -q -B main "$OWN"
}

# Specs and symbols are what ken's own clone has and others do not.
own_answers() {
	both spec-overlay spec overlay
	both survey-report survey report
	local id
	for id in registry spec git uses web; do
		both "spec-show-$id" spec show "$id"
		both "spec-drift-$id" spec drift "$id"
		both "spec-history-$id" spec history "$id"
	done
	both spec-owner spec owner internal/git/walk.go
	local symbol n=0
	for symbol in internal/repo/path.go#Path internal/git/git.go#Open internal/fault/fault.go#Error \
		internal/registry/registry.go#Registry internal/cli/cli.go internal/english/english.go#First; do
		n=$((n + 1))
		both "uses-symbol-$n" uses "$symbol" --all
		both "uses-tests-$n" uses "$symbol" --tests
	done
}

commit() { # SUBJECT
	git -C "$tree" add -A
	git -C "$tree" commit -q -m "$1"
}

spec_file() { # ID CODE
	mkdir -p "$tree/.spec/$1"
	printf -- '---\ntitle: %s\ndesc: what %s does\ncode: [%s]\n---\n# %s\n\nIt reads.\n' "$1" "$1" "$2" "$1" \
		>"$tree/.spec/$1/spec.md"
}

# Every name that the founding page of the state directory lists, and three that it does not.
state_names='workflow.yaml scratchpad.md plan.md spec.md scope.md decisions.md research.md scan-results.md
scan-delta.md lessons.yaml debug-context.md debug-investigation.md debug-summary.md arch-review.md
arch-health-scan.md docs-summary.md curation-summary.md session-report.md autoskill-proposals.md
baseline-gates.md claude-mem-harvest.md claude-mem-skipped.txt review-scope.md review.md graph-impact.md
topic-symbols-dropped.json continue-here.md impl-summary.md impl-summary.json test-summary.md test-summary.json
verification.md verification.json review.json handoff.json preflight-brief.json deferred.md
preflight-denies.jsonl dispatch-warnings.jsonl probe-failures.jsonl .graphify-rebuild.lock static-compress.jsonl
preflight-brief.md arch-baseline.json arch-triage.json arch-scan-report.md scanner-output.txt
review-pr367-slice-A.md impl-summary-cr3.json test-summary-integration.json verification-rerun.json slice-A.md
module-md-update-summary.md review-lane-api.md .foo.tmp bar.tmp baz~ reviews.md notes.txt plan2.md'

prepare() {
	mkdir -p "$tree"
	git -C "$project" archive "$OWN" README.md CONTRIBUTING.md go.mod internal/repo internal/fault internal/fresh \
		internal/english internal/order internal/suggest internal/cache internal/session internal/env internal/term \
		internal/config internal/review docs/manual | tar -x -C "$tree"
	git -C "$tree" init -q -b main
	mkdir "$tree/.ken"
	cat >"$tree/.ken/config.yaml" <<-'YAML'
		survey:
		  provider: command
		  command: [sh, answer.sh]
		  exclude: [.ken, .spec, docs, '*.sh']
		share:
		  trust: anyone
		state:
		  dir: .devt/state
	YAML
	# The model of this repository: its text depends on the directory alone.
	cat >"$tree/answer.sh" <<-'SH'
		sed -n 's/^Directory: \(.*\)$/{"summary": "Describes \1.", "completeness": "complete"}/p' | head -n 1
	SH
	printf '/.devt/\n' >"$tree/.gitignore"
	commit 'begin'
	spec_file fault internal/fault/
	spec_file fresh internal/fresh/
	spec_file term internal/term/
	spec_file cache 'internal/cache/, internal/session/'
	commit 'specs'
	local n
	for n in 1 2 3; do
		printf '\n// Edit%d is new.\nfunc Edit%d() {}\n' "$n" "$n" >>"$tree/internal/fault/fault.go"
		printf '\n// Edit%d is new.\nfunc Edit%d() {}\n' "$n" "$n" >>"$tree/internal/fresh/fresh.go"
		commit "edit $n"
	done
	(
		cd "$tree" || exit
		"$ken" verify
		git ls-files 'internal/*.go' 'docs/manual/*.md' | head -n 60 | while IFS= read -r file; do
			"$ken" summary set "$file" -m "Has ${file##*/}."
		done
		"$ken" survey run --provider command --jobs 1
		"$ken" spec ack fresh --reason 'the same meaning'
		git init -q --bare -b main "$work/remote.git"
		git remote add origin "$work/remote.git"
		git push -q origin main
		"$ken" share push
		git mv internal/order internal/sorted
		git rm -q internal/suggest/suggest.go
	) >/dev/null 2>&1
	printf '\nfunc changed() {}\n' >>"$tree/internal/term/term.go"
	printf '// changed\n' >>"$tree/internal/english/english.go"
	commit 'move, remove and change'
	git -C "$tree" worktree add -q -b other "$work/other"
	printf '\nMore.\n' >>"$work/other/.spec/term/spec.md"
	printf '\nOther.\n' >>"$tree/.spec/term/spec.md"
	printf '\n// not committed\n' >>"$tree/internal/env/timeout.go"
	local name
	mkdir -p "$tree/.devt/state/.archive" "$tree/.devt/state/threads"
	for name in $state_names; do
		case $name in
		*.json) printf '{"status": "DONE", "verdict": "APPROVED"}\n' ;;
		*.jsonl) printf '{"ts": "2024-01-02T03:04:05Z"}\n' ;;
		workflow.yaml) printf 'workflow_id: 97eec84f\nworkflow_type: dev\nphase: implement\nactive: true\n' ;;
		*) printf '## Status: DONE\n\ntext\n' ;;
		esac >"$tree/.devt/state/$name"
	done
	find "$tree/.devt" -exec touch -d '2024-01-02T03:04:05Z' {} +
}

prepared_answers() {
	both spec-overlay spec overlay
	both survey-report survey report
	both up up
	local id file
	for id in fault fresh term cache; do
		both "spec-show-$id" spec show "$id"
		both "spec-drift-$id" spec drift "$id"
	done
	both spec-gate spec gate --range HEAD~3..HEAD
	for file in internal/fault/fault.go internal/english/english.go internal/suggest/suggest.go internal/fresh; do
		both "brief-of-${file//\//-}" brief "$file"
		both "diff-${file//\//-}" summary diff "$file"
		both "summary-show-${file//\//-}" summary show "$file"
	done
	both uses-symbol uses internal/fault/fault.go#Error --all
	local verb
	for verb in audit check get contract 'archive ls' cleanup 'evict --dry-run' 'reset --dry-run' 'defer list'; do
		# shellcheck disable=SC2086 # a verb and its arguments
		both "state-${verb// /-}" state $verb
	done
	both state-slug state slug 'API Front end'
	both state-lint state lint README.md
	mcp reading <<-'CALLS'
		brief {}
		file_registry_verify {"all":true,"limit":10}
		brief {"paths":["internal/fault/fault.go"]}
		brief {"paths":["internal/fresh"]}
		find {"query":"stale verdict"}
		uses {"path":"internal/fault/fault.go"}
		docs {}
		review {}
		spec {"paths":["internal/term/term.go"]}
		spec {"id":"fault"}
		state {"action":"get","dir":".devt/state"}
	CALLS
	local session='"session_id":"s-1"' edit='{"file_path":"internal/fault/fault.go"}'
	hook session-start session-start "{$session,\"source\":\"startup\"}"
	hook before-edit pre-tool-use "{$session,\"tool_name\":\"Edit\",\"tool_input\":$edit}"
	hook after-edit post-tool-use "{$session,\"tool_name\":\"Edit\",\"tool_input\":$edit}"
}

# Commands that write come last, once: each is followed by what it left behind.
prepared_writes() {
	dir=$out/prepared/writes
	mkdir -p "$dir"
	ask summary-confirm summary confirm internal/english/english.go
	ask status status
	ask state-put state put research.md -m '## Status: DONE'
	ask state-update state update phase=review
	ask state-cleanup state cleanup --apply
	ask state-archive state archive show
	ask state-restore state restore
	ask state-init state init --type code_review task=next
	ask state-evict state evict
	ask state-defer state defer add 'later'
	ask state-reset state reset
	ask state-audit state audit --all
	ask spec-ack spec ack fault --reason 'still true'
	ask summary-close summary close
	ask share-push share push
	ask share-status share status
	ask status-after status
}

ask_all() { # NAME COMMAND…: cold and warm
	local name=$1 round command
	shift
	for round in cold warm; do
		dir=$out/$name/$round
		mkdir -p "$dir"
		for command in "$@"; do "$command"; done
	done
}

for repo in "$@"; do
	tree=$work/$(basename "${repo%/}")
	git clone -q --shared "$repo" "$tree" || continue
	ask_all "$(basename "$tree")" reading_commands
	rm -rf "$tree"
done

tree=$work/own
own_clone && ask_all own reading_commands own_answers

tree=$work/prepared
prepare && ask_all prepared reading_commands prepared_answers && prepared_writes
echo "saved in $out: $(find "$out" -type f | wc -l) answers"
