#!/bin/sh
# Reviews a pull request with ken in a job of GitHub Actions, and checks all documents if asked. action.yml
# runs it; the manual page docs/manual/ci.md describes it.
#
#   KEN_VERSION, KEN_URL, KEN_SHA256   the archive of ken to install
#   KEN_DOCS                           true: also check all documents; in other events than a pull request, only them
#   GITHUB_TOKEN                       writes the comment and uploads SARIF
#   GITHUB_…, RUNNER_TEMP              as the runner sets them
#
# It exits with 0 or 3, as ken review --check and ken docs --check do, and with another status if it failed.
set -eu

marker='<!-- ken review -->'
settled='**ken review**: everything is settled.'

say() { printf 'ken review: %s\n' "$*"; }
warn() { printf '::warning title=ken review::%s\n' "$*"; }
fail() {
	printf '::error title=ken review::%s\n' "$*"
	exit 1
}

# Other programs do not see the token.
token=${GITHUB_TOKEN:-}
unset GITHUB_TOKEN
export GIT_TERMINAL_PROMPT=0

for tool in git curl jq tar gzip base64; do
	command -v "$tool" >/dev/null || fail "$tool is not installed on this runner"
done
case ${GITHUB_EVENT_NAME:-} in
pull_request)
	number=$(jq -r '.pull_request.number' "$GITHUB_EVENT_PATH")
	base_commit=$(jq -r '.pull_request.base.sha' "$GITHUB_EVENT_PATH")
	case $number in
	'' | *[!0-9]*) fail "the event does not name the number of a pull request" ;;
	esac
	;;
pull_request_target) fail "pull_request_target gives the content of a fork the rights of this repository: use pull_request" ;;
*)
	[ "${KEN_DOCS:-}" = true ] ||
		fail "there is no pull request in this event: use pull_request, or set the input docs to true to check documents"
	number=
	;;
esac

work=$(mktemp -d "${RUNNER_TEMP:-/tmp}/ken-review.XXXXXX")
head=$(git rev-parse HEAD)
api=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY

# install_ken puts the program into $work/bin. It unpacks nothing before the checksum is right.
install_ken() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "ken review needs a runner with Linux or macOS" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no archive of ken for $(uname -m)" ;;
	esac
	for input in "version=${KEN_VERSION:-}" "url=${KEN_URL:-}" "sha256=${KEN_SHA256:-}"; do
		[ -n "${input#*=}" ] || fail "the input ${input%%=*} is missing"
	done
	name=ken_${KEN_VERSION#v}_${os}_$arch
	curl -fsSL --retry 3 --max-time 300 -o "$work/ken.tar.gz" --url "${KEN_URL%/}/$name.tar.gz" ||
		fail "cannot download $name.tar.gz from the input url"
	sum=$(sha256sum "$work/ken.tar.gz" 2>/dev/null || shasum -a 256 "$work/ken.tar.gz")
	[ "${sum%% *}" = "$KEN_SHA256" ] ||
		fail "wrong checksum: $name.tar.gz has the SHA-256 ${sum%% *}, not the one in the input sha256; the action did not unpack it"
	mkdir "$work/bin"
	tar -xzf "$work/ken.tar.gz" -C "$work/bin" --strip-components=1 "$name/ken" || fail "$name.tar.gz does not contain ken"
	PATH=$work/bin:$PATH
}

# fetch_base fetches the base branch, or its commit if the branch is gone, and in a shallow clone as
# much history as the merge base needs. It sets base.
fetch_base() {
	base=origin/$GITHUB_BASE_REF
	fetch "+refs/heads/$GITHUB_BASE_REF:refs/remotes/origin/$GITHUB_BASE_REF" || {
		base=$base_commit
		fetch "$base_commit"
	} || fail "cannot fetch the base branch; git's message is above"
	base_commit=$(git rev-parse "$base^{commit}")
	depth=64
	while is_shallow && ! git merge-base "$base_commit" "$head" >/dev/null; do
		[ "$depth" -le 16384 ] || break # ken review says that the merge base is missing
		# Given a branch and a commit, git deepens only the commit.
		git fetch --quiet --no-tags --depth="$depth" origin "$base_commit" "$head" || fail "cannot fetch more history; git's message is above"
		depth=$((depth * 4))
	done
	# The drift of a spec is counted from the commit that changed it last.
	if is_shallow && git cat-file -e "$head:.spec" 2>/dev/null; then
		git fetch --quiet --no-tags --unshallow origin "$base_commit" "$head" || warn "cannot fetch the history that specs need"
	fi
}

is_shallow() { [ "$(git rev-parse --is-shallow-repository)" = true ]; }

fetch() {
	shallow=
	! is_shallow || shallow=yes
	git fetch --quiet --no-tags ${shallow:+--depth=1} origin "$1"
}

# api METHOD ADDRESS [FILE] sends the JSON in FILE. It sets status to that of the answer, 000 if there
# is none, and writes the answer to $work/answer.
api() {
	method=$1 address=$2
	shift 2
	[ $# = 0 ] || set -- -H 'Content-Type: application/json' --data-binary "@$1"
	status=$(printf 'header = "Authorization: Bearer %s"\n' "$token" |
		curl -sS -K - -X "$method" --max-time 60 -o "$work/answer" -w '%{http_code}' \
			-H 'Accept: application/vnd.github+json' -H 'X-GitHub-Api-Version: 2022-11-28' "$@" --url "$address") || status=000
}

# refused reports an answer other than success. The token of a fork may only read, so that is no fault.
refused() {
	case $status in
	403 | 404) say "the token may not $1 (HTTP $status); the job summary has the result" ;;
	*) warn "cannot $1 (HTTP $status); the job summary has the result" ;;
	esac
}

# find_comment sets comment to the id of the comment that this token's user wrote before, or to "".
find_comment() {
	comment=
	echo '{"query": "{viewer{login}}"}' >"$work/query.json"
	api POST "$GITHUB_GRAPHQL_URL" "$work/query.json"
	[ "$status" = 200 ] && me=$(jq -er '.data.viewer.login' "$work/answer") || return 1
	page=1
	while :; do
		api GET "$api/issues/$number/comments?per_page=100&page=$page"
		[ "$status" = 200 ] || return 1
		comment=$(jq -r --arg me "$me" --arg marker "$marker" \
			'[.[] | select(.user.login == $me and ((.body // "") | startswith($marker)))][0].id // empty' "$work/answer") || return 1
		if [ -n "$comment" ] || [ "$(jq length "$work/answer")" -lt 100 ]; then
			return 0
		fi
		page=$((page + 1))
	done
}

# write_comment keeps one comment up to date. It creates the comment only if the review has a line.
write_comment() {
	if ! find_comment; then
		refused "find its comment"
		return 0
	fi
	if [ -s "$work/review.md" ]; then
		{ printf '%s\n' "$marker" && cat "$work/review.md"; } >"$work/comment.md"
	elif [ -n "$comment" ]; then
		printf '%s\n%s\n' "$marker" "$settled" >"$work/comment.md"
	else
		return 0
	fi
	jq -Rs '{body: .}' "$work/comment.md" >"$work/comment.json"
	if [ -n "$comment" ]; then
		api PATCH "$api/issues/comments/$comment" "$work/comment.json"
	else
		api POST "$api/issues/$number/comments" "$work/comment.json"
	fi
	case $status in
	200 | 201) ;;
	*) refused "comment" ;;
	esac
}

# upload_sarif FILE sends results to code scanning, also when there are none: that closes older alerts.
upload_sarif() {
	ref=${GITHUB_REF:-}
	[ -z "$number" ] || [ "$head" = "${GITHUB_SHA:-}" ] || ref=refs/pull/$number/head
	gzip -c "$1" | base64 | tr -d '\n' |
		jq -R --arg commit "$head" --arg ref "$ref" '{commit_sha: $commit, ref: $ref, tool_name: "ken", sarif: .}' >"$work/sarif.json"
	api POST "$api/code-scanning/sarifs" "$work/sarif.json"
	[ "$status" = 202 ] || refused "upload SARIF"
}

# guarded runs a command. The runner must not read names in its messages as commands to it.
stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
guarded() {
	printf '::stop-commands::%s\n' "$stop" >&2
	outcome=0
	"$@" || outcome=$?
	printf '::%s::\n' "$stop" >&2
	return "$outcome"
}

# review_change reviews the pull request, and sets verdict to 3 if it fails the check.
review_change() {
	fetch_base
	guarded ken share pull origin >&2 || warn "ken share pull failed: stale summaries of other clones are not listed"
	guarded ken review "$base..$head" --markdown --check >"$work/review.md" || verdict=$?
	[ $verdict = 0 ] || [ $verdict = 3 ] || fail "ken review failed with status $verdict; its message is above"
	guarded ken review "$base..$head" --all --sarif >"$work/review.sarif" || fail "ken review --sarif failed; its message is above"
	printf 'markdown=%s\nsarif=%s\n' "$work/review.md" "$work/review.sarif" >>"${GITHUB_OUTPUT:-/dev/null}"

	if [ -s "$work/review.md" ]; then
		cat "$work/review.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
		guarded cat "$work/review.md" >&2
	else
		echo '**ken review**: nothing to do.' | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
	fi
	write_comment
	upload_sarif "$work/review.sarif"
}

# check_documents checks all documents, and sets verdict to 3 if one fails. When a document became stale is in the
# history: it needs all of it.
check_documents() {
	if is_shallow; then
		git fetch --quiet --no-tags --unshallow origin "$head" || warn "cannot fetch the history that ken docs needs"
	fi
	checked=0
	ken docs --check >"$work/docs.txt" 2>"$work/docs.err" || checked=$?
	guarded cat "$work/docs.txt" "$work/docs.err" >&2
	[ $checked = 0 ] || [ $checked = 3 ] || fail "ken docs failed with status $checked; its message is above"
	[ $checked = 0 ] || verdict=3
	# Indented text is code: names in it are neither links nor mentions.
	{ printf '\n**ken docs**:\n\n' && cat "$work/docs.txt" "$work/docs.err" | sed 's/^/    /'; } >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
	ken docs --sarif >"$work/docs.sarif" 2>/dev/null || fail "ken docs --sarif failed"
	printf 'docs-sarif=%s\n' "$work/docs.sarif" >>"${GITHUB_OUTPUT:-/dev/null}"
	upload_sarif "$work/docs.sarif"
}

verdict=0
install_ken
[ -z "$number" ] || review_change
[ "${KEN_DOCS:-}" != true ] || check_documents
exit "$verdict"
