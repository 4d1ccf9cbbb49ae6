#!/bin/sh
# Makes sure that tests which need a Debian package can run: ciPackage.sh PACKAGE PROGRAM [MORE PACKAGES].
# Exit code 0: the program is here, so the caller should turn skipped tests into failed ones. 1: it is not, and why was printed.
set -u
package=$1
program=$2
shift 2

if [ -x "$program" ]; then
  echo "$package: already installed"
  exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
  echo "$package: not installed, and this is no Debian: the tests that need it will be skipped"
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "$package: not installed, and only root may install it: the tests that need it will be skipped"
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
limits='-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=1'
# shellcheck disable=SC2086 # three words on purpose
if apt-get $limits -qq update && apt-get $limits -qq -y --no-install-recommends install "$package" "$@" && [ -x "$program" ]
then
  echo "$package: installed"
  exit 0
fi
echo "$package: no mirror answered: the tests that need it will be skipped"
exit 1
