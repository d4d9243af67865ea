#!/bin/sh
# Installs ken from its release archives, without Go.
#
# Nothing is installed that the checksums do not name; sh install.sh --help says how.
set -eu

usage() {
	cat <<'END'
usage: sh install.sh --from URL-OR-DIRECTORY [--to DIRECTORY] [--share DIRECTORY | --no-share]

Takes the archive of ken for this machine, compares it with SHA256SUMS beside it, and
installs the program, its licences, its manual pages and its completions for bash, zsh
and fish.

  --from URL-OR-DIRECTORY  where the archives are
  --to DIRECTORY           where the program goes (~/.local/bin)
  --share DIRECTORY        where the rest goes: man/man1, bash-completion/completions,
                           zsh/site-functions, fish/vendor_completions.d and doc/ken
                           below it
                           (share beside a --to that is called bin, else none)
  --man DIRECTORY          where the manual pages go instead: man1 below it
  --no-share               the program alone
  --help                   this
END
}

from= to="${HOME:-}/.local/bin" man= share= alone=
fail() { printf 'install: %s\n' "$*" >&2; exit 1; }
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage; exit 0 ;;
	--no-share) alone=yes; shift; continue ;;
	--from | --to | --man | --share) ;;
	*) fail "unknown option $1; see: sh install.sh --help" ;;
	esac
	[ $# -gt 1 ] || fail "$1: what? see: sh install.sh --help"
	case $1 in
	--from) from=${2%/} ;;
	--to) to=$2 ;;
	--man) man=$2 ;;
	--share) share=$2 ;;
	esac
	shift 2
done
case $to in
*/) to=${to%/} ;;
esac
if [ -z "$share" ]; then
	case $to in
	*/bin) share=${to%/bin}/share ;;
	esac
fi
[ -z "$alone" ] || share=
[ -n "$man" ] || man=${share:+$share/man}
case $from in
https://*) ;;
*://*) fail "--from $from: want an address with https://, or a directory" ;;
esac
[ -n "$from" ] || fail "say where the archives are: --from URL-OR-DIRECTORY"

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no archive for $(uname -s) that this script can unpack" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no archive for $(uname -m)" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

fetch() { # NAME
	case $from in
	https://*)
		if command -v curl >/dev/null; then
			curl -fsSL --proto '=https' -o "$work/$1" "$from/$1"
		elif command -v wget >/dev/null; then
			wget -q --https-only -O "$work/$1" "$from/$1"
		else
			fail "neither curl nor wget is here"
		fi
		;;
	*) cp "$from/$1" "$work/$1" ;;
	esac || fail "cannot get $from/$1"
}

fetch SHA256SUMS
archive=$(sed -n "s/^[0-9a-f]\{64\}  \(ken_[^ /]*_${os}_${arch}\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
[ -n "$archive" ] || fail "SHA256SUMS names no archive for $os/$arch"
[ "$(printf '%s\n' "$archive" | wc -l)" -eq 1 ] || fail "SHA256SUMS names several archives for $os/$arch"
fetch "$archive"

grep -F "  $archive" "$work/SHA256SUMS" >"$work/sum"
if command -v sha256sum >/dev/null; then
	(cd "$work" && sha256sum -c sum >/dev/null 2>&1) || fail "$archive is not what SHA256SUMS says; nothing was installed"
elif command -v shasum >/dev/null; then
	(cd "$work" && shasum -a 256 -c sum >/dev/null 2>&1) || fail "$archive is not what SHA256SUMS says; nothing was installed"
else
	fail "neither sha256sum nor shasum is here, so nobody can tell whether $archive is genuine"
fi

tar -xzf "$work/$archive" -C "$work"
mkdir -p "$to"
# A program that runs is replaced by renaming, never written over.
cp "$work/${archive%.tar.gz}/ken" "$to/.ken.new.$$"
chmod 755 "$to/.ken.new.$$"
mv -f "$to/.ken.new.$$" "$to/ken"
have=$work/${archive%.tar.gz}
place() { # FILE DIRECTORY NAME
	mkdir -p "$2" && cp "$1" "$2/$3" && chmod 644 "$2/$3"
}
if [ -n "$man" ]; then
	for page in "$have"/man/*.1; do
		place "$page" "$man/man1" "${page##*/}"
	done
fi
if [ -n "$share" ]; then
	place "$have/completions/ken.bash" "$share/bash-completion/completions" ken
	place "$have/completions/_ken" "$share/zsh/site-functions" _ken
	place "$have/completions/ken.fish" "$share/fish/vendor_completions.d" ken.fish
	for name in LICENSE THIRD-PARTY.txt; do
		place "$have/$name" "$share/doc/ken" "$name"
	done
fi
"$to/ken" version
case :$PATH: in
*:"$to":*) ;;
*) printf 'hint: %s is not on your PATH; add it with: export PATH="%s:$PATH"\n' "$to" "$to" >&2 ;;
esac
