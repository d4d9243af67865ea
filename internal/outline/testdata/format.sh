#!/usr/bin/env bash
# Builds and ships a release.

set -eu -o pipefail
shopt -s extglob

ROOT=$(cd "$(dirname "$0")" && pwd)
export TARGET=${1:-all} MODE
readonly LIMIT=$((60 * 2)) # seconds
list=(one 'two  three' "$ROOT"/four)
empty=

usage() { # how to call it
	cat <<EOF >&2
usage: $0 [-n] TARGET

  # not a comment
EOF
	cat <<-'END' | sed 's/ a / b /'
	  indented
	END
}

check() {
	local name=$1 size=${2:-  none}
	if [ -n "$name" ] && [[ $size == *[0-9]* || $name =~ ^a\ +b$ ]]; then
		echo "ok:  $name" # said
	elif ! test -f "$name"; then
		return 1
	else
		LC_ALL=C sort -u <"$name" | grep -v '^#' >> out.txt 2>&1
	fi
	case $name in
	a | b) echo one ;;
	*.txt) echo two;;
	esac
}

for item in "${list[@]}" $empty; do
	check "$item" \
		"${item%%  *}" || continue
done
while read -r a b; do n=$((n + a)); ((n > 10)) && break; done < <(printf '%s\n' 1 2)
until false; do sleep 1 & wait $!; done
trap 'rm -f "$tmp"  ' EXIT; { date; } | (cat; echo end)
a[1]=x; a=$'t\t' b=`date +%s`; echo $# ${#a} a#b {1..3} >/dev/null
