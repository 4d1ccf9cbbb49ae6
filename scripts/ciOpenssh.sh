#!/bin/sh
# Makes sure that the tests against a real OpenSSH can run. Exit code 0: sshd is here, so the caller should export
# TOUCHSTONE_REQUIRE_OPENSSH=1, which turns a skipped test into a failed one. Exit code 1: it is not, and why was printed.
set -u

if [ -x /usr/sbin/sshd ]; then
  echo 'openssh: already installed'
  exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
  echo 'openssh: not installed, and this is no Debian: the tests that need it will be skipped'
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  echo 'openssh: not installed, and only root may install it: the tests that need it will be skipped'
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
limits='-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=1'
# shellcheck disable=SC2086 # three words on purpose
if apt-get $limits -qq update && apt-get $limits -qq -y --no-install-recommends install openssh-server openssh-client \
  && [ -x /usr/sbin/sshd ]; then
  echo 'openssh: installed'
  exit 0
fi
echo 'openssh: no mirror answered: the tests that need it will be skipped'
exit 1
