#!/bin/sh
# Installs ken from its release archives, for whoever has no Go.
#
#   sh install.sh --from URL-OR-DIRECTORY [--to DIRECTORY] [--man DIRECTORY]
#
# Takes the archive for this machine, compares it with SHA256SUMS beside it, and puts
# the program into DIRECTORY, ~/.local/bin unless told otherwise. Nothing is installed
# that the checksums do not name.
set -eu

from= to="${HOME:-}/.local/bin" man=
fail() { printf 'install: %s\n' "$*" >&2; exit 1; }
while [ $# -gt 0 ]; do
	[ $# -gt 1 ] || fail "$1: what?"
	case $1 in
	--from) from=${2%/} ;;
	--to) to=$2 ;;
	--man) man=$2 ;;
	*) fail "unknown option $1; see the head of this file" ;;
	esac
	shift 2
done
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
	*://*)
		if command -v curl >/dev/null; then
			curl -fsSL -o "$work/$1" "$from/$1"
		elif command -v wget >/dev/null; then
			wget -q -O "$work/$1" "$from/$1"
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
if [ -n "$man" ]; then
	mkdir -p "$man/man1"
	cp "$work/${archive%.tar.gz}"/man/*.1 "$man/man1/"
fi
"$to/ken" version
case :$PATH: in
*:"$to":*) ;;
*) printf 'hint: %s is not on your PATH; add it with: export PATH="%s:$PATH"\n' "$to" "$to" >&2 ;;
esac
