#!/usr/bin/env bash
# Deploys the thing.
# Usage: deploy.sh HOST

set -euo pipefail
source "$(dirname "$0")/lib.sh"
. ./env

export TARGET=/srv
readonly RETRIES=3
VERSION="1 # not a comment"
lower=1

# Says it loudly.
say() {
  local x="$1"
  echo "${x^^}" # shout
  cat <<EOF
  # text in a heredoc
EOF
}

function _private {
  :
}

if [[ -n "$1" ]]; then
  main() { say hi | tail -1; }
fi
main "$@"
